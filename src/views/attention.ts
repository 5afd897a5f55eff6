import type { Standing } from '../controller/api.ts';
import { conditionOf } from '../controller/application-state.ts';
import type { AttentionKind } from '../model/fleet-words.ts';
import type { AttentionItem } from '../model/fleet.ts';
import type { ResourceId } from '../model/ids.ts';
import type { Doubt } from '../model/manual.ts';
import type { Hold } from '../model/plan.ts';
import type { ApplicationStatus, Condition, OrphanStatus, SourceStatus } from '../model/status.ts';
import { formatDuration } from '../model/duration.ts';
import { shortRevision } from '../model/revision.ts';
import { compareText } from '../model/text.ts';
import type { EpochMs } from '../model/time.ts';
import { orphanRemedy } from '../plan/orphans.ts';
import { amount, someOf } from '../plan/words.ts';

/** Everything that may require manual action, as far as a caller may see it. */
export interface AttentionWorld {
  readonly standings: readonly Standing[];
  readonly source: SourceStatus;
  readonly orphans: readonly OrphanStatus[];
  /** Requests without a known outcome, by application. */
  readonly doubts: ReadonlyMap<ResourceId, readonly Doubt[]>;
  readonly nowMs: EpochMs;
}

/** Returns everything that requires manual action, the oldest first. */
export function attentionItems({
  standings,
  source,
  orphans,
  doubts,
  nowMs,
}: AttentionWorld): readonly AttentionItem[] {
  const items = [
    ...sourceItems(source),
    ...standings.flatMap((standing) => applicationItems(standing, doubts.get(standing.id) ?? [], nowMs)),
    ...[...Map.groupBy(orphans, ({ scope }) => scope)].map(([scope, its]) => orphanItem(scope, its)),
  ];
  return items.sort((left, right) => left.sinceMs - right.sinceMs || compareText(left.key, right.key));
}

type Facts = Partial<AttentionItem> & Pick<AttentionItem, 'sinceMs' | 'code' | 'message' | 'remedy'>;

function item(kind: AttentionKind, name: string, facts: Facts): AttentionItem {
  return { key: `${kind} ${name}`, kind, application: null, resource: null, scope: null, command: null, ...facts };
}

function sourceItems(source: SourceStatus): readonly AttentionItem[] {
  const { name, error, problems } = source;
  if (error === null) return [];
  const { code, message, remedy, atMs } = error;
  const facts = { sinceMs: atMs, code, remedy, command: 'portolan validate' };
  if (problems === undefined) return [item('source', name, { ...facts, message })];
  return [item('source', name, { ...facts, message: rejectionText(source, problems.length), problems })];
}

/** Returns what happened to a revision with faults. Their places follow it. */
function rejectionText({ observedRevision, acceptedRevision }: SourceStatus, count: number): string {
  const rejected = `${shortRevision(observedRevision ?? 'The last revision')} was rejected because of ${amount(count, 'error')}`;
  return acceptedRevision === null
    ? `${rejected}. No revision was accepted before, so nothing is applied.`
    : `${rejected}. Still running ${shortRevision(acceptedRevision)}.`;
}

function applicationItems({ status, kept }: Standing, doubts: readonly Doubt[], nowMs: EpochMs): AttentionItem[] {
  const { id, scope, approval, lastError, failures, resources, pause } = status;
  const items: AttentionItem[] = [];
  const add = (kind: AttentionKind, name: string, facts: Facts): void => {
    items.push(item(kind, name, { application: id, scope, ...facts }));
  };
  if (approval !== null)
    add('approval', id, {
      sinceMs: approval.sinceMs,
      code: approval.refusals[0]?.code ?? 'guard/approval',
      message: approval.refusals.map(({ message }) => message).join('; '),
      remedy: 'Look at its plan, and approve it if it is right. Otherwise correct the manifests in git.',
      command: `portolan approve ${nameOf(id)}`,
      digest: approval.digest,
    });
  const held = resources.flatMap(({ holds, conditions }) =>
    holds.filter(({ untilMs }) => untilMs === undefined).map((hold) => ({ hold, sinceMs: sinceOf(conditions) })),
  );
  for (const { hold, sinceMs } of held) items.push(heldItem(status, hold, sinceMs, doubts));
  const isDenied = conditionOf(status, 'Ready')?.reason === 'Denied';
  // A circuit breaker and a region retry automatically; the failure of the application is reported when that has ended.
  if (lastError !== null && failures > 0 && pause?.type !== 'region') {
    const { code, message, remedy } = lastError;
    const kind = isDenied ? 'policy' : code === 'ledger/other-platform' ? 'platform' : 'failure';
    const sinceMs = conditionOf(status, 'Ready')?.sinceMs ?? lastError.atMs;
    const events = `portolan events --application ${nameOf(id)}`;
    const command = kind === 'platform' ? 'portolan ledger rebind' : events;
    add(kind, id, { sinceMs, code, message, remedy, command });
  }
  // Reported as suspended for longer than the settings allow.
  if (kept.remindedMs !== null) items.push(suspendedItem(status, kept, nowMs));
  const health = conditionOf(status, 'Healthy');
  if (health?.status === 'False' && lastError === null)
    add('unhealthy', id, {
      sinceMs: health.sinceMs,
      code: 'application/not-healthy',
      message: health.message,
      remedy: 'Check its components.',
      command: `portolan monitor ${nameOf(id)}`,
    });
  return items;
}

