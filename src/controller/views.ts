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
import { survey, type SurveyInput } from '../reconcile/survey.ts';
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
export function planWorks(
  works: readonly Work[],
  revision: string | null,
  environment: ViewEnvironment,
  signal: AbortSignal,
): Promise<PlanDocument> {
  const { options, keeps } = environment;
  return planned(
    { works, revision, options, policy: ofAccepted(keeps) },
    environment,
    allowanceOf(environment, signal),
  );
}

/** What other manifests would do in place of the source's. */
export async function planFiles(
  files: readonly SourceFile[],
  request: PlanRequest,
  environment: ViewEnvironment,
  signal: AbortSignal,
): Promise<PlannedManifests> {
  const { source, options, configuration, isOfSource, workbench, windowAt } = environment;
  const allowance = allowanceOf(environment, signal);
  const variables = new Map([...configuration.variables, ...request.variables]);
  const contents = await workbench.files(files, signal);
  const { desired, problems } = await contents.load({ variables, operator: configuration.operator }, signal);
  if (problems.length > 0) return { type: 'invalid', problems };
  const { adopt, prune, targets } = request;
  const adopted = adopt === 'all' ? adopt : new Set(adopt);
  const missing = [...(targets ?? []), ...(adopt === 'all' ? [] : adopt)].find((id) => !desired.has(id));
  if (missing !== undefined) throw unknownResource(missing);
  // Whoever asks would apply it: that keeps to the windows as the daemon does.
  const limits = { ...options.limits, windows: { at: windowAt, ignoredBecause: undefined } };
  const policy = ofCommand(
    {
      source,
      resources: desired.size,
      isEmptyAllowed: false,
      largest: async () => undefined,
      succession: async () => undefined,
    },
    limits,
  );
  const document = await planned(
    {
      works: groupByApplication(desired).map(workOf),
      revision: null,
      options: {
        ...options,
        limits,
        permissions: {
          ...options.permissions,
          adopt: (id) => adopted === 'all' || adopted.has(id),
          adoptNamed: (id) => adopted !== 'all' && adopted.has(id),
          prune,
        },
        targets: targets === undefined ? undefined : new Set(targets),
      },
      policy,
      check: ({ application }) =>
        requireAllowedScope(application, options.limits.allowedScopes, isOfSource(application.spec)),
    },
    environment,
    allowance,
  );
  return { type: 'planned', document };
}

function allowanceOf({ configuration }: ViewEnvironment, signal: AbortSignal): PlanAllowance {
  return createAllowance(configuration.settings.server.planRequests, signal);
}

/** @param check throws where an application must not be read. */
async function planned(
  {
    check,
    ...input
  }: Pick<SurveyInput, 'works' | 'revision' | 'options' | 'policy'> & { readonly check?: (work: Work) => void },
  { ledger, source, configuration, pause, world }: ViewEnvironment,
  allowance: PlanAllowance,
): Promise<PlanDocument> {
  const surveyed = survey({
    ...input,
    options: { ...input.options, readOnly: true },
    ledger,
    source,
    pause,
    parallelism: configuration.settings.controller.concurrency,
    world: (work) => {
      check?.(work);
      const unbounded = world(work);
      return { ...unbounded, client: allowance.client(unbounded.client) };
    },
  });
  return (await orAborted(surveyed, allowance.signal)).document;
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
