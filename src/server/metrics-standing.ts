import type { Registry } from 'prom-client';
import type { ControllerApi } from '../controller/api.ts';
import type { Intent } from '../model/owned.ts';
import type { ApplicationStatus, Condition, ControllerStatus, OrphanStatus } from '../model/status.ts';
import type { Clock } from '../runtime/clock.ts';
import { lookAt } from '../runtime/look.ts';
import { registerGauge, type Sample } from './metrics-series.ts';

/** The state of the controller that one scrape shows. */
export interface StandingView {
  readonly status: ControllerStatus;
  /** Whether the source is among what the scrape shows. */
  readonly leadsSource: boolean;
  readonly applications: readonly ApplicationStatus[];
  readonly orphans: readonly OrphanStatus[];
  readonly intents: () => Promise<readonly Intent[]>;
}

export function viewOf(api: ControllerApi): StandingView {
  return {
    status: api.status(),
    leadsSource: true,
    applications: api.applications(),
    orphans: api.orphans(),
    intents: () => api.intents('all'),
  };
}

type Standing = (
  name: string,
  help: string,
  labelNames: string[],
  samples: (view: StandingView) => readonly Sample[] | Promise<readonly Sample[]>,
) => void;

/** Registers the gauges that show the present state of the controller, computed at each scrape. */
export function registerStanding(registry: Registry, view: () => StandingView | undefined, clock: Clock): void {
  const standing: Standing = (name, help, labelNames, samples) =>
    registerGauge(registry, name, help, labelNames, () => {
      const now = view();
      return now === undefined ? [] : samples(now);
    });
  registerApplications(standing, clock);
  registerController(standing);
  registerSource(standing);
  const look = lookAt(clock, async () => view()?.intents());
  standing(
    'portolan_ledger_intents',
    'Intents in the ledger whose outcome is not known, by state.',
    ['state'],
    async () => {
      // The ledger may be unreadable, or not answer; the other metrics are needed all the more then.
      const intents = await look().catch(() => undefined);
      if (intents === undefined) return [];
      return (['open', 'unknown'] as const).map(
        (state): Sample => [{ state }, intents.filter((intent) => intent.state === state).length],
      );
    },
  );
}

function registerApplications(standing: Standing, clock: Clock): void {
  const perApplication = (name: string, help: string, value: (one: ApplicationStatus) => number | null): void =>
    standing(name, help, ['application'], (now) =>
      now.applications.flatMap((one): Sample[] => {
        const found = value(one);
        return found === null ? [] : [[{ application: one.id }, found]];
      }),
    );
  perApplication(
    'portolan_drift',
    'Resources that drifted.',
    ({ resources }) => resources.filter(({ drift }) => drift !== null).length,
  );
  perApplication('portolan_drift_age_seconds', 'Age of the oldest drift; 0 without drift.', ({ resources }) => {
    const oldestMs = Math.min(...resources.flatMap(({ drift }) => (drift === null ? [] : [drift.sinceMs])));
    return oldestMs === Number.POSITIVE_INFINITY ? 0 : Math.max(0, clock.now() - oldestMs) / 1000;
  });
  perApplication(
    'portolan_held',
    'Holds of the application and its resources that require manual action.',
    ({ resources, approval }) => resources.reduce((sum, { holds }) => sum + holds.length, approval === null ? 0 : 1),
  );
  perApplication(
    'portolan_suspended',
    'Number of suspended resources, plus 1 if the application is suspended.',
    (one) => {
      const whole = one.pause?.type === 'suspended' ? 1 : 0;
      return whole + one.resources.filter(({ mode }) => mode === 'suspend').length;
    },
  );
  perApplication(
    'portolan_paused',
    '1 while the application is paused: suspended, outside its window, or its region is not enabled.',
    ({ pause }) => (pause === null ? 0 : 1),
  );
  perApplication('portolan_failures', 'Consecutive failed passes.', ({ failures }) => failures);
  perApplication('portolan_pending_actions', 'Actions of the last plan that are pending.', ({ pending }) =>
    pending === null ? 0 : pending.actions.length + pending.deferred.length,
  );
  perApplication(
    'portolan_last_success_timestamp_seconds',
    'Time at which the application was last in sync.',
    ({ lastSuccessMs }) => (lastSuccessMs === null ? null : lastSuccessMs / 1000),
  );
  standing(
    'portolan_application_condition',
    'Conditions of applications: 1 true, 0 false, -1 unknown.',
    ['application', 'type'],
    (now) =>
      now.applications.flatMap(({ id, conditions }) =>
        conditions.map(({ type, status }): Sample => [{ application: id, type }, CONDITION_VALUES[status]]),
      ),
  );
}

const CONDITION_VALUES: Readonly<Record<Condition['status'], number>> = { True: 1, False: 0, Unknown: -1 };

const PHASES: readonly ControllerStatus['phase'][] = ['starting', 'running', 'draining'];

function registerController(standing: Standing): void {
  standing('portolan_phase', '1 for the present phase of the controller.', ['phase'], ({ status }) => {
    const { phase } = status;
    return PHASES.map((one): Sample => [{ phase: one }, one === phase ? 1 : 0]);
  });
  standing(
    'portolan_applications',
    'Applications by state. An application can have several states.',
    ['state'],
    ({ status }) => Object.entries(status.counts).map(([state, count]): Sample => [{ state }, count]),
  );
  standing(
    'portolan_orphans',
    'Resources on record in an application that no manifest refers to any more, by application.',
    ['scope'],
    ({ orphans }) =>
      [...Map.groupBy(orphans, ({ scope }) => scope)].map(([scope, its]): Sample => [{ scope }, its.length]),
  );
  standing('portolan_region_open', '1 while a region accepts changes.', ['platform', 'region'], ({ status }) =>
    status.regions.map(({ platform, region, state }): Sample => [{ platform, region }, state === 'open' ? 1 : 0]),
  );
}

function registerSource(standing: Standing): void {
  standing(
    'portolan_source_info',
    'Always 1. The labels are the revisions.',
    ['source', 'observed', 'accepted'],
    ({ status, leadsSource }) => {
      if (!leadsSource) return [];
      const { name, observedRevision, acceptedRevision } = status.source;
      return [[{ source: name, observed: observedRevision ?? '', accepted: acceptedRevision ?? '' }, 1]];
    },
  );
  const ofSource = (name: string, help: string, value: (status: ControllerStatus['source']) => number | null): void =>
    standing(name, help, ['source'], ({ status, leadsSource }) => {
      const { source } = status;
      const found = value(source);
      return found === null || !leadsSource ? [] : [[{ source: source.name }, found]];
    });
  ofSource('portolan_source_failing', '1 while the newest revision cannot be read or is rejected.', ({ error }) =>
    error === null ? 0 : 1,
  );
  ofSource(
    'portolan_source_accepted_timestamp_seconds',
    'Time at which a revision was last accepted.',
    ({ acceptedMs }) => (acceptedMs === null ? null : acceptedMs / 1000),
  );
  standing(
    'portolan_source_not_followed',
    '1 while this controller cannot load the revision that another controller accepted, so it writes nothing.',
    ['source'],
    ({ status: { source } }) => [[{ source: source.name }, source.error?.code === 'source/not-followed' ? 1 : 0]],
  );
  ofSource('portolan_source_resources', 'Resources of the accepted revision.', ({ resources }) => resources);
}
