import './platform.css';
import { useEffect, useRef } from 'preact/hooks';
import { formatDuration } from '../../model/duration.ts';
import type { PlatformStatus, RegionDetails, SideFault } from '../../model/platform-status.ts';
import { formatValue } from '../../model/units.ts';
import { read } from '../api.ts';
import { basePath } from '../base.ts';
import { nowMs, tick } from '../clock.ts';
import { useData } from '../data.ts';
import { Badge } from '../parts/badge.tsx';
import { Copyable } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Message } from '../parts/revision.tsx';
import { PageFrame } from '../parts/page.tsx';
import { WithData } from '../parts/states.tsx';
import { Revision } from '../parts/revision.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Time } from '../parts/time.tsx';
import { Facts } from './facts.tsx';
import { Leaders } from './platform-leaders.tsx';
import { PlatformCard } from './platform-requests.tsx';
import { Remedy } from '../parts/words.tsx';

/** `/platform`: is the fault in the platform, in the source or in the controller? */
export function Platform() {
  const status = useData('platform', (signal) => read('/api/v1/platform', { signal }), { keep: true });
  // Rates and latencies change without events.
  const now = tick.value;
  const first = useRef(now);
  useEffect(() => {
    if (now !== first.current) status.reload();
  }, [now]);
  return (
    <PageFrame title="Platform">
      <WithData of={status} lines={8}>
        {(shown) => (
          <>
            <Verdict faults={shown.faults} />
            <Leaders />
            <Regions regions={shown.regions} />
            {shown.platforms.map((platform) => (
              <PlatformCard key={platform.name} platform={platform} />
            ))}
            <div class="platform-columns">
              <SourceCard source={shown.source} />
              <LedgerCard ledger={shown.ledger} />
              <ProcessCard status={shown} />
            </div>
          </>
        )}
      </WithData>
    </PageFrame>
  );
}

const SIDES: readonly (readonly [SideFault['side'], string])[] = [
  ['platform', 'Platform'],
  ['source', 'Source'],
  ['controller', 'Controller'],
];

/** The answer in one line for each side, and the faults. */
function Verdict({ faults }: Pick<PlatformStatus, 'faults'>) {
  return (
    <section class="verdict" aria-label="Faults by side">
      {SIDES.map(([side, name]) => {
        const its = faults.filter((fault) => fault.side === side);
        const isError = its.some(({ severity }) => severity === 'error');
        const tone = its.length === 0 ? 'good' : isError ? 'bad' : 'warn';
        const amount = its.length === 0 ? 'No fault' : its.length === 1 ? '1 fault' : `${its.length} faults`;
        return (
          <article key={side} class={`card verdict-side ${tone}`}>
            <header>
              <h2>{name}</h2>
              <Badge tone={tone}>{amount}</Badge>
            </header>
            {its.length === 0 ? (
              <p class="verdict-none">{GOOD[side]}</p>
            ) : (
              <ul>
                {its.map(({ part, message, remedy, severity }) => (
                  <li key={`${part} ${message}`} class={severity}>
                    <Icon name={severity === 'error' ? 'cross' : 'alert'} />
                    <div>
                      <p>
                        <Message text={message} />
                      </p>
                      <Remedy text={remedy} />
                    </div>
                  </li>
                ))}
              </ul>
            )}
          </article>
        );
      })}
    </section>
  );
}

const GOOD: Readonly<Record<SideFault['side'], string>> = {
  platform: 'All regions accept changes, and requests succeed.',
  source: 'The newest revision was read and accepted.',
  controller: 'The process responds, and the ledger can be read.',
};

