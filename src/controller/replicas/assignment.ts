import type { LeaseUnit, LiveReplica, ReplicaReport, UnitLeader } from '../../ledger/shared.ts';
import { compareText } from '../../model/text.ts';
import type { LedFacts } from './group.ts';

/** Share of its part that a replica may lead at most, and should lead at least. Between them, no unit moves. */
const MOST = 1.25;
const LEAST = 0.75;

/** Part of the length of a lease after which a replica without a heartbeat gets no units. */
const SILENT = 0.6;

/** The group as each replica reads it. */
export interface GroupView {
  readonly units: readonly LeaseUnit[];
  /** Names of the replicas that may take units, the one that was started last first. */
  readonly replicas: readonly string[];
  /** The leader of each unit that has one. */
  readonly leaders: ReadonlyMap<LeaseUnit, string>;
  /** Names of the replicas that live and may not take units. They keep those that they lead. */
  readonly resting?: ReadonlySet<string>;
}

/** Describes the group as this process knows it. */
export interface GroupState {
  /** The last report of this process. */
  readonly own: ReplicaReport;
  readonly live: readonly LiveReplica[];
  readonly leaseMs: number;
}

/** Returns the others whose heartbeats are new, and that do not end. */
export function reachableOthers({ own, live, leaseMs }: GroupState): readonly LiveReplica[] {
  return live.filter((one) => one.name !== own.name && !one.isDraining && one.seenAgoMs < leaseMs * SILENT);
}

/** Whether a replica reports that it can take units. An earlier version does not report it, and counts as one that can. */
export function canTake({ facts }: ReplicaReport): boolean {
  return (facts as unknown as LedFacts | null)?.canTake !== false;
}

/** @param held the units that this process leads, takes or hands over. */
export function viewOf(
  group: GroupState,
  units: readonly LeaseUnit[],
  rows: readonly UnitLeader[],
  held: Iterable<LeaseUnit>,
): GroupView {
  const { own } = group;
  const all = [own, ...reachableOthers(group)];
  const able = all.filter(canTake);
  // Their clocks may differ: that costs only the order.
  const replicas = (able.length > 0 ? able : all).toSorted(
    (left, right) => right.startedMs - left.startedMs || compareText(left.name, right.name),
  );
  const leaders = new Map<LeaseUnit, string>();
  for (const { unit, replica, leftMs } of rows) if (leftMs > 0) leaders.set(unit, replica);
  for (const unit of held) leaders.set(unit, own.name);
  const names = new Set(replicas.map((one) => one.name));
  const resting = new Set(all.map((one) => one.name).filter((name) => !names.has(name)));
  return { units, replicas: [...names], leaders, resting };
}

/** A unit that one replica hands over to another. */
export interface UnitMove {
  readonly unit: LeaseUnit;
  readonly from: string;
  readonly to: string;
}

/**
 * Returns the replica for each unit without a leader: the one that leads least, and of these the one that was started last. Units
 * with a leader stay. So a replica that leaves moves its own units only, and a rolling update moves them to the replica that was just
 * started; with rendezvous hashing, it would move some units again for each replica.
 */
export function assignFree(view: GroupView): ReadonlyMap<LeaseUnit, string> {
  const loads = loadsOf(view);
  const assigned = new Map<LeaseUnit, string>();
  for (const unit of view.units.toSorted(compareText)) {
    if (view.leaders.has(unit)) continue;
    const replica = leastLoaded(loads);
    if (replica === undefined) break;
    assigned.set(unit, replica);
    loads.set(replica, (loads.get(replica) ?? 0) + 1);
  }
  return assigned;
}

/**
 * Returns the next unit to hand over, so that no replica leads more than 1.25 times its part, or less than 0.75 times; undefined if
 * the units are divided well enough, or while one of them has no leader among these replicas, other than a resting one.
 */
export function nextMove(view: GroupView): UnitMove | undefined {
  const { replicas, leaders, resting } = view;
  const units = view.units.filter((unit) => resting?.has(leaders.get(unit) ?? '') !== true);
  const loads = loadsOf(view);
  if (units.some((unit) => !loads.has(leaders.get(unit) ?? ''))) return undefined;
  const to = leastLoaded(loads);
  const most = Math.max(...loads.values());
  const least = loads.get(to ?? '') ?? 0;
  // Those that were started first give.
  const from = replicas.findLast((replica) => loads.get(replica) === most);
  if (to === undefined || from === undefined) return undefined;
  const part = units.length / replicas.length;
  const isUneven = most > roomOf(units.length, replicas.length) || least < Math.floor(part * LEAST);
  if (!isUneven || most <= least + 1) return undefined;
  const unit = units.toSorted(compareText).find((one) => leaders.get(one) === from);
  return unit && { unit, from, to };
}

/** Returns the maximum number of units that one replica leads. */
export function roomOf(units: number, replicas: number): number {
  return Math.ceil((units / Math.max(1, replicas)) * MOST);
}

function loadsOf({ units, replicas, leaders }: GroupView): Map<string, number> {
  const loads = new Map(replicas.map((replica) => [replica, 0]));
  for (const unit of units) {
    const leader = leaders.get(unit) ?? '';
    const load = loads.get(leader);
    if (load !== undefined) loads.set(leader, load + 1);
  }
  return loads;
}

/** Returns the first of those that lead least. */
function leastLoaded(loads: ReadonlyMap<string, number>): string | undefined {
  const least = Math.min(...loads.values());
  return [...loads].find(([, load]) => load === least)?.[0];
}
