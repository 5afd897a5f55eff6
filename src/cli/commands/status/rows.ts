import type { ResourceId } from '../../../model/ids.ts';
import type { ScopePlan } from '../../../model/plan.ts';
import { type CommonCause, commonCauses, distinctRefusals, namesOf } from '../../../plan/causes.ts';
import type { Prepared } from '../../../reconcile/reconcile.ts';
import type { Survey } from '../../../reconcile/survey.ts';
import type { Mark } from '../../terminal/drawing/glyphs.ts';
import { count } from '../../terminal/text.ts';
import type { Remedy } from '../../../views/model.ts';
import type { StandingGroup } from './standing.ts';

/** How a resource stands. `Unknown`: it was not compared, because its application could not be read. */
export type State = 'InSync' | 'OutOfSync' | 'Held' | 'Waiting' | 'Suspended' | 'Reported' | 'Unknown';

export interface Row {
  readonly application: string;
  readonly resource: ResourceId;
  readonly state: State;
  readonly reason: string;
}

const MARKS: Readonly<Record<State, Mark>> = {
  InSync: 'good',
  OutOfSync: 'change',
  Held: 'held',
  Waiting: 'waiting',
  Suspended: 'suspended',
  Reported: 'reported',
  Unknown: 'unknown',
};

/** An application, then its resources, and so on. */
export function rowsOf({ prepared, errors }: Survey): readonly Row[] {
  const lost = causesOf(errors).flatMap(({ applications, code, message }) =>
    applications.map((application): Row => {
      // What several applications have in common is said once, below the table.
      const reason = applications.length === 1 ? message : code;
      return { application, resource: application as ResourceId, state: 'Unknown', reason };
    }),
  );
  return [...prepared.flatMap(scopeRows), ...lost];
}

function causesOf(errors: Survey['errors']): readonly CommonCause[] {
  return commonCauses(
    errors.map(({ application, error: { code, message, remedy } }) => ({ application, code, message, remedy })),
  );
}

function scopeRows({ work, plan, waits, scope }: Prepared): readonly Row[] {
  const application = work.application.id;
  const head: Row = {
    application,
    resource: application,
    state: worst(plan, waits.length),
    reason: `${scope.team}/${scope.region}/${scope.appId}`,
  };
  const rows = [...work.resources.keys()]
    .sort()
    .map((resource): Row => ({ application, resource, ...standingOf(resource, plan, waits) }));
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

/** One resource in the light of its application's plan. */
export function standingOf(
  resource: ResourceId,
  plan: ScopePlan,
  waits: Prepared['waits'],
): Pick<Row, 'state' | 'reason'> {
  const hold = plan.holds.find((one) => one.resource === resource);
  if (hold !== undefined) return { state: 'Held', reason: `${hold.code}: ${hold.message}` };
  const actions = plan.actions.filter((one) => one.resource === resource && one.continues === undefined);
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
  const building = plan.notes.find((one) => one.resource === resource && one.code === 'install/building');
  return plan.inSync.includes(resource)
    ? { state: 'InSync', reason: building?.message ?? '' }
    : { state: 'Unknown', reason: 'not compared' };
}

/** The rows as a table has them. */
export function groupsOf(rows: readonly Row[]): readonly StandingGroup[] {
  return [...Map.groupBy(rows, ({ application }) => application).values()].flatMap((group) => {
    const [head, ...members] = group.map(({ resource, state, reason }) => ({
      mark: MARKS[state],
      name: resource,
      words: [state],
      why: reason,
    }));
    return head === undefined ? [] : [{ head, members }];
  });
}

export interface StatusSummary {
  readonly applications: number;
  /** Of these, how many could not be read. */
  readonly unread: number;
  readonly resources: Readonly<Record<State, number>>;
}

export function summaryOf(rows: readonly Row[]): StatusSummary {
  const heads = rows.filter(({ resource, application }) => resource === application);
  const resources = { Held: 0, Unknown: 0, OutOfSync: 0, Waiting: 0, Reported: 0, Suspended: 0, InSync: 0 };
  for (const { resource, application, state } of rows) if (resource !== application) resources[state] += 1;
  return {
    applications: heads.length,
    unread: heads.filter(({ state }) => state === 'Unknown').length,
    resources,
  };
}

const WORDS: Readonly<Record<State, string>> = {
  Held: 'held',
  Unknown: 'not compared',
  OutOfSync: 'out of sync',
  Waiting: 'waiting',
  Reported: 'only reported',
  Suspended: 'suspended',
  InSync: 'in sync',
};

/** `2 applications, 7 resources: 1 held, 2 suspended, 4 in sync.` */
export function summaryText({ applications, unread, resources }: StatusSummary): string {
  const states = Object.entries(resources) as [State, number][];
  const total = states.reduce((sum, [, number]) => sum + number, 0);
  const parts = states.flatMap(([state, number]) => (number > 0 ? [`${number} ${WORDS[state]}`] : []));
  return `${count(applications, 'application')}${unread > 0 ? ` (${unread} of them not read)` : ''}, ${count(total, 'resource')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`;
}

/** What to do about each thing that waits for a person. */
export function remediesOf({ prepared, errors, document }: Survey): readonly Remedy[] {
  return [
    ...causesOf(errors).map(({ applications, message, remedy }) =>
      applications.length === 1
        ? { about: namesOf(applications), why: message, what: remedy }
        : { about: namesOf(applications), why: '', what: `${message}. ${remedy}` },
    ),
    ...prepared.flatMap(({ plan }) =>
      plan.holds.map(({ resource, message, remedy }) => ({ about: resource, why: message, what: remedy })),
    ),
    ...distinctRefusals(document.refusals).map(({ message, override }) => ({
      about: 'guard',
      why: '',
      what: `${message}; to let it through: ${override}`,
    })),
    ...document.notes.map(({ message }) => ({ about: 'note', why: '', what: message })),
  ];
}
