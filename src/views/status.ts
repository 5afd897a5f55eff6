import { applicationState, conditionOf } from '../controller/application-state.ts';
import { pauseMessage } from '../controller/conditions.ts';
import type { BoundPlatform } from '../ledger/binding.ts';
import type { ApplicationSummary, Condition, ControllerStatus, OrphanStatus, ResourceStatus } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { orphanFacts, orphanRemedy } from '../plan/orphans.ts';
import { commonCauses, distinctRefusals, namesOf } from '../plan/causes.ts';
import { amount } from '../plan/words.ts';
import type { Survey } from '../reconcile/survey.ts';
import { resourceState } from './answered.ts';
import { oldStateOf } from './database.ts';
import { orphanedViews, type Remedy, type ViewState } from './model.ts';
import { observedView } from './observed.ts';
import { compareText } from '../model/text.ts';

/** The status of one application or resource, as a line of a table. */
export interface StatusLine {
  readonly state: ViewState;
  readonly name: string;
  /** The cells between the name and the reason, one for each title. */
  readonly words: readonly string[];
  /** The start of the state; undefined where it is unknown. */
  readonly sinceMs?: EpochMs | undefined;
  /** The full reason, which a narrow terminal truncates. */
  readonly why: string;
}

/** An application and its resources; a table may hide some of them. */
export interface StatusGroup {
  readonly head: StatusLine;
  readonly members: readonly StatusLine[];
}

/** The status of all applications, from a survey of this process or from the answer of a controller. */
export interface StatusView {
  /** The status of the controller. */
  readonly head?: string;
  readonly summary: string;
  /** The titles of the cells between the name and the reason. */
  readonly titles: readonly string[];
  readonly whyTitle: string;
  readonly hasAge: boolean;
  readonly groups: readonly StatusGroup[];
  readonly remedies: readonly Remedy[];
  readonly notes: readonly string[];
  /** The status as JSON. */
  readonly document: object;
}

/** The state as it is printed. `Unknown`: it was not compared, because its application could not be read. */
type StateWord = 'Held' | 'Orphaned' | 'Unknown' | 'OutOfSync' | 'Waiting' | 'Reported' | 'Suspended' | 'InSync';

/** The words of the summary, in its order. */
const WORDS: Readonly<Record<StateWord, string>> = {
  Held: 'held',
  Orphaned: 'orphaned',
  Unknown: 'not compared',
  OutOfSync: 'out of sync',
  Waiting: 'waiting',
  Reported: 'only reported',
  Suspended: 'suspended',
  InSync: 'in sync',
};

const STATE_WORDS: Readonly<Partial<Record<ViewState, StateWord>>> = {
  'in-sync': 'InSync',
  drifted: 'OutOfSync',
  'to-change': 'OutOfSync',
  held: 'Held',
  'not-ours': 'Held',
  orphaned: 'Orphaned',
  waiting: 'Waiting',
  suspended: 'Suspended',
  reported: 'Reported',
};

/** Returns the status that a survey found. @param bound platforms of the ledger; undefined: they are not shown. */
export function statusOfSurvey(survey: Survey, bound?: readonly BoundPlatform[]): StatusView {
  const { prepared, document } = survey;
  const causes = commonCauses(document.unobserved);
  const groups: StatusGroup[] = [
    ...prepared.map((one) => {
      const { id, state, scope, resources } = observedView(one);
      const members = resources.map((resource) => surveyLine(resource.id, resource.state, resource.reason));
      return {
        head: surveyLine(id, state, scope),
        members: members.toSorted((left, right) => compareText(left.name, right.name)),
      };
    }),
    ...causes.flatMap(({ applications, code, message }) =>
      // A cause that several applications have in common is shown once, below the table.
      applications.map((id) => ({
        head: surveyLine(id, 'unknown', applications.length === 1 ? message : code),
        members: [],
      })),
    ),
    ...orphanedViews(survey.orphans.map(orphanFacts)).map(({ id, state, reason, resources }) => ({
      head: surveyLine(id, state, reason),
      members: resources.map((resource) => surveyLine(resource.id, resource.state, resource.reason)),
    })),
  ];
  const summary = countsOf(groups);
  const resources = groups.flatMap(({ head, members }) =>
    [head, ...members].map(({ name: resource, words: [state], why: reason }) => {
      return { application: head.name, resource, state, reason };
    }),
  );
  const { revision, digest } = document;
  return {
    summary: groups.length === 0 ? 'The manifests name no application.' : summaryText(summary),
    titles: ['state'],
    whyTitle: 'reason',
    hasAge: false,
    groups,
    remedies: remediesOfSurvey(survey),
    notes: (bound ?? []).map(boundText),
    document: {
      formatVersion: 1,
      revision,
      digest,
      summary,
      resources,
      ...(bound === undefined ? {} : { platforms: bound }),
    },
  };
}

