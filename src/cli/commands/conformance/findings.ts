import type { Area, Exchange, Finding } from './report.ts';

/** Collects the findings of one area. The exchanges of a check are those since the previous check. */
export type Findings = ReturnType<typeof createFindings>;

/** More exchanges would hide the important ones. */
const EXCHANGES_MAX = 12;

/** @param take returns the exchanges since its last call. */
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
