import type { ControllerApi } from '../controller/api.ts';
import { problem, RequestProblem } from './problem.ts';

/**
 * Where a reader of the events is. Sequences begin anew with each process, so a place in them carries the start of its
 * process: after a restart nobody goes on in the middle of other events.
 */
export function positionAt(api: ControllerApi, sequence: number): string {
  return `${api.startedMs}-${sequence}`;
}

/**
 * @returns the sequence to go on after, and whether events between there and here may be missing.
 * @throws RequestProblem for a text that is no position.
 */
export function sequenceAt(
  api: ControllerApi,
  position: string,
): { readonly sequence: number; readonly isOfThisProcess: boolean } {
  const [, started, sequence] = /^([0-9]{1,16})-([0-9]{1,15})$/.exec(position) ?? [];
  if (started === undefined || sequence === undefined) throw badPosition();
  if (Number(started) !== api.startedMs) return { sequence: 0, isOfThisProcess: false };
  return { sequence: Math.min(Number(sequence), api.events.newest), isOfThisProcess: true };
}

function badPosition(): RequestProblem {
  return new RequestProblem(
    problem(400, {
      code: 'server/bad-position',
      detail: 'Last-Event-ID (or after) is none that this server gave out.',
      remedy: 'Pass the id of the last event as it was, or leave it out to begin with what happens now.',
    }),
  );
}
