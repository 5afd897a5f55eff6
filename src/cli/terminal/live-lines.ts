import packageFile from '../../../package.json' with { type: 'json' };
import type { ApplyEvent } from '../../reconcile/apply/world.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { PlanDocument } from '../../model/plan-document.ts';
import { appliedLines, jsonLine, planLines, resultLine, versionLine } from '../../report/jsonl.ts';
import type { PlanLine } from '../../report/report-schema.ts';
import type { PlanReport } from '../../plan/report.ts';
import type { ActionResult } from '../../plan/result.ts';
import type { Surroundings } from '../session/command.ts';

export type LiveLines = ReturnType<typeof openLiveLines>;

/** Writes `-o jsonl` of an apply: each line as soon as it is known. */
export function openLiveLines({ terminal, clock }: Pick<Surroundings, 'terminal' | 'clock'>) {
  const written = new Set<ActionResult>();
  let hasPlan = false;
  const write = (...lines: readonly PlanLine[]): void => terminal.out.write(lines.map(jsonLine).join(''));
  const plan = (document: PlanDocument): void => {
    if (!hasPlan) write(...planLines(document));
    hasPlan = true;
  };
  write(versionLine(packageFile.version));
  return {
    plan,
    emit(event: ApplyEvent): void {
      if (event.type === 'finished') written.add(event.result);
      write(lineOf(event, clock.now()));
    },
    /** Writes the lines that were not written yet. */
    end(report: PlanReport): void {
      plan(report.plan);
      if (report.applied !== undefined) write(...appliedLines(report.applied, (result) => written.has(result)));
    },
  };
}

function lineOf(event: ApplyEvent, atMs: number): PlanLine {
  switch (event.type) {
    case 'started':
      return { type: 'started', atMs, resource: event.action.resource, action: event.action.id };
    case 'finished':
      return resultLine(event.result);
    case 'resolved':
      return { type: 'resolved', atMs, resource: event.resource, intent: event.intent, how: event.how };
    case 'waiting':
      return { type: 'waiting', atMs, message: event.message, untilMs: event.untilMs };
    default:
      return unreachable(event);
  }
}
