import { operatorNames } from '../../manifest/configuration.ts';
import { recheckResources } from '../../manifest/recheck.ts';
import { PortolanError } from '../../model/errors.ts';
import { openPlan, type SavedPlan } from '../../plan/saved.ts';
import type { Surroundings } from '../command.ts';
import { readConfiguration } from '../configuration.ts';
import { readNamedFile } from '../files.ts';
import type { Input } from '../input.ts';
import type { CommitAtHand } from '../revision.ts';
import type { Session, SessionOptions } from '../session.ts';
import { existingLedgerPath } from '../ledger/opening.ts';
import { isSavedPlan } from './shape.ts';

/** A plan in a file, read and checked, and what a session needs in place of manifests. */
export interface OpenedPlan {
  readonly file: string;
  readonly saved: SavedPlan;
  readonly input: Input;
}

/** Plans of thousands of applications; a wrong path must not fill the memory. */
const SAVED_BYTES_MAX = 256 * 1024 * 1024;

/** @throws PortolanError `invalid` when it cannot be read or is no saved plan. Faults in its wishes are in `input`. */
export function openSavedPlan(
  file: string,
  options: Pick<SessionOptions, 'config' | 'ledger'>,
  surroundings: Pick<Surroundings, 'overrides'>,
): OpenedPlan {
  const text = new TextDecoder().decode(readNamedFile(file, 'the saved plan', SAVED_BYTES_MAX));
  const saved = openPlan(text, file, isSavedPlan);
  // An empty one would be made in its place.
  if (saved.ledger !== null && options.ledger !== 'none') existingLedgerPath(options);
  const operator = readConfiguration(options.config, surroundings);
  const isUsable = operator.file !== undefined && operator.problems.length === 0;
  const names = isUsable ? operatorNames(operator.configuration) : undefined;
  const { desired, problems } = recheckResources(saved.desired, file, names);
  const commit = saved.commit === null ? undefined : commitOf(saved.commit, saved.basis);
  return {
    file,
    saved,
    input: { ...operator, desired, commit, files: 0, problems: [...operator.problems, ...problems] },
  };
}

/** Git was asked when the plan was made, and is not needed any more. */
function commitOf({ id, name }: NonNullable<SavedPlan['commit']>, basis: SavedPlan['basis']): CommitAtHand {
  return {
    id,
    name,
    descentFrom: async (ancestor) => {
      if (ancestor === id) return 'descends';
      return ancestor === basis?.commit ? (basis.descent ?? 'unknown') : 'unknown';
    },
  };
}

/** What decides about a plan, as the file has it; how it is carried out stays with the command line. */
export function flagsOf<Flags extends SessionOptions>(saved: SavedPlan, flags: Flags): Flags {
  const { prune, adopt, targets, maxShare, maxPrunes, allowEmpty, allowShrunk, allowRewind } = saved.allowed;
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
