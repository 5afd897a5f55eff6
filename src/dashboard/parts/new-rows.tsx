import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface ShownRows<Row> {
  /** Rows to show, with their newest values. */
  readonly rows: readonly Row[];
  /** Number of new rows that wait. */
  readonly waiting: number;
  readonly showAll: () => void;
  /** For the element that holds the rows. */
  readonly listRef: (element: HTMLElement | null) => void;
}

/**
 * Keeps rows from moving under a pointer: new ones appear by themselves only while the pointer and the focus are elsewhere and
 * the top of the list is in sight. Otherwise they wait behind a button that says how many there are.
 * @param holds always lets new rows wait, for example while a list is paused.
 */
export function useNewRows<Row>(
  all: readonly Row[],
  keyOf: (row: Row) => string,
  { holds = false, reset = '' }: { holds?: boolean; reset?: string } = {},
): ShownRows<Row> {
  const list = useRef<HTMLElement | null>(null);
  const [shown, setShown] = useState<{ reset: string; keys: ReadonlySet<string> }>();
  const keys = new Set(all.map(keyOf));
  const isBusy = (): boolean => {
    const element = list.current;
    if (element === null) return false;
    return element.matches(':hover, :focus-within') || element.getBoundingClientRect().top < 0;
  };
  const isFirst = shown === undefined || shown.reset !== reset || shown.keys.size === 0;
  const waits = !isFirst && (holds || isBusy());
  const visible = waits ? all.filter((row) => shown.keys.has(keyOf(row))) : all;
  useEffect(() => {
    if (!waits) setShown((was) => (was?.reset === reset && isSame(was.keys, keys) ? was : { reset, keys }));
  });
  return {
    rows: visible,
    waiting: all.length - visible.length,
    showAll: () => setShown({ reset, keys }),
    listRef: (element) => {
      list.current = element;
    },
  };
}

function isSame(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && left.isSubsetOf(right);
}

/** The button behind which new rows wait. It keeps its height when there are none, so that nothing moves. */
export function NewRows({ waiting, onShow }: { readonly waiting: number; readonly onShow: () => void }) {
  return (
    <div class="new-rows" role="status">
      {waiting === 0 ? null : (
        <button type="button" onClick={onShow}>
          <Icon name="new" />
          {waiting} new
        </button>
      )}
    </div>
  );
}