function surveyLine(name: string, state: ViewState, why: string): StatusLine {
  return { state, name, words: [STATE_WORDS[state] ?? 'Unknown'], why };
}

/** Returns the numbers of the summary. `unread` is the number of applications that could not be read. */
function countsOf(groups: readonly StatusGroup[]) {
  const members = groups.flatMap((group) => group.members);
  const resources = Object.keys(WORDS).map((word) => [word, members.filter(({ words }) => words[0] === word).length]);
  return {
    applications: groups.filter(({ head }) => head.state !== 'orphaned').length,
    unread: groups.filter(({ head }) => head.state === 'unknown').length,
    resources: Object.fromEntries(resources) as Readonly<Record<StateWord, number>>,
  };
}

/** Returns `2 applications, 7 resources: 1 held, 2 suspended, 4 in sync.` */
function summaryText({ applications, unread, resources }: ReturnType<typeof countsOf>): string {
  const states = Object.entries(resources) as [StateWord, number][];
  const total = states.reduce((sum, [, number]) => sum + number, 0);
  const parts = states.flatMap(([state, number]) => (number > 0 ? [`${number} ${WORDS[state]}`] : []));
  return `${amount(applications, 'application')}${unread > 0 ? ` (${unread} of them not read)` : ''}, ${amount(total, 'resource')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`;
}

function boundText({ name, url, regions }: BoundPlatform): string {
  const names = regions.map((region) => region.name).join(', ');
  return `Ledger bound to Platform/${name}: ${url}${names === '' ? ', no region' : `, region ${names}`}.`;
}

/** Returns the remedies of everything that requires manual action. */
function remediesOfSurvey({ prepared, document }: Survey): readonly Remedy[] {
  return [
    ...commonCauses(document.unobserved).map(({ applications, message, remedy }) =>
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
      what: `${message}; to allow it: ${override}`,
    })),
    ...document.notes.map(({ message }) => ({ about: 'note', why: '', what: message })),
  ];
}

/** The answer of a controller about all its applications. */
export interface ControllerReport {
  readonly controller: ControllerStatus;
  readonly applications: readonly ApplicationSummary[];
  /** Only the resources that are not in sync. */
  readonly resources: readonly ResourceStatus[];
  readonly orphans: readonly OrphanStatus[];
}

export function statusOfController(report: ControllerReport, url: string): StatusView {
  const { controller, applications, resources } = report;
  const { source, phase } = controller;
  const byApplication = Map.groupBy(resources, ({ application }) => application);
  return {
    head: `${url}: ${phase}, source ${source.name} at ${source.acceptedRevision ?? 'no revision yet'}`,
    summary: controllerSummary(report),
    titles: ['ready', 'healthy', 'reason'],
    whyTitle: 'message',
    hasAge: true,
    groups: [
      ...applications.map((one) => {
        const { lastError } = one;
        const why = whyOf(one);
        const members = (byApplication.get(one.id) ?? []).map((resource) => {
          const [hold] = resource.holds;
          const own = hold === undefined ? conditionOf(resource, 'Ready')?.message : `${hold.code}: ${hold.message}`;
          // The reason of the whole application is shown once.
          return conditionLine(
            resource,
            resourceState(resource),
            own === undefined || own === why || own === lastError?.message ? '' : own,
          );
        });
        return { head: conditionLine(one, applicationState(one), why), members };
      }),
      ...orphanGroups(report),
    ],
    remedies: remediesOfController(report, url),
    notes: [],
    document: { formatVersion: 1, ...report },
  };
}

/** Returns the groups of orphans. They are not in sync with git, and nothing observes their health. */
function orphanGroups({ orphans }: ControllerReport): readonly StatusGroup[] {
  const words = ['False', 'Unknown', 'Orphaned'];
  return orphanedViews(orphans).map(({ id, state, reason, resources }) => {
    const its = orphans.filter(({ scope }) => scope === id);
    const sinceOf = (name: string) => its.find((one) => one.id === name)?.sinceMs;
    return {
      head: { state, name: id, words, why: reason, sinceMs: Math.min(...its.map(({ sinceMs }) => sinceMs)) },
      members: resources.map((one) => ({ ...one, name: one.id, words, why: one.reason, sinceMs: sinceOf(one.id) })),
    };
  });
}

