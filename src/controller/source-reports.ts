import type { SourceLedger } from '../ledger/source-ledger.ts';
import type { JsonObject } from '../model/json.ts';
import type { Problem } from '../model/problem.ts';
import type { SourceProblem, StatusError } from '../model/status.ts';
import type { AcceptedSource } from './acceptance.ts';

/** Problems of a commit that are shown. */
const SHOWN_MAX = 20;

export const NOT_READ = {
  code: 'source/not-read-yet',
  remedy: 'Portolan retries automatically. Check that the source can be reached if this lasts.',
};

/** Further parts of the event of a problem of the source, besides its message. */
export interface SourceReport {
  /** Further text, with a blank before it. */
  readonly note: string;
  readonly detail: JsonObject;
}

/**
 * Returns how a problem of the source is reported; undefined: it was reported. A problem of a former leader is reported once more, with its
 * time, because that leader may have ended before its event was stored or sent.
 * @param known the problem so far. @param isOfFormer a former leader found it, and this process has not decided before.
 */
export function reportOf(known: StatusError | null, message: string, isOfFormer: boolean): SourceReport | undefined {
  if (known?.message !== message) return { note: '', detail: {} };
  if (!isOfFormer) return undefined;
  const note = ` It was found at ${new Date(known.atMs).toISOString()}, before this replica led the source.`;
  return { note, detail: { sinceMs: known.atMs } };
}

/** Returns a message about a source that is not accepted, with the revision that stays in effect. */
export async function withStanding(
  message: string,
  accepted: Pick<AcceptedSource, 'revision'> | undefined,
  { ledger, source }: SourceLedger,
): Promise<string> {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  if (accepted !== undefined) return `${sentence} Still running ${accepted.revision}.`;
  const last = await ledger.lastSnapshot(source);
  return last === undefined
    ? `${sentence} No revision was accepted before, so nothing is applied.`
    : `${sentence} The last accepted revision stays in effect.`;
}

/** Returns the first problems of a commit as statuses and events show them. */
export function shownProblems(problems: readonly Problem[]): readonly SourceProblem[] {
  return problems.slice(0, SHOWN_MAX).map(({ code, message, position: { file, line, column } }) => {
    return { code, file, line, column, message };
  });
}
