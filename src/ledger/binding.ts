import { PortolanError } from '../model/errors.ts';
import { canonicalJson, type JsonObject } from '../model/json.ts';
import type { EpochMs } from '../model/time.ts';
import type { Ledger, LedgerOperation } from './ledger.ts';

/**
 * The platform that a ledger was written for. Records are worth nothing before another platform: rules would look
 * deleted, and installs missing. So a ledger remembers, for each name of a Platform, its URL and the ids of its regions.
 */
export interface Binding {
  /** In the spelling of `canonicalUrl`. */
  readonly url: string;
  /** Ids by the names of regions. A region whose id could not be read is not in it. */
  readonly regions: ReadonlyMap<string, string>;
}

const bindingsFact = 'ledger/platforms';

/** The bindings of a ledger, by the name of the Platform. */
export async function readBindings(ledger: Pick<Ledger, 'fact'>): Promise<ReadonlyMap<string, Binding>> {
  return bindingsIn(await ledger.fact(bindingsFact));
}

function bindingsIn(text: string | undefined): ReadonlyMap<string, Binding> {
  if (text === undefined) return new Map();
  const stored = JSON.parse(text) as Readonly<
    Record<string, { url: string; regions: Readonly<Record<string, string>> }>
  >;
  return new Map(
    Object.entries(stored).map(([name, { url, regions }]) => [
      name,
      { url, regions: new Map(Object.entries(regions)) },
    ]),
  );
}

/** A binding as it is shown. */
export interface BoundPlatform {
  readonly name: string;
  readonly url: string;
  /** Those whose id is known. */
  readonly regions: readonly { readonly name: string; readonly id: string }[];
}

/** The bindings of a ledger as they are shown, by name. */
export async function boundPlatforms(ledger: Pick<Ledger, 'fact'>): Promise<readonly BoundPlatform[]> {
  return [...(await readBindings(ledger))].map(([name, { url, regions }]) => ({
    name,
    url,
    regions: [...regions].map(([region, id]) => ({ name: region, id })),
  }));
}

/** @param was the text that the bindings were read from. */
function setBindings(bindings: ReadonlyMap<string, Binding>, was: string | undefined): LedgerOperation {
  const stored = Object.fromEntries(
    [...bindings].map(([name, { url, regions }]) => [name, { url, regions: Object.fromEntries(regions) }]),
  );
  return { op: 'set-fact', key: bindingsFact, value: canonicalJson(stored), was: was ?? null };
}

/** Who changes a binding, and when. */
export interface BindingChange {
  readonly platform: string;
  readonly actor: string;
  readonly atMs: EpochMs;
  /** The new binding and the line of history about it; undefined: it stays as it is. */
  next(
    known: Binding | undefined,
  ): { readonly binding: Binding; readonly event: string; readonly detail: JsonObject } | undefined;
}

/** Attempts to change the bindings while others change them. */
const ATTEMPTS = 50;

/** Changes the binding of one platform, with a line of history. Processes that lead other platforms may change theirs meanwhile. */
export async function changeBinding(ledger: Ledger, change: BindingChange): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const text = await ledger.fact(bindingsFact);
    try {
      await commitBinding(ledger, change, text);
      return;
    } catch (error) {
      const isChanged = error instanceof PortolanError && error.code === 'ledger/conflict';
      if (!isChanged || attempt === ATTEMPTS) throw error;
    }
  }
}

async function commitBinding(
  ledger: Ledger,
  { platform, actor, atMs, next }: BindingChange,
  text: string | undefined,
): Promise<void> {
  const bindings = bindingsIn(text);
  const changed = next(bindings.get(platform));
  if (changed === undefined) return;
  await ledger.commit({
    scope: `platform:${platform}`,
    actor,
    atMs,
    operations: [
      setBindings(new Map(bindings).set(platform, changed.binding), text),
      { op: 'record', event: changed.event, detail: { platform, ...changed.detail } },
    ],
  });
}

const UNTOUCHED = 'Nothing was sent, and no record was changed.';

function wayOut(platform: string, wrong: string): string {
  return (
    `${wrong}, correct spec.url of Platform/${platform}. If the platform was moved or set up again on purpose, run ` +
    `\`portolan ledger rebind ${platform} --reason "…"\`; for a running controller, add --server URL. ` +
    'For a different platform, use a different ledger (--ledger FILE).'
  );
}

/** The URL of a platform is not the one that the ledger was written for. */
export function otherUrl(location: string, platform: string, bound: string, now: string): PortolanError {
  return new PortolanError({
    code: 'ledger/other-platform',
    disposition: 'ask-human',
    message: `Platform/${platform} has the URL ${now}, but the ledger ${location} belongs to ${bound}. ${UNTOUCHED}`,
    remedy: wayOut(platform, 'If the URL is wrong'),
  });
}

/** A region of the same name has another id than the one that the ledger was written for. */
export function otherRegion(
  location: string,
  platform: string,
  region: { readonly name: string; readonly bound: string; readonly now: string },
): PortolanError {
  return new PortolanError({
    code: 'ledger/other-platform',
    disposition: 'ask-human',
    message:
      `Region ${region.name} of Platform/${platform} has the id ${region.now}, but the ledger ${location} belongs to a ` +
      `region ${region.name} with the id ${region.bound}. ${UNTOUCHED}`,
    remedy: wayOut(platform, 'If the URL leads to the wrong platform'),
  });
}
