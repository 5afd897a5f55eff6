import './monitoring.css';
import { useEffect, useRef } from 'preact/hooks';
import type { MonitoringHistory } from '../../model/monitoring.ts';
import { read } from '../api.ts';
import { nowMs, tick } from '../clock.ts';
import type { Span } from '../charts/model.ts';
import { useData } from '../data.ts';
import { Icon } from '../parts/icon.tsx';
import { Empty, WithData } from '../parts/states.tsx';
import { query, setQuery } from '../router.ts';
import { ApplicationFrame } from './application/head.tsx';
import { MarkList } from './monitoring-marks.tsx';
import { Panels } from './monitoring-panels.tsx';
import { ValueTable } from './monitoring-table.tsx';
import { RANGES, type Range, rangeOf, zoomed } from './monitoring-range.ts';

/** `/applications/:name/monitoring`: how the application does, before and after its changes. */
export function Monitoring({ name = '' }: Readonly<Record<string, string>>) {
  const id = `Application/${name}`;
  const range = rangeOf(query.value);
  const component = query.value.get('component') ?? undefined;
  const load = (signal: AbortSignal): Promise<MonitoringHistory> => {
    const to = range.type === 'fixed' ? range.toMs : nowMs();
    const from = range.type === 'fixed' ? range.fromMs : to - range.lengthMs;
    return read('/api/v1/applications/{name}/monitoring', { params: { name }, query: { component, from, to }, signal });
  };
  const history = useData(`${name} ${component ?? ''} ${JSON.stringify(range)}`, load, {
    concerns: ({ application }) => application === id,
    keep: true,
  });
  useEveryTick(range.type === 'live', history.reload);
  return (
    <ApplicationFrame name={name} view="monitoring">
      {() => (
        <WithData of={history} lines={10}>
          {(shown) => (
            <>
              <Toolbar shown={shown} range={range} component={component} />
              <Content name={name} shown={shown} requested={spanOf(range, shown)} />
            </>
          )}
        </WithData>
      )}
    </ApplicationFrame>
  );
}

/** Returns the requested time. The shown one may still be the one before. */
function spanOf(range: Range, { fromMs, toMs }: MonitoringHistory): Span {
  return range.type === 'fixed' ? range : { fromMs, toMs };
}

/** Calls `reload` every few seconds: samples arrive without events. */
function useEveryTick(isLive: boolean, reload: () => void): void {
  const now = tick.value;
  const first = useRef(now);
  useEffect(() => {
    if (isLive && now !== first.current && !document.hidden) reload();
  }, [now]);
}

interface ToolbarProps {
  readonly shown: MonitoringHistory;
  readonly range: Range;
  readonly component: string | undefined;
}

function Toolbar({ shown, range, component }: ToolbarProps) {
  const { components } = shown;
  const { fromMs, toMs } = spanOf(range, shown);
  const step = (toMs - fromMs) / 2;
  const change = (from: number, to: number) => () => setQuery(zoomed(from, to, nowMs()));
  return (
    <div class="monitoring-bar" role="group" aria-label="Time and component">
      <div class="segments" role="group" aria-label="Time">
        {RANGES.map(({ name, words }) => (
          <button
            key={name}
            type="button"
            aria-pressed={range.type === 'live' && range.name === name}
            aria-label={`${name}, the last ${words}`}
            onClick={() => setQuery({ range: name, from: undefined, to: undefined })}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="segments" role="group" aria-label="Zoom">
        <button type="button" aria-label="Earlier" title="Earlier" onClick={change(fromMs - step, toMs - step)}>
          <Icon name="left" />
        </button>
        <button type="button" aria-label="Later" title="Later" onClick={change(fromMs + step, toMs + step)}>
          <Icon name="right" />
        </button>
        <button type="button" aria-label="Zoom in" title="Zoom in" onClick={change(fromMs + step / 2, toMs - step / 2)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" title="Zoom out" onClick={change(fromMs - step, toMs + step)}>
          −
        </button>
      </div>
      <label class="monitoring-component">
        Component
        <select value={component ?? ''} onChange={({ currentTarget }) => setQuery({ component: currentTarget.value })}>
          <option value="">all</option>
          {components.map(({ serviceId, name }) => (
            <option key={serviceId} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <p class="monitoring-time">{timeText(shown, range)}</p>
    </div>
  );
}

function timeText({ fromMs, toMs, stepMs }: MonitoringHistory, range: Range): string {
  const text = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
  const step = stepMs >= 60_000 ? `${stepMs / 60_000} min` : `${stepMs / 1000} s`;
  return `${text(fromMs)} to ${range.type === 'live' ? 'now' : text(toMs)} UTC, a value every ${step}`;
}

interface ContentProps {
  readonly name: string;
  readonly shown: MonitoringHistory;
  readonly requested: Span;
}

function Content({ name, shown, requested }: ContentProps) {
  const { series, samplesLost, marks, marksComplete } = shown;
  return (
    <>
      {series.length === 0 ? (
        <Empty title="No monitoring history">
          <p>No component of the application reports any. Components without the performance plugin never do.</p>
        </Empty>
      ) : samplesLost ? (
        <Empty title="No samples">
          <p>
            The platform answers with series that have no samples: a range query of the documented endpoint loses them.
            No data does not mean that the application is healthy.
          </p>
        </Empty>
      ) : (
        <Panels shown={shown} requested={requested} />
      )}
      <MarkList name={name} marks={marks} isComplete={marksComplete} />
      {series.length === 0 ? null : <ValueTable shown={shown} />}
    </>
  );
}
