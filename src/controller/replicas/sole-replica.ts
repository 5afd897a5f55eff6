import type { ReplicaGroup, UnitState } from '../../model/replicas.ts';
import { compareText } from '../../model/text.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Core } from '../core.ts';

/** Returns the group of a process with a ledger of its own: it leads everything, for as long as it runs. */
export function soleReplica({ configuration, options, sourceLedger, stop }: Core, startedMs: EpochMs): ReplicaGroup {
  const { epoch } = sourceLedger.ledger;
  const ledBy = (type: UnitState['type'], name: string): UnitState => ({
    unit: `${type}:${name}`,
    type,
    name,
    leader: options.actor,
    epoch,
    sinceMs: startedMs,
    leaseLeftMs: null,
    isConfigured: true,
  });
  const units = [
    ...[...configuration.operator.platforms].sort(compareText).map((name) => ledBy('platform', name)),
    ledBy('source', options.source),
  ];
  const self = {
    name: options.actor,
    version: options.version,
    address: null,
    startedMs,
    seenAgoMs: 0,
    isDraining: stop.aborted,
    isSelf: true,
    leads: units.length,
  };
  return { isShared: false, asOfMs: options.clock.now(), isCurrent: true, replicas: [self], units };
}
