import { invalidInput, PortolanError } from '../../../model/errors.ts';
import { scopeKey } from '../../../model/ids.ts';
import { type Json, sameJson } from '../../../model/json.ts';
import type { Action, Note, ScopePlan } from '../../../model/plan.ts';
import type { Survey } from '../../../reconcile/survey.ts';
import type { Surroundings } from '../../session/command.ts';
import type { ExitCode } from '../../session/exit-codes.ts';
import { type Session, type SessionOptions, withSession } from '../../session/session.ts';
import { readRun, refused } from './past-run.ts';
import { restoration, type Restoration } from './restore.ts';

/** An undo that was prepared from the ledger. */
export interface Undo {
  /**
   * Adds what cannot be undone and what git will change back to the plan.
   * @throws PortolanError `ask-human` when the plan would do more than restore the values that the run left.
   */
  checked(survey: Survey): Survey;
}

/** Runs `work` in a session whose desired state reverts the run of `--undo`. */
export async function withUndo(
  run: string,
  options: SessionOptions,
  surroundings: Surroundings,
  readOnly: boolean,
  work: (session: Session, undo: Undo) => Promise<ExitCode>,
): Promise<ExitCode> {
  refuseFlags(options);
  try {
    return await withSession(options, surroundings, readOnly, async (session) => {
      const { declarations } = surroundings;
      const { ledger, kinds, source, input } = session;
      const past = await readRun(ledger, run, source);
      const objects = await ledger.objects({ source });
      const restored = restoration({
        run: past,
        kinds,
        declarations,
        desired: input.desired,
        objects,
        mayRemove: options.prune === true,
      });
      const undone = session.reverting(run, restored.desired, restored.targets);
      const works = undone.works.filter(({ application }) => restored.scopes.has(application.id));
      return work({ ...undone, works }, { checked: (survey) => checked(survey, past.revision, restored) });
    });
  } catch (error) {
    throw error instanceof PortolanError && error.code === 'ledger/locked' ? beside(error) : error;
  }
}

function refuseFlags({ target, adopt, ledger }: SessionOptions): void {
  const flag = target !== undefined ? '--target' : adopt !== undefined ? '--adopt' : undefined;
  if (flag !== undefined)
    throw invalidInput(
      'undo/flags',
      `${flag} does not fit --undo, which restores what the run changed and nothing else. Nothing was done.`,
      `Leave out ${flag}.`,
    );
  if (ledger === 'none')
    throw invalidInput(
      'cli/no-ledger',
      '--undo needs the ledger that recorded the run. Nothing was done.',
      'Omit --ledger to use portolan.db in the working directory, or name a file.',
    );
}

/** A daemon would apply its source over the undo at once. */
function beside(error: PortolanError): PortolanError {
  const { code, disposition, message, remedy } = error;
  if (!message.includes('portolan run')) return error;
  return new PortolanError({
    code,
    disposition,
    message,
    remedy: `The daemon would change an undo back in its next pass. Undo the commit instead: portolan history APPLICATION --revert COMMIT. ${remedy}`,
    cause: error,
  });
}

function checked(survey: Survey, revision: string | null, restored: Restoration): Survey {
  const { document } = survey;
  for (const plan of document.scopes) refuseMore(plan, restored);
  const isBack = restored.notes.some(({ code }) => code === 'undo/git-changes-back');
  const notes = [...document.notes, ...restored.notes, ...(isBack ? [advice(revision, restored)] : [])];
  return { ...survey, document: { ...document, notes } };
}

/** Returns how to make the undo last. */
function advice(revision: string | null, { scopes }: Restoration): Note {
  const [, commit] = /@sha(?:1|256):([0-9a-f]{12})/.exec(revision ?? '') ?? [];
  const names = [...scopes.keys()].map((id) => id.slice('Application/'.length));
  const how =
    commit === undefined
      ? 'commit the former values'
      : `undo the commit: ${names.map((name) => `portolan history ${name} --revert ${commit}`).join(', ')}`;
  return {
    code: 'undo/not-in-git',
    message: `the undo lasts until the manifests are applied again; to keep it, ${how}`,
  };
}

/** Refuses a plan with anything but the restored values. */
function refuseMore(plan: ScopePlan, { scopes, restored, removed, recreated, unowned }: Restoration): void {
  const scope = scopeKey(plan.scope);
  if (scopes.get(plan.application) !== scope)
    throw refused(
      'undo/other-scope',
      `${plan.application} is now ${scope}, and was ${scopes.get(plan.application)} when the run wrote to it.`,
      'Use the manifests and the configuration of that time.',
    );
  const keyOf = ({ resource, object }: Action): string => `${resource} ${object}`;
  const isMadeOrUnmade = (action: Action): boolean => removed.has(keyOf(action)) || recreated.has(keyOf(action));
  const created = new Set(plan.actions.filter(({ verb }) => verb === 'create').map(keyOf));
  for (const action of plan.actions) {
    if (unowned.has(keyOf(action)) && !created.has(keyOf(action))) throw createdSince(action);
    if (removed.has(keyOf(action))) refuseDrifted(action);
    if ((action.verb !== 'update' || action.prune) && !isMadeOrUnmade(action))
      throw more(`also "${action.summary}" for ${action.resource}`);
  }
  const updates = plan.actions.filter((action) => !isMadeOrUnmade(action));
  for (const [resource, actions] of Map.groupBy(updates, (action) => action.resource)) {
    for (const { path, before, after } of netChanges(actions)) {
      const value = restored.find((one) => one.resource === resource && one.path === path);
      if (value === undefined || !sameJson(value.former, after)) throw more(`also change ${path} of ${resource}`);
      if (!sameJson(value.present, before)) throw changedSince(resource, path, before, value.present);
    }
  }
}

/** Returns the first and the last value of each field that several actions change. */
function netChanges(actions: readonly Action[]) {
  const net = new Map<string, { path: string; before: Json | undefined; after: Json | undefined }>();
  for (const { changes } of actions)
    for (const { path, before, after } of changes)
      net.set(path, { path, before: net.has(path) ? net.get(path)?.before : before, after });
  return [...net.values()].filter(({ before, after }) => !sameJson(before, after));
}

function more(what: string): PortolanError {
  return refused(
    'undo/other-changes',
    `The plan would ${what}, which the run did not change: the manifests have changes that are not applied, or the platform has drifted.`,
    'Apply or revert those changes first, or pass --revision with the commit that was applied last.',
  );
}

/** Refuses to remove an object that was changed on the platform since it was written last. */
function refuseDrifted({ resource, changes }: Action): void {
  for (const { path, before, lastApplied } of changes)
    if (lastApplied !== undefined && !sameJson(before, lastApplied))
      throw changedSince(resource, path, before, lastApplied);
}

function createdSince({ resource, object }: Action): PortolanError {
  return refused(
    'undo/changed-since',
    `The run deleted ${object} of ${resource}, and it exists: it was created on the platform since.`,
    'Check the present object. To manage it, commit it.',
  );
}

function changedSince(resource: string, path: string, now: Json | undefined, left: Json | undefined): PortolanError {
  const text = (value: Json | undefined): string => JSON.stringify(value ?? null);
  return refused(
    'undo/changed-since',
    `${path} of ${resource} is ${text(now)}, and the run left ${text(left)}: it was changed on the platform since.`,
    'Check the present value. To restore the former one anyway, commit it.',
  );
}
