import type { OperationTraffic, PlatformState } from '../../model/platform-status.ts';
import { formatValue } from '../../model/units.ts';
import { LazyChart } from '../charts/lazy-chart.tsx';
import type { ChartSeries } from '../charts/model.ts';
import { Legend } from '../charts/swatch.tsx';
import { Badge } from '../parts/badge.tsx';
import { Scroll } from '../parts/scroll.tsx';

const milliseconds = (value: number): string => formatValue(value, 'milliseconds');
const orNone = (value: number | null): string => (value === null ? '–' : milliseconds(value));

/** The requests to one platform: the budget, rates and response times of the last hour, and the operations. */
export function PlatformCard({ platform }: { readonly platform: PlatformState }) {
  const { name, url, minutes, operations } = platform;
  const times = minutes.map(({ atMs }) => atMs / 1000);
  return (
    <section class="card" aria-label={`Requests to ${name}`}>
      <header>
        <h2>Requests to {name}</h2>
        <span class="platform-url">{url}</span>
      </header>
      <Figures platform={platform} />
      <div class="platform-charts">
        <HourChart
          title="Requests per minute"
          of={name}
          times={times}
          series={[
            { label: 'all', tone: 0, values: minutes.map(({ requests }) => requests) },
            { label: 'failed', tone: 4, values: minutes.map(({ failed }) => failed) },
            { label: 'throttled', tone: 1, values: minutes.map(({ throttled }) => throttled) },
          ]}
          format={(value) => formatValue(value, 'plain')}
        />
        <HourChart
          title="Response time"
          of={name}
          times={times}
          series={[
            { label: 'median', tone: 2, values: minutes.map(({ p50Ms }) => p50Ms) },
            { label: '95 %', tone: 3, values: minutes.map(({ p95Ms }) => p95Ms) },
          ]}
          format={milliseconds}
        />
      </div>
      <Operations operations={operations} />
    </section>
  );
}

interface HourChartProps {
  readonly title: string;
  /** Name of the platform. */
  readonly of: string;
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
}

function HourChart({ title, of, times, series, format }: HourChartProps) {
  return (
    <figure>
      <figcaption>
        <h3>{title}</h3>
        <Legend series={series} />
      </figcaption>
      <LazyChart
        label={`${title}, ${of}, the last hour`}
        group="platform"
        height={150}
        times={times}
        series={series}
        format={format}
      />
    </figure>
  );
}

/** The numbers of the last five minutes, and the budget. */
function Figures({ platform: { load, recent } }: { readonly platform: PlatformState }) {
  const { concurrency, concurrencyMax, running, waiting, requestsPerSecond, requestsPerSecondMax } = load;
  const failedShare = recent.requests === 0 ? 0 : recent.failed / recent.requests;
  const figures: readonly (readonly [string, string, string])[] = [
    ['Rate', `${formatValue(recent.perSecond, 'per-second')}`, `at most ${round(requestsPerSecond)}/s`],
    ['Failed', `${formatValue(100 * failedShare, 'percent')}`, `${recent.failed} of ${recent.requests} requests`],
    ['Median', orNone(recent.p50Ms), 'response time'],
    ['95 %', orNone(recent.p95Ms), `99 %: ${orNone(recent.p99Ms)}`],
    ['In flight', String(running), `${waiting} waiting`],
    ['Adaptive limit', `${concurrency} of ${concurrencyMax}`, 'requests at the same time'],
  ];
  return (
    <>
      {requestsPerSecond < requestsPerSecondMax ? (
        <p class="card-text">
          <Badge tone="warn">Throttled</Badge> The platform throttled requests, so the rate is{' '}
          {round(requestsPerSecond)} of {requestsPerSecondMax} requests per second.
        </p>
      ) : null}
      <dl class="figures" aria-label="The last five minutes">
        {figures.map(([name, value, aside]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="figure-value">{value}</dd>
            <dd class="figure-aside">{aside}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function round(value: number): string {
  return formatValue(value, 'plain');
}

function Operations({ operations }: { readonly operations: readonly OperationTraffic[] }) {
  if (operations.length === 0) return <p class="card-text">No request was sent in the last five minutes.</p>;
  return (
    <details class="operations">
      <summary>Operations of the last five minutes</summary>
      <Scroll label="Operations">
        <table>
          <thead>
            <tr>
              <th>Operation</th>
              <th>Kind</th>
              <th class="number">Requests</th>
              <th class="number">Failed</th>
              <th class="number">Throttled</th>
              <th class="number">Median</th>
              <th class="number">95 %</th>
              <th class="number">99 %</th>
              <th>Answers</th>
            </tr>
          </thead>
          <tbody>
            {operations.map(({ operation, isRead, requests, failed, throttled, p50Ms, p95Ms, p99Ms, outcomes }) => (
              <tr key={operation}>
                <th scope="row">
                  <code>{operation}</code>
                </th>
                <td>{isRead ? 'read' : 'write'}</td>
                <td class="number">{requests.toLocaleString('en')}</td>
                <td class="number">{failed === 0 ? '0' : <Badge tone="bad">{failed}</Badge>}</td>
                <td class="number">{throttled === 0 ? '0' : <Badge tone="warn">{throttled}</Badge>}</td>
                <td class="number">{orNone(p50Ms)}</td>
                <td class="number">{orNone(p95Ms)}</td>
                <td class="number">{orNone(p99Ms)}</td>
                <td>{outcomeText(outcomes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

function outcomeText(outcomes: OperationTraffic['outcomes']): string {
  return Object.entries(outcomes)
    .sort(([, left], [, right]) => right - left)
    .map(([outcome, count]) => `${outcome}: ${count}`)
    .join(', ');
}
