import { inBase } from '../base.ts';
import type { Tone } from './badge.tsx';
import { Icon, type IconName } from './icon.tsx';

interface TileProps {
  readonly label: string;
  readonly value: number;
  /** The number of all that could be counted. */
  readonly of?: number;
  readonly tone: Tone;
  readonly icon: IconName;
  /** The list of what is counted. */
  readonly href: string;
}

/** A number with its name, which leads to the list of what is counted. Without any, it has no colour. */
export function Tile({ label, value, of, tone, icon, href }: TileProps) {
  return (
    <a class={`tile ${value === 0 ? 'none' : tone}`} href={inBase(href)}>
      <span class="tile-label">
        <Icon name={icon} />
        {label}
      </span>
      <span class="tile-value">
        {value.toLocaleString('en')}
        {of === undefined ? null : <span class="tile-of"> of {of.toLocaleString('en')}</span>}
      </span>
    </a>
  );
}
