import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface SteadyRows<Row> {
  /** Rows to show, with their newest values. */
  readonly rows: readonly Row[];
  /** Number of new rows that wait. */
  readonly waiting: number;
  /** Rows wait, or rows that are shown are gone or have moved. */
  readonly isBehind: boolean;
  readonly showAll: () => void;
  /** For the element that holds the rows. */
  readonly listRef: (element: HTMLElement | null) => void;
}

/**
 * Keeps rows from moving under a pointer: they come, go and change their order only while the pointer and the focus are elsewhere
 * and the top of the list is in sight. Otherwise the change waits behind a button. Values in the rows always change at once.
 * @param holds always lets changes wait, for example while a list is paused.
 * @param list identifies the list: the rows of another one show at once.
 */
export function useNewRows<Row>(
  all: readonly Row[],
  keyOf: (row: Row) => string,
  { holds = false, list: name = '' }: { readonly holds?: boolean; readonly list?: string } = {},
): SteadyRows<Row> {
  const list = useRef<HTMLElement | null>(null);
  const [{ rows: shown, name: shownName }, setShown] = useState({ rows: all, name });
  const isSame = shownName !== name || sameKeys(shown, all, keyOf);
  const waits = !isSame && shown.length > 0 && (holds || isInUse(list.current));
  useEffect(() => {
    if (!waits && (shown !== all || shownName !== name)) setShown({ rows: all, name });
  });
  const newest = new Map(all.map((row) => [keyOf(row), row]));
  const known = new Set(shown.map(keyOf));
  return {
    rows: waits ? shown.map((row) => newest.get(keyOf(row)) ?? row) : all,
    waiting: waits ? all.filter((row) => !known.has(keyOf(row))).length : 0,
    isBehind: waits,
    showAll: () => setShown({ rows: all, name }),
    listRef: (element) => {
      list.current = element;
    },
  };
}

function isInUse(element: HTMLElement | null): boolean {
  if (element === null) return false;
  return element.matches(':hover, :focus-within') || element.getBoundingClientRect().top < 0;
}

function sameKeys<Row>(left: readonly Row[], right: readonly Row[], keyOf: (row: Row) => string): boolean {
  return left.length === right.length && left.every((row, at) => keyOf(row) === keyOf(right[at] as Row));
}

/** The button behind which changes of a list wait. */
export function NewRows({ rows: { waiting, isBehind, showAll } }: { readonly rows: Omit<SteadyRows<never>, 'rows'> }) {
  return (
    <div class="new-rows" role="status">
      {isBehind ? (
        <button type="button" onClick={showAll}>
          <Icon name={waiting === 0 ? 'sync' : 'new'} />
          {waiting === 0 ? 'Update the list' : `${waiting} new`}
        </button>
      ) : null}
    </div>
  );
}
