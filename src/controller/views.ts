import type { Ledger } from '../ledger/ledger.ts';
import type { ApplicationSpec } from '../kinds/application/spec.ts';
import { groupByApplication } from '../manifest/group.ts';
import type { SourceFile } from '../manifest/text.ts';
import { PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { PlanDocument } from '../plan/document.ts';
import type { Refusal, Windows } from '../plan/guard.ts';
import type { ApplyWorld } from '../reconcile/apply/world.ts';
import { ofAccepted, ofCommand } from '../reconcile/policies/run.ts';
import type { PassOptions, Work } from '../reconcile/reconcile.ts';
import { workOf } from '../reconcile/work.ts';
import { survey } from '../reconcile/survey.ts';
import type { Workbench } from '../source/contents.ts';
import type { PlannedManifests, PlanRequest } from './api.ts';
import type { ControllerConfiguration } from './options.ts';
import { createAllowance, type PlanAllowance, requireAllowedScope } from './plan-bounds.ts';

/** What plans for surfaces are made from; nothing of them is written anywhere. */
export interface ViewEnvironment {
  readonly workbench: Workbench;
  /** Lets the event loop turn: reconciling goes on meanwhile. */
  pause(): Promise<void>;
  readonly ledger: Ledger;
  readonly source: string;
  readonly configuration: ControllerConfiguration;
  readonly options: PassOptions;
  world(work: Work): ApplyWorld;
  /** Whether the accepted source means this application. */
  isOfSource(application: ApplicationSpec): boolean;
  keeps(prunes: number): readonly Refusal[];
  readonly windowAt: Windows['at'];
}

/** The plan of these applications as they are wanted now. @throws the signal's reason. */
export async function planWorks(
  works: readonly Work[],
  revision: string | null,
  environment: ViewEnvironment,
  signal: AbortSignal,
): Promise<PlanDocument> {
  const { ledger, source, options, configuration } = environment;
  const allowance = allowanceOf(environment, signal);
  const surveyed = survey({
    works,
    options: { ...options, readOnly: true },
    ledger,
    source,
    revision,
    parallelism: configuration.settings.controller.concurrency,
    world: (work) => allowedWorld(work, environment, allowance),
    policy: ofAccepted(environment.keeps),
    pause: environment.pause,
  });
  return (await orAborted(surveyed, allowance.signal)).document;
}

/** What other manifests would do in place of the source's. */
export async function planFiles(
  files: readonly SourceFile[],
  request: PlanRequest,
  environment: ViewEnvironment,
  signal: AbortSignal,
): Promise<PlannedManifests> {
  const { ledger, source, options, configuration, isOfSource } = environment;
  const allowance = allowanceOf(environment, signal);
  const variables = new Map([...configuration.variables, ...request.variables]);
  const contents = await environment.workbench.files(files, signal);
  const { desired, problems } = await contents.load({ variables, operator: configuration.operator }, signal);
  if (problems.length > 0) return { type: 'invalid', problems };
  const { adopt, prune, targets } = request;
  const adopted = adopt === 'all' ? adopt : new Set(adopt);
  const missing = [...(targets ?? []), ...(adopt === 'all' ? [] : adopt)].find((id) => !desired.has(id));
  if (missing !== undefined) throw unknownResource(missing);
  // Whoever asks would apply it: that keeps to the windows as the daemon does.
  const limits = { ...options.limits, windows: { at: environment.windowAt, ignoredBecause: undefined } };
  const surveyed = survey({
    works: groupByApplication(desired).map(workOf),
    options: {
      ...options,
      readOnly: true,
      limits,
      permissions: {
        ...options.permissions,
        adopt: (id) => adopted === 'all' || adopted.has(id),
        adoptNamed: (id) => adopted !== 'all' && adopted.has(id),
        prune,
      },
      targets: targets === undefined ? undefined : new Set(targets),
    },
    ledger,
    source,
    revision: null,
    pause: environment.pause,
    parallelism: configuration.settings.controller.concurrency,
    world: (work) => {
      const { application } = work;
      requireAllowedScope(application, options.limits.allowedScopes, isOfSource(application.spec));
      return allowedWorld(work, environment, allowance);
    },
    policy: ofCommand(
      {
        source,
        resources: desired.size,
        isEmptyAllowed: false,
        largest: async () => undefined,
        succession: async () => undefined,
      },
      limits,
    ),
  });
  return { type: 'planned', document: (await orAborted(surveyed, allowance.signal)).document };
}

function allowanceOf({ configuration }: ViewEnvironment, signal: AbortSignal): PlanAllowance {
  return createAllowance(configuration.settings.server.planRequests, signal);
}

function allowedWorld(work: Work, { world }: ViewEnvironment, allowance: PlanAllowance): ApplyWorld {
  const unbounded = world(work);
  return { ...unbounded, client: allowance.client(unbounded.client) };
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function unknownResource(id: ResourceId): PortolanError {
  return new PortolanError({
    code: 'controller/unknown-resource',
    disposition: 'invalid',
    message: `${id} is not among the manifests that were sent. Nothing was planned.`,
    remedy: 'Correct the name; it is Kind/name.',
  });
}
