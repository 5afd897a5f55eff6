import { PortolanError } from '../../../model/errors.ts';
import type { SavedPlan } from '../../../plan/saved.ts';
import type { Session, SessionOptions } from '../../session/session.ts';
import type { OpenedPlan } from './open.ts';

/** What decides about a plan, as the file has it; how it is carried out stays with the command line. */
export function flagsOf<Flags extends SessionOptions>(saved: SavedPlan, flags: Flags): Flags {
  const { prune, adopt, targets, maxShare, maxPrunes, allowEmpty, allowShrunk, allowRewind, firstInstall } =
    saved.allowed;
  return {
    ...flags,
    source: saved.plan.source,
    prune,
    adopt: adopt === 'all' ? true : adopt.length === 0 ? undefined : adopt,
    target: targets ?? undefined,
    maxShare: maxShare ?? undefined,
    maxPrunes: maxPrunes ?? undefined,
    allowEmpty,
    allowShrunk,
    allowRewind,
    firstInstall,
  };
}

/**
 * Whether ledger, platforms and stores are those that the plan was made with.
 * @throws PortolanError `invalid`; nothing has been asked of the platform then.
 */
export function checkCircumstances({ file, saved }: OpenedPlan, { ledger, input }: Session): void {
  const { lineage } = saved.ledger ?? ledger;
  if (lineage !== ledger.lineage) {
    throw other(
      'plan/other-ledger',
      `${file} was planned with another ledger (${lineage}) than the one at ${ledger.location} (${ledger.lineage})`,
      'Name the ledger it was planned with after --ledger, or plan again with this one.',
    );
  }
  for (const { name, url } of saved.platforms) {
    const now = input.configuration.platforms.get(name)?.url;
    if (now !== url) throw elsewhere(file, `Platform/${name}`, url, now);
  }
  for (const { name, ...store } of saved.stores) {
    const now = input.configuration.stores.get(name);
    const isSame = now?.url === store.url && now.domain === store.domain && now.type === store.type;
    if (!isSame) throw elsewhere(file, `Store/${name}`, placeOf(store), now && placeOf(now));
  }
}

function placeOf({
  url,
  domain,
  type,
}: {
  readonly url: string;
  readonly domain: string;
  readonly type: string;
}): string {
  return `${url} (domain ${domain}, type ${type})`;
}

function elsewhere(file: string, name: string, then: string, now: string | undefined): PortolanError {
  return other(
    'plan/other-platform',
    `${file} was planned with ${name} at ${then}, and the configuration has ${now === undefined ? 'none of that name' : `it at ${now}`}`,
    'Use the configuration it was planned with (--config), or plan again with this one.',
  );
}

function other(code: string, message: string, remedy: string): PortolanError {
  return new PortolanError({ code, disposition: 'invalid', message: `${message}. Nothing was sent.`, remedy });
}
