import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';

/** Keys of the dashboard. They do nothing while a text is being typed. */

interface Key {
  readonly key: string;
  readonly label: string;
  readonly run: () => void;
}

const keys = signal<readonly Key[]>([]);
const isShown = signal(false);

/** Runs something at a key for as long as the component is shown; `?` lists it with its label. */
export function useKey(key: string, label: string, run: () => void): void {
  useEffect(() => {
    const entry = { key, label, run };
    keys.value = [...keys.value, entry];
    return () => {
      keys.value = keys.value.filter((one) => one !== entry);
    };
  }, [key, label]);
}

export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]') !== null)
      return;
    const found = keys.value.findLast((one) => one.key === key);
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

/** Lists the keys. */
export function KeysDialog() {
  useKey('?', 'Show the keys', () => {
    isShown.value = true;
  });
  return (
    <Dialog
      title="Keys"
      isOpen={isShown.value}
      onClose={() => {
        isShown.value = false;
      }}
    >
      <dl class="keys">
        {keys.value.map(({ key, label }) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>Close a dialog</dd>
        </div>
      </dl>
    </Dialog>
  );
}
