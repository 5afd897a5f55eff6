import type { Command } from '@commander-js/extra-typings';
import { silentHooks } from '../../reconcile/apply/world.ts';
import { groupByApplication } from '../../manifest/group.ts';
import { type ResourceId, scopeKey } from '../../model/ids.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { safeLine } from '../../model/text.ts';
import { planDocument } from '../../plan/document.ts';
import { renderPlanText } from '../../report/text.ts';
import { ledgerOperations, updateLedger } from '../../reconcile/ledger-view.ts';
import { observeOnly } from '../../reconcile/policies/observe-only.ts';
import type { Prepared } from '../../reconcile/reconcile.ts';
import { defineCommand, type OptionsOf, type Surroundings } from '../session/command.ts';
import { confirm, writeJson } from '../terminal/terminal.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../session/exit-codes.ts';
import { ledgerFileOption, ledgerPath } from './ledger/opening.ts';
import {
  addLogOptions,
  addVariableOptions,
  configOption,
  filenameOption,
  outputOption,
  parallelismOption,
  revisionOption,
  sourceOption,
} from '../session/options.ts';
import { known } from '../session/pass-options.ts';
import { paintFor, worstOf } from '../session/plan-view.ts';
import { acceptInput, type Session, surveyAll, withSession } from '../session/session.ts';
import { count } from '../terminal/text.ts';

const parameters = (command: Command) =>
  addLogOptions(
    addVariableOptions(
      command
        .argument('[resource...]', 'only these resources: Kind/name, or Application/NAME with all its resources')
        .addOption(filenameOption())
        .addOption(revisionOption())
        .addOption(configOption())
        .addOption(ledgerFileOption())
        .addOption(sourceOption()),
    )
      .addOption(outputOption(['text', 'json']))
      .option('--dry-run', 'show what would be adopted and record nothing')
      .option('-y, --yes', 'do not ask for confirmation')
      .addOption(parallelismOption()),
  );

type AdoptOptions = OptionsOf<typeof parameters>;

export const adoptCommand = defineCommand({
  about:
    'Compares manifests with the platform and records the existing resources that match as managed, so that later plans may change and prune them. Nothing is sent to the platform.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.locked, EXIT.interrupted],
  seeAlso: ['export', 'plan', 'ledger adopt'],
  examples: `
Adopts the resources that match their manifests exactly: rules and installs become managed, and ports are recorded with
their current values. An application that differs from its manifests in any field is shown and left out; apply changes it.

The annotation portolan/on-removal decides what happens to an adopted resource when its manifest is removed: leave (the
default) or restore.

Examples:
  portolan adopt -f manifests/ --dry-run
  portolan adopt -f manifests/ Application/shop
  portolan adopt -f manifests/ HttpGatewayRule/shop-www --yes
  portolan export --team team-a --to manifests/team-a && portolan adopt -f manifests/team-a`,
  parameters,
  run(surroundings, options, [resources]) {
    ledgerPath(options);
    return withSession(
      { ...options, adopt: true },
      surroundings,
      options.dryRun === true,
      (session) => adopt(resources, options, limitSession(session, resources), surroundings),
      'adopt',
    );
  },
});

/** Holds the objects of one application that can be recorded, or the plan that shows why it cannot. */
interface Adoption {
  readonly prepared: Prepared;
  readonly differs: boolean;
  readonly objects: readonly OwnedObject[];
}

/** Returns the session limited to the named resources. An Application includes all of its resources. */
function limitSession(session: Session, resources: readonly string[]): Session {
  if (resources.length === 0) return session;
  const { desired } = session.input;
  const named = new Set(known(resources, desired, 'The command line'));
  const targets = new Set<ResourceId>(named);
  for (const { application, resources: its } of groupByApplication(desired))
    if (named.has(application.id)) for (const { id } of its) targets.add(id);
  const works = session.works.filter(
    (work) => named.has(work.application.id) || [...work.resources.keys()].some((id) => targets.has(id)),
  );
  return { ...session, works, options: { ...session.options, targets } };
}

async function adopt(
  resources: readonly string[],
  options: AdoptOptions,
  session: Session,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { terminal } = surroundings;
  const survey = await surveyAll(session, silentHooks);
  const adoptions = await Promise.all(
    survey.prepared.map((prepared) => prepareAdoption(prepared, session, survey.isRefused)),
  );
  const good = adoptions.filter(({ differs, objects }) => !differs && objects.length > 0);
  const objects = good.flatMap((adoption) => adoption.objects);
  const left = adoptions.filter(({ differs }) => differs).map(({ prepared }) => prepared);
  const exitCode =
    worstOf([
      ...survey.errors.map(({ error }) => exitCodeOf(error.disposition)),
      ...(left.length > 0 ? [EXIT.held] : []),
    ]) ?? EXIT.ok;
  if (options.output === 'text') {
    showAdoptions(good, surroundings);
    showDifferences(left, survey.document, resources, surroundings);
  }
  const needsConfirmation = objects.length > 0 && options.dryRun !== true;
  const question = `Record ${count(objects.length, 'object')} of ${count(good.length, 'application')}?`;
  const isRecorded = needsConfirmation && (options.yes === true || (await confirm(terminal, question, '--yes')));
  if (isRecorded) {
    await acceptInput(session, 'adopt');
    for (const { prepared } of good) await recordObjects(prepared, session);
  }
  if (options.output === 'json') {
    const shown = objects.map(({ uid, resource, origin, naturalKey }) => ({ uid, resource, origin, naturalKey }));
    const { unobserved } = survey.document;
    const plans = left.map(({ plan }) => plan);
    writeJson({ recorded: isRecorded, objects: shown, left: plans, exitCode, unobserved }, terminal);
  } else terminal.out.write(summarize(objects.length, left.length + survey.errors.length, isRecorded));
  return exitCode;
}

