import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** The meaning of a state; decides the colour. A word and a symbol are always beside it. */
export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'quiet' | 'paused';

const SYMBOLS: Readonly<Record<Tone, IconName>> = {
  good: 'check',
  warn: 'alert',
  bad: 'cross',
  busy: 'sync',
  quiet: 'dot',
  paused: 'pause',
};

interface BadgeProps {
  readonly tone: Tone;
  /** Instead of the symbol of the tone. */
  readonly icon?: IconName;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A state: symbol and word. */
export function Badge({ tone, icon = SYMBOLS[tone], title, children }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      <Icon name={icon} />
      {children}
    </span>
  );
}
