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

/** Collects findings. A check is about what was exchanged since the check before it. */
export interface Findings {
  readonly all: readonly Finding[];
  /** Compares two texts. @returns whether they are equal. */
  check(id: string, title: string, expected: string, observed: string): boolean;
  skip(id: string, title: string, why: string): void;
  fail(id: string, title: string, error: string): void;
}

/** @param take gives the exchanges since it was called last. */
export function createFindings(area: Area, all: Finding[], take: () => readonly Exchange[]): Findings {
  const add = (finding: Omit<Finding, 'area'>): void => {
    all.push({ area, ...finding });
  };
  return {
    all,
    check(id, title, expected, observed) {
      const exchanges = take();
      const conforms = expected === observed;
      if (conforms) add({ id, title, verdict: 'conforms', expected: '', observed: '', exchanges: [] });
      else add({ id, title, verdict: 'differs', expected, observed, exchanges: exchanges.slice(-EXCHANGES_MAX) });
      return conforms;
    },
    skip(id, title, why) {
      add({ id, title, verdict: 'skipped', expected: '', observed: why, exchanges: [] });
    },
    fail(id, title, error) {
      add({ id, title, verdict: 'failed', expected: '', observed: error, exchanges: take().slice(-EXCHANGES_MAX) });
    },
  };
}

/** More would hide what matters. */
const EXCHANGES_MAX = 12;
