import { Option } from '@commander-js/extra-typings';
import type { ResourceId } from '../model/ids.ts';
import type { ScopePlan } from '../model/plan.ts';
import type { Prepared } from '../reconcile/reconcile.ts';
import type { Survey } from '../reconcile/survey.ts';
import type { CommandDefinition, Surroundings } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import {
  configOption,
  filenameOption,
  ledgerOption,
  logFormatOption,
  logLevelOption,
  outputOption,
  revisionOption,
  sourceOption,
  varFileOption,
  varOption,
} from './options.ts';
import { parallelismOption } from './pass-options.ts';
import { planExitCode } from './plan-view.ts';
import { requiredServer, type ServerFlags, serverOption, tokenFileOption } from './server/options.ts';
import { type SessionOptions, silentHooks, surveyAll, withSession } from './session.ts';
import { renderTable } from './table.ts';
import { safeLine } from '../model/text.ts';

const EXAMPLES = `
Examples:
  portolan status -f manifests/
  portolan status --server http://127.0.0.1:7780 --watch     # of a running controller
  portolan status -f manifests/ -o json | jq '.resources[] | select(.state != "InSync")'`;

export const statusCommand: CommandDefinition = {
  define(command, invoke) {
    command
      .addOption(filenameOption())
      .addOption(revisionOption())
      .addOption(configOption())
      .addOption(ledgerOption())
      .addOption(sourceOption())
      .addOption(serverOption())
      .addOption(tokenFileOption())
      .addOption(new Option('--watch', 'with --server: show it again whenever it changes, until interrupted'))
      .addOption(varOption())
      .addOption(varFileOption())
      .addOption(outputOption(['text', 'json']))
      .addOption(parallelismOption())
      .addOption(logLevelOption())
      .addOption(logFormatOption())
      .addHelpText('after', EXAMPLES)
      .action((options) => invoke((surroundings) => statusHereOrThere(options, surroundings)));
  },
};

type StatusOptions = SessionOptions &
  ServerFlags & { readonly output: 'text' | 'json'; readonly watch?: boolean | undefined };

/** The packages for talking to a server are loaded only where there is one. */
async function statusHereOrThere(options: StatusOptions, surroundings: Surroundings): Promise<ExitCode> {
  if (options.server !== undefined) {
    const { statusOfServer } = await import('./server/status.ts');
    return statusOfServer(options, surroundings);
  }
  // What has to be watched is a controller: this command reads the platform once.
  if (options.watch === true) requiredServer(undefined);
  return status(options, surroundings);
}

/** How a resource stands. `Unknown`: it was not compared, because its application could not be read or it is suspended. */
type State = 'InSync' | 'OutOfSync' | 'Held' | 'Waiting' | 'Suspended' | 'Reported' | 'Unknown';

interface Row {
  readonly application: string;
  readonly resource: ResourceId;
  readonly state: State;
  readonly reason: string;
}

/** Reads only, like `plan`; a line per resource in place of its changes. */
function status(
  options: SessionOptions & { readonly output: 'text' | 'json' },
  surroundings: Surroundings,
): Promise<ExitCode> {
  return withSession(options, surroundings, true, async (session) => {
    const survey = await surveyAll(session, silentHooks);
    const rows = rowsOf(survey);
    const { out } = surroundings.terminal;
    if (options.output === 'json')
      out.write(
        `${JSON.stringify({ formatVersion: 1, revision: survey.document.revision, digest: survey.document.digest, resources: rows }, null, 2)}\n`,
      );
    else out.write(`${table(rows)}${remedies(survey)}`);
    return planExitCode(survey.document, false);
  });
}

function rowsOf({ prepared, errors }: Survey): Row[] {
  const lost = errors.map(
    ({ application, error }): Row => ({
      application,
      resource: application as ResourceId,
      state: 'Unknown',
      reason: error.message,
    }),
  );
  return [...prepared.flatMap(scopeRows), ...lost];
}

function scopeRows({ work, plan, waits }: Prepared): Row[] {
  const application = work.application.id;
  const head: Row = {
    application,
    resource: application,
    state: worst(plan, waits.length),
    reason: `${plan.scope.team}/${plan.scope.region}/${plan.scope.appId}`,
  };
  const rows = [...work.resources.keys()]
    .sort()
    .map((resource): Row => ({ application, resource, ...standing(resource, plan, waits) }));
  return [head, ...rows];
}

function worst(plan: ScopePlan, waits: number): State {
  if (plan.holds.length > 0) return 'Held';
  if (plan.actions.length > 0) return 'OutOfSync';
  if (plan.deferred.length + waits > 0) return 'Waiting';
  const aside = plan.notes.find((note) => note.code.startsWith('reconcile/'));
  return aside === undefined ? 'InSync' : asideState(aside.code);
}

function asideState(code: string): State {
  return code === 'reconcile/suspended' ? 'Suspended' : 'Reported';
}

function standing(resource: ResourceId, plan: ScopePlan, waits: Prepared['waits']): Pick<Row, 'state' | 'reason'> {
  const hold = plan.holds.find((one) => one.resource === resource);
  if (hold !== undefined) return { state: 'Held', reason: `${hold.code}: ${hold.message}` };
  const actions = plan.actions.filter((one) => one.resource === resource);
  if (actions.length > 0)
    return {
      state: 'OutOfSync',
      reason: `${[...new Set(actions.map((one) => one.cause))].join(', ')}: ${actions.map((one) => one.summary).join('; ')}`,
    };
  const waiting = [
    ...waits.filter((one) => one.resource === resource).map((one) => one.message),
    ...plan.deferred.filter((one) => one.resource === resource).map((one) => `waits for ${one.waitsFor}`),
  ];
  if (waiting[0] !== undefined) return { state: 'Waiting', reason: waiting[0] };
  const note = plan.notes.find((one) => one.resource === resource && one.code.startsWith('reconcile/'));
  if (note !== undefined) return { state: asideState(note.code), reason: note.message };
  return plan.inSync.includes(resource)
    ? { state: 'InSync', reason: '' }
    : { state: 'Unknown', reason: 'not compared' };
}

/** What to do about each thing that waits for a person, below the table. */
function remedies({ prepared, errors, document }: Survey): string {
  const lines = [
    ...errors.map(({ application, error }) => `${application}: ${error.remedy}`),
    ...prepared.flatMap(({ plan }) => plan.holds.map((hold) => `${hold.resource}: ${hold.remedy}`)),
    ...document.notes.map((note) => note.message),
  ];
  return lines.length === 0 ? '' : `\n${lines.map((line) => `→ ${safeLine(line)}\n`).join('')}`;
}

function table(rows: readonly Row[]): string {
  if (rows.length === 0) return 'The manifests name no application.\n';
  return renderTable(
    ['resource', 'state', 'reason'],
    rows.map((row) => [row.resource === row.application ? row.resource : `  ${row.resource}`, row.state, row.reason]),
  );
}
