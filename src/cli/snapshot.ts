import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '../model/json.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Snapshot } from '../model/owned.ts';
import type { DesiredState } from '../model/resource.ts';
import { mayPrune, type Succession } from '../plan/guard.ts';
import type { PassOptions } from '../reconcile/reconcile.ts';
import type { Surroundings } from './command.ts';
import type { Input } from './input.ts';

/** Stands where a snapshot of plain files has no commit. */
const NO_COMMIT = '-';

/** A source whose manifests were checked and planned. */
interface AcceptedSource {
  readonly ledger: Ledger;
  readonly source: string;
  readonly input: Input;
  readonly options: Pick<PassOptions, 'permissions'>;
  readonly allowRewind: boolean;
}

/** Names what the manifests say, whatever their files are called. */
export function snapshotId(desired: DesiredState): string {
  const content = [...desired.values()].map(
    ({ id, labels, annotations, spec }): Json => ({ id, labels, annotations, spec: spec as Json }),
  );
  return createHash('sha256').update(canonicalJson(content)).digest('hex').slice(0, 32);
}

/** How the commit at hand stands to the one accepted last; undefined where one of the two was plain files. */
export async function successionOf(
  { commit }: Pick<Input, 'commit'>,
  last: Snapshot | undefined,
): Promise<Succession | undefined> {
  if (commit === undefined || last === undefined || last.commit === NO_COMMIT) return undefined;
  const descent = await commit.descentFrom(last.commit);
  return { commit: commit.id, before: last.commit, descent, isConfirmed: last.pruneOk };
}

/** A source is accepted when its guards let it through, and before the first intent that refers to it. */
export async function acceptSnapshot(
  { ledger, source, input, options, allowRewind }: AcceptedSource,
  { clock }: Pick<Surroundings, 'clock'>,
): Promise<void> {
  const id = snapshotId(input.desired);
  const commit = input.commit?.id ?? NO_COMMIT;
  const last = await ledger.lastSnapshot(source);
  const succession = allowRewind ? undefined : await successionOf(input, last);
  const pruneOk = succession === undefined || mayPrune(succession);
  const size = input.desired.size;
  const named = String(options.permissions.prune ? size : Math.max(size, await largestSince({ ledger, source })));
  const isKnown = last?.id === id && last.commit === commit && last.pruneOk === pruneOk;
  if (isKnown && (await ledger.fact(sizeFact(source))) === named) return;
  const atMs = clock.now();
  const snapshot = { id, source, commit, manifestHash: id, objects: size, pruneOk, acceptedMs: atMs };
  await ledger.commit({
    scope: `source:${source}`,
    actor: 'portolan apply',
    atMs,
    operations: [
      { op: 'accept-snapshot', snapshot },
      { op: 'set-fact', key: sizeFact(source), value: named },
      { op: 'record', event: 'snapshot', detail: { id, commit, objects: snapshot.objects } },
    ],
  });
}

/** How many resources the source named at most since it last pruned: runs that remove nothing must not lower the bar. */
export async function largestSince({ ledger, source }: Pick<AcceptedSource, 'ledger' | 'source'>): Promise<number> {
  return Number((await ledger.fact(sizeFact(source))) ?? 0);
}

function sizeFact(source: string): string {
  return `largest ${source}`;
}