function sinceOf(conditions: readonly Condition[]): EpochMs {
  return (conditionOf({ conditions }, 'Stalled') ?? conditionOf({ conditions }, 'Ready'))?.sinceMs ?? 0;
}

/** Returns the item of a hold. If a write of its resource is in doubt, it has the evidence. */
function heldItem(
  { id, scope }: ApplicationStatus,
  { code, resource, message, remedy }: Hold,
  sinceMs: EpochMs,
  doubts: readonly Doubt[],
): AttentionItem {
  const common = { application: id, resource, scope, sinceMs, code, message, remedy, command: commandIn(remedy) };
  if (!isOfDoubt(code)) return item('hold', `${id} ${resource} ${code}`, common);
  const doubt = doubts.find((one) => one.resource === resource);
  const seen = doubt === undefined ? {} : { sinceMs: doubt.sentMs, doubt };
  return item('doubt', `${id} ${resource} ${code}`, { ...common, ...seen });
}

/** Returns whether an application has a hold because of a write in doubt. */
export function hasDoubt({ resources }: ApplicationStatus): boolean {
  return resources.some(({ holds }) => holds.some(({ code, untilMs }) => untilMs === undefined && isOfDoubt(code)));
}

function isOfDoubt(code: string): boolean {
  return code.startsWith('intent/') || code.endsWith('-in-doubt');
}

/** Returns the command that a remedy names, in backquotes where words follow it; null: it names none. */
function commandIn(remedy: string): string | null {
  const quoted = /`(portolan [^`]+)`/.exec(remedy);
  const [, command] = quoted ?? /(portolan [a-z]+(?: [^,.;()\s]+(?:\.[^\s.,;]+)*)*)/.exec(remedy) ?? [];
  return command ?? null;
}

function suspendedItem({ id, scope }: ApplicationStatus, kept: Standing['kept'], nowMs: EpochMs): AttentionItem {
  const { suspended, asideSince } = kept;
  const aside = Object.entries(asideSince) as [ResourceId, EpochMs][];
  const sinceMs = Math.min(suspended?.sinceMs ?? nowMs, ...aside.map(([, fromMs]) => fromMs));
  const forLong = `for ${formatDuration(nowMs - sinceMs)}`;
  const reason = suspended?.reason ?? '';
  const message =
    suspended === null
      ? `suspended by annotation ${forLong}: ${someOf(
          aside.map(([name]) => name),
          5,
        )}`
      : `suspended by ${suspended.by} ${forLong}${reason === '' ? '' : `: ${reason}`}`;
  return item('suspended', id, {
    application: id,
    scope,
    sinceMs,
    code: 'application/suspended',
    message,
    remedy:
      suspended === null
        ? 'Remove the annotation portolan/reconcile, or the resource, from the manifest. Drift of suspended resources is not corrected.'
        : 'Resume it, or remove it from the source. Drift of a suspended application is not corrected.',
    command: suspended === null ? null : `portolan resume ${nameOf(id)}`,
  });
}

const NAMED_MAX = 10;

function orphanItem(scope: string, orphans: readonly OrphanStatus[]): AttentionItem {
  const names = orphans.map(({ id }) => id);
  return item('orphan', scope, {
    scope,
    resource: orphans.length === 1 ? (names[0] ?? null) : null,
    sinceMs: Math.min(...orphans.map(({ sinceMs }) => sinceMs)),
    code: 'scope/orphaned',
    message: `no Application of the source refers to ${scope}; on record there: ${someOf(names, NAMED_MAX)}`,
    remedy: `${orphanRemedy(scope, 'URL')}.`,
    command: `portolan orphans prune ${scope}`,
  });
}

function nameOf(id: ResourceId): string {
  return id.slice(id.indexOf('/') + 1);
}
