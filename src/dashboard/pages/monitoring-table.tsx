import { useState } from 'preact/hooks';
import type { MonitoringHistory } from '../../model/monitoring.ts';
import { formatValue } from '../../model/units.ts';
import { Scroll } from '../parts/scroll.tsx';
import { exactTime } from '../parts/time.tsx';
import { panelsOf, timesOf } from './monitoring-panels.tsx';

/** All values as a table, newest first, for people who do not see the charts. It is made when it is opened. */
export function ValueTable({ shown }: { readonly shown: MonitoringHistory }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="card values" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Values as a table</summary>
      {isOpen ? <Values shown={shown} /> : null}
    </details>
  );
}

function Values({ shown }: { readonly shown: MonitoringHistory }) {
  const columns = panelsOf(shown).flatMap(({ item, series }) => series.map((one) => ({ item, ...one })));
  const times = timesOf(shown);
  return (
    <Scroll label="Table of values">
      <table>
        <caption class="hidden">The values of each series, newest first</caption>
        <thead>
          <tr>
            <th>Time</th>
            {columns.map(({ item, label }) => (
              <th key={`${item} ${label}`} class="number">
                {label} {item}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times
            .map((seconds, at) => ({ seconds, at }))
            .reverse()
            .map(({ seconds, at }) => (
              <tr key={seconds}>
                <th scope="row">{exactTime(seconds * 1000)}</th>
                {columns.map(({ item, label, values, unit }) => {
                  const value = values[at] ?? null;
                  return (
                    <td key={`${item} ${label}`} class="number">
                      {value === null ? 'no sample' : formatValue(value, unit)}
                    </td>
                  );
                })}
              </tr>
            ))}
        </tbody>
      </table>
    </Scroll>
  );
}
