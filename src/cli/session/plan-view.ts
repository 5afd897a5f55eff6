import { styleText } from 'node:util';
import { hasChanges, type PlanDocument } from '../../plan/document.ts';
import { compactStyle, isLong } from '../../report/compact.ts';
import { FULL, type Paint, type PlanStyle, renderPlanText, type TextRole } from '../../report/text.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { own, type Output } from '../terminal/terminal.ts';
import { fit } from '../terminal/text.ts';

const STYLES: Readonly<Record<TextRole, Parameters<typeof styleText>[0]>> = {
  create: 'green',
  update: 'yellow',
  delete: 'red',
  hold: ['bold', 'magenta'],
  note: 'cyan',
  dim: 'dim',
  title: 'bold',
};

/** Placeholder between the escape sequences of a style. */
const TEXT = 'text';

/** Returns a function that colours a plan, on outputs that have colour. */
export function paintFor(output: Output): Paint {
  if (!output.color) return (_role, text) => text;
  return (role, text) => {
    const [begin = '', end = ''] = styleText(STYLES[role], TEXT, { validateStream: false }).split(TEXT);
    return `${own(output, begin)}${text}${own(output, end)}`;
  };
}

/** `--compact` and `--no-compact`; undefined: neither is given. */
export interface CompactFlag {
  readonly compact?: boolean | undefined;
}

/** Returns how a plan is shown: on a terminal, a long one in compact form. A program gets all of it, unless a flag says otherwise. */
export function styleFor(plan: PlanDocument, { compact }: CompactFlag, output?: Output): PlanStyle {
  const isTerminal = output?.isTerminal === true;
  if (!(compact ?? (isTerminal && isLong(plan)))) return FULL;
  return compactStyle((line) => (isTerminal ? fit(line, output.columns) : line));
}

/** Returns a plan for people, as `output` can show it. */
export function planTextFor(plan: PlanDocument, flag: CompactFlag, output: Output): string {
  return renderPlanText(plan, paintFor(output), styleFor(plan, flag, output));
}

/** Returns the exit code of a plan that is only shown. */
export function planExitCode(document: PlanDocument, detailedExitcode: boolean): ExitCode {
  const failed = worstOf(document.unobserved.map(({ disposition }) => exitCodeOf(disposition)));
  if (failed !== undefined) return failed;
  if (document.refusals.length > 0 || document.summary.held > 0) return EXIT.held;
  return detailedExitcode && hasChanges(document) ? EXIT.changesPending : EXIT.ok;
}

/** Returns the exit code that best explains why a run is incomplete: unreachable before failed before held. */
export function worstOf(codes: readonly ExitCode[]): ExitCode | undefined {
  const { interrupted, locked, invalid, unreachable, failed, held } = EXIT;
  return [interrupted, locked, invalid, unreachable, failed, held].find((code) => codes.includes(code));
}
