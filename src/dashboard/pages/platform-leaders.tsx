import { useEffect, useRef } from 'preact/hooks';
import type { ReplicaGroup, ReplicaState, UnitState } from '../../model/replicas.ts';
import { isSilent } from '../../model/silent.ts';
import { read } from '../api.ts';
import { basePath } from '../base.ts';
import { nowMs, tick } from '../clock.ts';
import { useData } from '../data.ts';
import { Badge } from '../parts/badge.tsx';
import { Copyable } from '../parts/copy.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Failed } from '../parts/states.tsx';
import { relativeTime, Time } from '../parts/time.tsx';

const MINUTE_MS = 60_000;

/** The leader of each platform and source, and all replicas; nothing if one controller has the ledger for itself. */
export function Leaders() {
  const group = useData('replicas', (signal) => read('/api/v1/replicas', { signal }), { keep: true });
  const now = tick.value;
  const first = useRef(now);
  const isShared = group.data?.isShared === true;
  useEffect(() => {
    if (now !== first.current && isShared) group.reload();
  }, [now]);
  if (group.data === undefined)
    return group.problem === undefined ? null : <Failed problem={group.problem} onRetry={group.reload} />;
  return isShared ? <Group group={group.data} /> : null;
}

function Group({ group: { units, replicas, isCurrent, asOfMs } }: { readonly group: ReplicaGroup }) {
  const idle = units.filter(({ leader, isConfigured }) => leader === null && isConfigured).length;
  return (
    <section class="card leaders" aria-labelledby="leaders">
      <header>
        <div class="leaders-title">
          <h2 id="leaders">Leaders</h2>
          {isCurrent ? (
            <Badge tone={idle === 0 ? 'good' : 'warn'}>{idle === 0 ? 'All led' : `${idle} without a leader`}</Badge>
          ) : (
            <Badge tone="warn">
              As of <Time at={asOfMs} />
            </Badge>
          )}
        </div>
        <Copyable
          text={`portolan replicas --server ${location.origin}${basePath.replace(/\/$/, '')}`}
          what="the command that shows leaders and replicas on a terminal"
        />
      </header>
      <UnitTable units={units} />
      <h3>Replicas</h3>
      <ReplicaTable replicas={replicas} />
    </section>
  );
}

function UnitTable({ units }: Pick<ReplicaGroup, 'units'>) {
  // A unit without a leader waits, so it comes first; one that no configuration has any more comes last.
  const ordered = [...units].sort((left, right) => placeOf(left) - placeOf(right));
  return (
    <Scroll label="Leaders">
      <table>
        <thead>
          <tr>
            <th>Platform or source</th>
            <th>State</th>
            <th>Leader</th>
            <th>Since</th>
            <th class="number">Epoch</th>
          </tr>
        </thead>
        <tbody>
          {ordered.map((unit) => (
            <Unit key={unit.unit} unit={unit} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function placeOf({ leader, isConfigured }: UnitState): number {
  if (leader !== null) return 1;
  return isConfigured ? 0 : 2;
}

function ReplicaTable({ replicas }: Pick<ReplicaGroup, 'replicas'>) {
  return (
    <Scroll label="Replicas">
      <table>
        <thead>
          <tr>
            <th>Replica</th>
            <th>State</th>
            <th class="number">Leads</th>
            <th>Version</th>
            <th>Started</th>
            <th>Last sign</th>
          </tr>
        </thead>
        <tbody>
          {replicas.map((replica) => (
            <Replica key={`${replica.name} ${replica.startedMs}`} replica={replica} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Unit({ unit }: { readonly unit: UnitState }) {
  const { type, name, leader, sinceMs, epoch } = unit;
  return (
    <tr>
      <th scope="row">
        {name} {type === 'source' ? <span class="leader-type">source</span> : null}
      </th>
      <td>
        <Led unit={unit} />
      </td>
      <td>{leader ?? '–'}</td>
      <td>{sinceMs === null ? '–' : <Time at={sinceMs} />}</td>
      <td class="number">{epoch ?? '–'}</td>
    </tr>
  );
}

function Led({ unit: { leader, isConfigured } }: { readonly unit: UnitState }) {
  if (leader !== null) return <Badge tone="good">Led</Badge>;
  return isConfigured ? <Badge tone="warn">No leader</Badge> : <Badge tone="quiet">Not configured</Badge>;
}

function Replica({ replica }: { readonly replica: ReplicaState }) {
  const { name, version, address, startedMs, seenAgoMs, isSelf, leads } = replica;
  return (
    <tr>
      <th scope="row">
        {address === null ? name : <a href={address}>{name}</a>}
        {isSelf ? <span class="leader-type"> shows this page</span> : null}
      </th>
      <td>
        <Standing replica={replica} />
      </td>
      <td class="number">{leads}</td>
      <td>{version}</td>
      <td>
        <Time at={startedMs} />
      </td>
      <td>
        {seenAgoMs < MINUTE_MS ? `${Math.round(seenAgoMs / 1000)} s ago` : relativeTime(nowMs() - seenAgoMs, nowMs())}
      </td>
    </tr>
  );
}

function Standing({ replica }: { readonly replica: ReplicaState }) {
  if (isSilent(replica)) return <Badge tone="bad">No sign</Badge>;
  return replica.isDraining ? <Badge tone="busy">Ending</Badge> : <Badge tone="good">Active</Badge>;
}
