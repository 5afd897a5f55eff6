import { invalidInput } from '../../../model/errors.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { HistoryRow, Intent } from '../../../model/owned.ts';
import type { EpochMs } from '../../../model/time.ts';
import { safeLine, safeText } from '../../../model/text.ts';
import { renderTable } from '../../terminal/table.ts';
import { type Output, type Terminal, writeJson } from '../../terminal/terminal.ts';
import { shellWord, shortOnTerminal, textOfLines } from '../../terminal/text.ts';
import type { LedgerOptions } from './opening.ts';
import { type SettleState, settleStateOf, windowLeftMs } from '../../../reconcile/resolution/settle-window.ts';
import { type Timing, timingOf } from '../../../reconcile/apply/world.ts';
import type { Action } from '../../../model/plan.ts';
import { unreachable } from '../../../model/unreachable.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Surroundings } from '../../session/command.ts';
import { readConfiguration } from '../../session/configuration.ts';

/** Returns a time such as `2026-11-20T13:51:46Z`. */
export function instant(ms: EpochMs): string {
  return new Date(ms).toISOString().replace(/\.000Z$/, 'Z');
}

/** Returns JSON in a short form for people, such as `weight=50 path=/`. */
export function pairs(value: Json): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return word(value);
  return Object.entries(value as JsonObject)
    .map(([key, member]) => `${key}=${word(member)}`)
    .join(' ');
}

function word(value: Json | undefined): string {
  return typeof value === 'string' && /^[^\s"={}[\]]+$/.test(value) ? value : JSON.stringify(value ?? null);
}

/** Returns the flag ` --ledger FILE` for suggested commands; '' for the default ledger. */
export function ledgerFlag({ ledger }: LedgerOptions): string {
  return ledger === undefined ? '' : ` --ledger ${shellWord(ledger)}`;
}

/** Returns the two commands that resolve an intent, ready to be copied. */
export function resolveCommands(intent: string, options: LedgerOptions): { applied: string; notApplied: string } {
  const command = (flag: string): string =>
    `portolan ledger resolve ${shellWord(intent)} ${flag} --reason "…"${ledgerFlag(options)}`;
  return { applied: command('--applied'), notApplied: command('--not-applied') };
}

const DETAIL_WIDTH_MAX = 120;

/** Returns a table of history lines. @param severalScopes adds a column for the scope. */
export function historyTable(rows: readonly HistoryRow[], severalScopes: boolean, out: Output): string {
  const headers = ['at', ...(severalScopes ? ['scope'] : []), 'event', 'object', 'by', 'detail'];
  const cells = rows.map((row) => [
    instant(row.atMs),
    ...(severalScopes ? [row.scope] : []),
    row.event,
    row.uid === null ? undefined : withoutScope(row.uid, row.scope),
    row.actor,
    shortOnTerminal(pairs(row.detail), DETAIL_WIDTH_MAX, out),
  ]);
  return renderTable(headers, cells, out);
}

/** Returns a uid without its scope, which is shown elsewhere: `default:Component:port/…`. */
function withoutScope(uid: string, scope: string): string {
  return uid.replace(`:${scope}:`, ':');
}

/** Writes a result in the requested format. Text has its warnings on stderr; JSON includes them in the result. */
export function writeResult(
  { output }: { readonly output: 'text' | 'json' },
  { terminal }: { readonly terminal: Pick<Terminal, 'out' | 'err'> },
  result: object,
  text: string,
  warnings: readonly string[] = [],
): void {
  if (output === 'json') return writeJson(result, terminal);
  terminal.out.write(text);
  for (const warning of warnings) terminal.err.write(`warning: ${safeText(warning)}\n`);
}

/** Returns the reason without spaces around it. @throws PortolanError `invalid` for an empty reason. */
export function requiredReason(reason: string | undefined): string {
  const said = reason?.trim() ?? '';
  if (said !== '') return said;
  throw invalidInput(
    'cli/no-reason',
    'No reason was given. Nothing was recorded.',
    'Pass --reason "…": the history keeps it with your name.',
  );
}

/** Holds what is needed to describe an intent in doubt. */
export interface DoubtView {
  readonly options: LedgerOptions;
  readonly timing: Timing;
  readonly clock: Clock;
}

/** Returns a view with the configured timing. Faults of the configuration are ignored, so that the ledger stays readable. */
export function doubtView(
  options: LedgerOptions & { readonly config?: string | undefined },
  surroundings: Surroundings,
): DoubtView {
  const { configuration } = readConfiguration(options.config, surroundings);
  return { options, timing: timingOf(configuration.settings), clock: surroundings.clock };
}

/** Returns text on an intent in doubt: the request, its settle window, and the commands that resolve it. */
export function doubtText(intent: Intent, view: DoubtView): string {
  const { id, operation, resource, scope, createdMs } = intent;
  const { summary } = intent.action as unknown as Partial<Action>;
  const { applied, notApplied } = resolveCommands(id, view.options);
  const lines = [
    `  ${id}  ${operation} for ${resource} in ${scope}`,
    ...(summary === undefined ? [] : [`    change      ${summary}`]),
    `    sent        ${instant(createdMs)}${intent.state === 'open' ? ', and its process has recorded no outcome' : ''}`,
    `    window      ${settleWindowText(intent, settleStateOf(intent, view.clock), view.timing)}`,
    `    applied     ${applied}`,
    `    not applied ${notApplied}`,
  ];
  return textOfLines(lines.map(safeLine));
}

function settleWindowText(intent: Intent, left: SettleState, timing: Timing): string {
  switch (left.type) {
    case 'over':
      return `over since ${instant(intent.settleMs)}: the next apply observes the platform and decides the outcome, if possible`;
    case 'until':
      return `${instant(left.untilMs)}: the request may still arrive until then, so observation proves nothing`;
    case 'restarted':
      return `${Math.round(windowLeftMs(intent, timing) / 1000)} s after the next apply finds it: the request may still arrive until then`;
    default:
      return unreachable(left);
  }
}

/** Returns the same as JSON. `at` is null until the settle window has started. */
export function doubtJson(intent: Intent, { options, clock }: DoubtView): object {
  const left = settleStateOf(intent, clock);
  const atMs = left.type === 'until' ? left.untilMs : left.type === 'over' ? intent.settleMs : undefined;
  return {
    ...intent,
    settles: { isOver: left.type === 'over', at: atMs === undefined ? null : new Date(atMs).toISOString() },
    resolve: resolveCommands(intent.id, options),
  };
}