function conditionLine(
  of: { readonly id: string; readonly conditions: readonly Condition[] },
  state: ViewState,
  why: string,
): StatusLine {
  const ready = conditionOf(of, 'Ready');
  const healthy = conditionOf(of, 'Healthy')?.status ?? 'Unknown';
  return {
    state,
    name: of.id,
    words: [ready?.status ?? 'Unknown', healthy, ready?.reason ?? ''],
    sinceMs: ready?.sinceMs,
    why,
  };
}

/** Returns why an application is in its state. A pause of its region shows the error that caused it. */
function whyOf(application: ApplicationSummary): string {
  const { pause, lastError } = application;
  if (pause === null) return lastError?.message ?? conditionOf(application, 'Ready')?.message ?? '';
  const cause = pause.type === 'circuit' && lastError !== null ? `; last error: ${lastError.message}` : '';
  return `${pauseText(pause)}${cause}`;
}

/** Returns the reason of a pause, and its end. */
function pauseText(pause: NonNullable<ApplicationSummary['pause']>): string {
  const untilMs = 'untilMs' in pause ? pause.untilMs : null;
  return `${pauseMessage(pause)}${untilMs === null ? '' : ` until ${new Date(untilMs).toISOString()}`}`;
}

/** Returns the summary. It counts applications that a user suspended, and resources suspended by their annotation. */
function controllerSummary({ controller, applications, resources, orphans }: ControllerReport): string {
  const { counts, outside } = controller;
  const faults = outside?.faults ?? 0;
  const suspended = resources.filter(({ mode }) => mode === 'suspend').length;
  const notReady = resources.length - suspended;
  return [
    ...(applications.length < counts.applications
      ? [`${amount(applications.length, 'application')} shown of ${counts.applications}`]
      : [amount(counts.applications, 'application')]),
    `${counts.ready} ready`,
    ...(['drifted', 'held', 'failing', 'suspended'] as const).flatMap((name) =>
      counts[name] > 0 ? [`${counts[name]} ${name}`] : [],
    ),
    ...(notReady > 0 ? [`${amount(notReady, 'resource')} not ready`] : []),
    ...(suspended > 0 ? [`${amount(suspended, 'resource')} suspended by annotation`] : []),
    ...(orphans.length > 0 ? [`${amount(orphans.length, 'resource')} orphaned`] : []),
    ...(faults > 0 ? [`${amount(faults, 'fault')} outside your scope`] : []),
  ].join(', ');
}

function remediesOfController(
  { controller, applications, resources, orphans }: ControllerReport,
  url: string,
): readonly Remedy[] {
  const { error } = controller.source;
  const { database } = controller;
  const old = oldStateOf(database);
  return [
    ...(database === undefined || old === undefined
      ? []
      : [
          {
            about: 'database',
            why: '',
            what: `${old.why} Shown is the state of ${new Date(database.asOfMs).toISOString()}. ${old.what}`,
          },
        ]),
    ...(error === null ? [] : [{ about: 'source', why: '', what: `${error.message} ${error.remedy}` }]),
    ...applications.flatMap(({ id, lastError, approval, pause }) => {
      const name = id.slice('Application/'.length);
      const approve = `A guard refused its plan. To see and approve it: portolan approve ${name} --server ${url} (digest of this application: ${approval?.digest})`;
      return [
        ...(lastError === null ? [] : [{ about: id, why: lastError.message, what: lastError.remedy }]),
        ...(approval === null ? [] : [{ about: id, why: '', what: approve }]),
        ...(pause?.type === 'suspended'
          ? [{ about: id, why: '', what: `portolan resume ${name} --server ${url}` }]
          : []),
      ];
    }),
    ...resources.flatMap(({ id, holds }) =>
      holds.map(({ message, remedy }) => ({ about: id, why: message, what: remedy })),
    ),
    ...[...new Set(orphans.map(({ scope }) => scope))].map((scope) => ({
      about: scope,
      why: '',
      what: orphanRemedy(scope, url),
    })),
  ];
}
