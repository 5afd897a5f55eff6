import './legend.css';
import { colorOf, dashOf } from './model.ts';

/** A piece of the line of a series, beside its name. */
export function Swatch({ tone }: { readonly tone: number }) {
  return (
    <svg class="swatch" viewBox="0 0 24 8" aria-hidden="true" focusable="false">
      <line x1="1" y1="4" x2="23" y2="4" stroke={colorOf(tone)} stroke-dasharray={dashOf(tone).join(' ')} />
    </svg>
  );
}

/** The names of the series of a chart. */
export function Legend({ series }: { readonly series: readonly { readonly label: string; readonly tone: number }[] }) {
  return (
    <ul class="legend">
      {series.map(({ label, tone }) => (
        <li key={label}>
          <Swatch tone={tone} />
          {label}
        </li>
      ))}
    </ul>
  );
}