function Regions({ regions }: { readonly regions: readonly RegionDetails[] }) {
  return (
    <section class="card" aria-labelledby="regions">
      <header>
        <h2 id="regions">Regions</h2>
        <Copyable
          text={`portolan regions --server ${location.origin}${basePath.replace(/\/$/, '')}`}
          what="the command that shows this page on a terminal"
        />
      </header>
      {regions.length === 0 ? (
        <p class="card-text">No application of the source has a region.</p>
      ) : (
        <Scroll label="Regions">
          <table>
            <thead>
              <tr>
                <th>Region</th>
                <th>Platform</th>
                <th>State</th>
                <th>Since</th>
                <th>Next attempt</th>
                <th class="number">Applications</th>
              </tr>
            </thead>
            <tbody>
              {regions.map((region) => (
                <Region key={`${region.platform}/${region.region}`} region={region} />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}

const STATES = {
  open: ['good', 'Accepts changes'],
  paused: ['paused', 'Paused by the platform'],
  'circuit-open': ['bad', 'Circuit breaker open'],
} as const;

function Region({ region: { region, platform, state, message, sinceMs, untilMs, applications } }: RegionProps) {
  const [tone, words] = STATES[state];
  return (
    <tr>
      <th scope="row">{region}</th>
      <td>{platform}</td>
      <td>
        <Badge tone={tone}>{words}</Badge>
        {message === '' || state === 'open' ? null : <p class="region-why">{message}</p>}
      </td>
      <td>{sinceMs === null ? '–' : <Time at={sinceMs} />}</td>
      <td>{untilMs === null ? '–' : <Time at={untilMs} />}</td>
      <td class="number">
        <Link to={`/applications?region=${encodeURIComponent(region)}`}>{applications}</Link>
      </td>
    </tr>
  );
}

interface RegionProps {
  readonly region: RegionDetails;
}

function SourceCard({ source }: Pick<PlatformStatus, 'source'>) {
  const { location, observedRevision, observedMs, acceptedRevision, acceptedMs, resources, error } = source;
  return (
    <Facts
      title="Source"
      badge={error === null ? <Badge tone="good">Accepted</Badge> : <Badge tone="bad">Rejected</Badge>}
      facts={[
        ['Location', location],
        ['Last revision', observedRevision === null ? 'none was read yet' : <Revision revision={observedRevision} />],
        ['Read', observedMs === null ? 'never' : <Time at={observedMs} />],
        ['Running revision', acceptedRevision === null ? 'none' : <Revision revision={acceptedRevision} />],
        ['Accepted', acceptedMs === null ? 'never' : <Time at={acceptedMs} />],
        ['Resources', resources.toLocaleString('en')],
      ]}
    />
  );
}

function LedgerCard({ ledger }: Pick<PlatformStatus, 'ledger'>) {
  const { location, epoch, serial, bytes, lastWriteMs, isReadable, open, inDoubt, lineage } = ledger;
  return (
    <Facts
      title="Ledger"
      badge={isReadable ? <Badge tone="good">Readable</Badge> : <Badge tone="bad">Unreadable</Badge>}
      facts={[
        ['Location', location],
        ['Size', bytes === null ? 'not a file' : formatValue(bytes, 'bytes')],
        ['Last write', lastWriteMs === null ? 'unknown' : <Time at={lastWriteMs} />],
        ['Epoch', epoch],
        ['History', serial === null ? 'empty' : `up to line ${serial.toLocaleString('en')}`],
        ['Lineage', lineage],
        ['Requests in flight', open],
        ['Outcome unknown', inDoubt],
        [
          'Verify',
          <Copyable text={`portolan ledger verify --ledger ${location}`} what="the command that verifies the ledger" />,
        ],
      ]}
    />
  );
}

function ProcessCard({ status }: { readonly status: PlatformStatus }) {
  const { version, node, startedMs, rssBytes, heapBytes, heapLimitBytes, lagMs, lagMaxMs, phase } = status.process;
  const { applications, queued, running, failing } = status.queue;
  return (
    <Facts
      title="Controller"
      badge={phase === 'running' ? <Badge tone="good">Running</Badge> : <Badge tone="busy">{phase}</Badge>}
      facts={[
        ['Version', `${version}, Node ${node}`],
        ['Uptime', formatDuration(Math.max(0, nowMs() - startedMs))],
        ['Memory', formatValue(rssBytes, 'bytes')],
        ['Heap', `${formatValue(heapBytes, 'bytes')} of ${formatValue(heapLimitBytes, 'bytes')}`],
        ['Event-loop delay', `${lagMs} ms; at most ${lagMaxMs} ms in 5 minutes`],
        ['Applications', applications],
        ['Passes', `${running} running, ${queued} waiting`],
        ['Failing', failing],
      ]}
    />
  );
}
