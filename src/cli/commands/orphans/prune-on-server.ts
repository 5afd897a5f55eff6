import { invalidInput } from '../../../model/errors.ts';
import { parseScopeKey, type ScopeKey } from '../../../model/ids.ts';
import type { Pruned } from '../../../model/manual.ts';
import type { PlanDocument } from '../../../model/plan-document.ts';
import { safeLine, safeText } from '../../../model/text.ts';
import { openServer, type ServerClient } from '../../server/client.ts';
import { refuseLimits } from '../../server/plan.ts';
import type { Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { openOutputs } from '../../session/outputs.ts';
import type { PlanOptions } from '../../session/planning-options.ts';
import { planTextFor, worstOf } from '../../session/plan-view.ts';
import { confirm, writeJson } from '../../terminal/terminal.ts';
import { count } from '../../terminal/text.ts';
import { requiredReason } from '../ledger/words.ts';
import { endOfPlan } from '../saved/agreed.ts';

export interface PruneOnServerOptions extends PlanOptions {
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Has a running controller remove what is orphaned in one application, exactly as the plan that is shown. */
export async function pruneOnServer(
  names: readonly string[],
  options: PruneOnServerOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { terminal } = surroundings;
  const isDryRun = options.dryRun === true;
  refuseLimits(options);
  const scope = onlyScope(names);
  if (!isDryRun) refuseFormat(options);
  const reason = isDryRun ? '' : requiredReason(options.reason);
  const outputs = openOutputs(options, surroundings);
  const server = openServer(options, surroundings);
  const plan = (await server.get(`${pathOf(scope)}/plan`, 'formatVersion')) as PlanDocument;
  const report = { plan, applied: undefined };
  const isText = options.output === 'text';
  if (isText || isDryRun) await outputs.show(report, new Map());
  const { exitCode, isExpected } = endOfPlan(plan, options, surroundings);
  const planned = await outputs.keep(report, new Map(), exitCode);
  const isPlanned = isExpected && plan.refusals.length === 0 && plan.unobserved.length === 0;
  const removals = plan.scopes.reduce((sum, { actions }) => sum + actions.length, 0);
  if (isDryRun || !isPlanned || removals === 0) return planned;
  if (options.yes !== true && options.expect === undefined) {
    if (!isText && terminal.ask !== undefined) terminal.err.write(planTextFor(plan, options, terminal.err));
    if (!(await confirm(terminal, `Apply ${count(removals, 'change')} to ${scope}?`, '--yes, or --expect DIGEST,'))) {
      terminal.err.write('Nothing was removed.\n');
      return EXIT.ok;
    }
  }
  const pruned = await prune(server, scope, { digest: plan.digest, reason });
  if (isText) terminal.out.write(safeText(textOf(pruned)));
  else writeJson(pruned, terminal);
  return worstOf([planned, exitCodeOf(pruned)]) ?? EXIT.ok;
}

async function prune(server: ServerClient, scope: ScopeKey, body: object): Promise<Pruned> {
  return (await server.post(`${pathOf(scope)}/prune`, 'results', body)) as Pruned;
}

function pathOf(scope: ScopeKey): string {
  return `orphans/${scope.split('/').map(encodeURIComponent).join('/')}`;
}

function textOf({ scope, results, left, error }: Pruned): string {
  const done = results.filter(({ status }) => status === 'done').length;
  const lines = [
    ...results.map(({ status, summary, message }) => `${status}  ${summary}${status === 'done' ? '' : `: ${message}`}`),
    ...(error === null ? [] : [error]),
    `${done} of ${count(results.length, 'removal')} done in ${scope}, ${left} left.`,
  ];
  return lines.map((line) => `${safeLine(line)}\n`).join('');
}

function exitCodeOf({ results, error }: Pruned): ExitCode {
  if (results.some(({ status }) => status === 'in-doubt')) return EXIT.held;
  return error === null && results.every(({ status }) => status === 'done') ? EXIT.ok : EXIT.failed;
}

function onlyScope([name = '', ...more]: readonly string[]): ScopeKey {
  const scope = parseScopeKey(name);
  if (scope !== undefined && more.length === 0) return name;
  throw invalidInput(
    'cli/no-scope',
    `${more.length > 0 ? 'Several applications were named' : `${name} is not a scope`}. Nothing was removed.`,
    'With --server, name one application: platform/team/region/appId, as portolan orphans shows it.',
  );
}

function refuseFormat({ output }: PruneOnServerOptions): void {
  if (output === 'text' || output === 'json') return;
  throw invalidInput(
    'cli/format-of-plan',
    `-o ${output} shows a plan, not what a controller removed. Nothing was removed.`,
    'Add --dry-run for the plan, or use -o text or -o json.',
  );
}
