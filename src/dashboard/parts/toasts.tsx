import { signal } from '@preact/signals';
import { after } from '../clock.ts';
import { Icon } from './icon.tsx';
import { Remedy } from './words.tsx';

interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
  readonly remedy: string | undefined;
}

const GOOD_MS = 6_000;

const toasts = signal<readonly Toast[]>([]);
const spoken = signal('');
let last = 0;

/** Says something to screen readers only. */
export function announce(text: string): void {
  // The same text twice would not be spoken twice.
  spoken.value = spoken.value === text ? `${text}\u00a0` : text;
}

/** Shows the result of an action. A failure stays until it is closed. */
export function toast(tone: Toast['tone'], text: string, remedy?: string): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value, { id, tone, text, remedy }];
  announce(remedy === undefined ? text : `${text} ${remedy}`);
  if (tone === 'good') after(GOOD_MS, () => close(id));
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <>
      <p class="hidden" role="status" aria-live="polite">
        {spoken}
      </p>
      <section aria-label="Messages">
        <ul class="toasts">
          {toasts.value.map(({ id, tone, text, remedy }) => (
            <li key={id} class={`toast ${tone}`}>
              <Icon name={tone === 'good' ? 'check' : 'alert'} />
              <div>
                <p>{text}</p>
                {remedy === undefined ? null : <Remedy text={remedy} />}
              </div>
              <button type="button" class="plain" aria-label="Close this message" onClick={() => close(id)}>
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