async function prepareAdoption(prepared: Prepared, session: Session, isRefused: boolean): Promise<Adoption> {
  const { plan, waits, refusals } = prepared;
  const differs = isRefused || plan.actions.length + plan.holds.length + waits.length + refusals.length > 0;
  const world = session.world(prepared.work, silentHooks);
  const operations = differs ? [] : await ledgerOperations(world, withoutForgotten(prepared));
  return { prepared, differs, objects: operations.flatMap((each) => (each.op === 'put-object' ? [each.object] : [])) };
}

/** Returns the application without the objects to forget: resources removed from git are not adopted. */
function withoutForgotten(prepared: Prepared): Prepared {
  return { ...prepared, ledgerUpdates: { ...prepared.ledgerUpdates, forget: [] } };
}

/** Records the objects of one application. Resources that wait for an install are observed after it is recorded. */
async function recordObjects(prepared: Prepared, session: Session): Promise<void> {
  const world = session.world(prepared.work, silentHooks);
  await updateLedger(world, withoutForgotten(prepared));
  if (prepared.plan.deferred.length === 0) return;
  const next = await observeOnly(prepared.work, world, session.options);
  if (!(await prepareAdoption(next, session, false)).differs) await updateLedger(world, withoutForgotten(next));
}

function showAdoptions(adoptions: readonly Adoption[], { terminal: { out } }: Surroundings): void {
  const paint = paintFor(out);
  for (const { prepared, objects } of adoptions) {
    const { application, scope, deferred } = prepared.plan;
    out.write(`${paint('title', safeLine(application))}  ${paint('dim', safeLine(scopeKey(scope)))}\n`);
    for (const [resource, its] of Map.groupBy(objects, (object) => object.resource))
      out.write(`  ${paint('create', '+')} ${safeLine(resource)}  ${safeLine(describeObjects(its))}\n`);
    for (const { resource, waitsFor } of deferred)
      out.write(`  ${paint('update', '…')} ${safeLine(resource)} waits for ${safeLine(waitsFor)}\n`);
  }
}

function describeObjects(objects: readonly OwnedObject[]): string {
  const adopted = objects.find(({ origin }) => origin === 'adopted');
  if (adopted !== undefined) return `adopted as it is${adopted.remoteId === null ? '' : ` (${adopted.remoteId})`}`;
  const ports = objects.filter(({ naturalKey }) => naturalKey.startsWith('port/'));
  const numbers = ports.map(({ naturalKey }) => naturalKey.split('/')[2]);
  if (ports.length === 0) return 'recorded as it is';
  return `recorded as it is, with ${ports.length === 1 ? 'port' : 'ports'} ${numbers.join(', ')}`;
}

/** Shows the plans of applications that differ, and how to resolve the differences. */
function showDifferences(
  left: readonly Prepared[],
  document: ReturnType<typeof planDocument>,
  resources: readonly string[],
  { terminal: { out } }: Surroundings,
): void {
  if (left.length + document.unobserved.length === 0) return;
  const { source, revision, ledger, unobserved, refusals } = document;
  const scopes = left.map(({ plan }) => plan);
  const shown = planDocument({ source, revision, ledger, scopes, unobserved, refusals, notes: [] });
  out.write(`\n${renderPlanText(shown, paintFor(out))}`);
  if (left.length === 0) return;
  const differing = left.flatMap(({ plan }) => [...plan.actions, ...plan.holds].map(({ resource }) => resource));
  const flags =
    resources.length === 0 ? '--adopt' : [...new Set(differing)].map((id) => `--target ${id} --adopt ${id}`).join(' ');
  out.write(
    `Not adopted, because of differences from the manifests: ${left.map(({ plan }) => safeLine(plan.application)).join(', ')}.\n` +
      `  → Change the manifests to match the platform (portolan export writes them), or apply them: portolan apply -f … ${flags}\n` +
      '    To adopt only resources that match, name them: portolan adopt -f … Kind/name\n',
  );
}

function summarize(objects: number, left: number, recorded: boolean): string {
  const rest = left === 0 ? '' : ` ${count(left, 'application')} left out.`;
  if (recorded) return `${count(objects, 'object')} recorded. Nothing was sent to the platform.${rest}\n`;
  if (objects > 0) return `${count(objects, 'object')} can be recorded. Nothing was recorded.${rest}\n`;
  return `${left === 0 ? 'Everything is already recorded.' : 'Nothing was recorded.'}${rest}\n`;
}
