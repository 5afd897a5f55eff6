import type { Json } from '../../../model/json.ts';

export const AREAS = ['reads', 'ports', 'rules', 'installs', 'workflows', 'lost-answers'] as const;
export type Area = (typeof AREAS)[number];

/** One request and its answer, without headers. */
export interface Exchange {
  readonly request: string;
  readonly body: Json | null;
  /** null: no answer came. */
  readonly status: number | null;
  /** At most 1,000 characters; empty for listings that may hold secrets of the server. */
  readonly answer: string;
}

/** `differs`: the server does something that Portolan does not expect. `failed`: the check itself could not be carried out. */
export type FindingVerdict = 'conforms' | 'differs' | 'failed' | 'skipped';

export interface Finding {
  readonly area: Area;
  readonly id: string;
  readonly title: string;
  readonly verdict: FindingVerdict;
  /** Empty where the server conforms. */
  readonly expected: string;
  readonly observed: string;
  /** What led to a difference, oldest first. */
  readonly exchanges: readonly Exchange[];
}

/** Collects the findings of one area. A check is about what was exchanged since the check before it. */
export type Findings = ReturnType<typeof createFindings>;

/** More exchanges would hide what matters. */
const EXCHANGES_MAX = 12;

/** @param take gives the exchanges since it was called last. */
export function createFindings(area: Area, all: Finding[], take: () => readonly Exchange[]) {
  /** @param id within the area; empty: the area itself. */
  const add = (id: string, finding: Omit<Finding, 'area' | 'id'>): void => {
    all.push({ area, id: id === '' ? area : `${area}/${id}`, ...finding });
  };
  return {
    /** Compares two texts. @returns whether they are equal. */
    check(id: string, title: string, expected: string, observed: string): boolean {
      const exchanges = take().slice(-EXCHANGES_MAX);
      const conforms = expected === observed;
      if (conforms) add(id, { title, verdict: 'conforms', expected: '', observed: '', exchanges: [] });
      else add(id, { title, verdict: 'differs', expected, observed, exchanges });
      return conforms;
    },
    skip(id: string, title: string, why: string): void {
      add(id, { title, verdict: 'skipped', expected: '', observed: why, exchanges: [] });
    },
    fail(id: string, title: string, error: string): void {
      add(id, { title, verdict: 'failed', expected: '', observed: error, exchanges: take().slice(-EXCHANGES_MAX) });
    },
  };
}
