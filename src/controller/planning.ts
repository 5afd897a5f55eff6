import { groupByApplication } from '../manifest/group.ts';
import type { SourceFile } from '../manifest/text.ts';
import { invalidInput, type PortolanError } from '../model/errors.ts';
import type { ResourceId, ScopeKey } from '../model/ids.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from '../model/resource.ts';
import type { GuardLimits } from '../plan/guard.ts';
import { silentHooks } from '../reconcile/apply/world.ts';
import { ofAccepted, ofCommand, ofUnknown } from '../reconcile/policies/run.ts';
import { policyJudge } from '../reconcile/policy-judge.ts';
import type { PassOptions, Work } from '../reconcile/reconcile.ts';
import { workOf } from '../reconcile/work.ts';
import { survey, type Survey, type SurveyInput } from '../reconcile/survey.ts';
import { unlessAborted } from '../runtime/clock.ts';
import type { PlannedManifests, PlanRequest } from './api.ts';
import { type Core, passOptions, withAdoption, worldOf } from './core.ts';
import { createAllowance, requireAllowedScope, requireWithin } from './plan-bounds.ts';
import { referenceOf } from './resolved-scope.ts';

/** Returns the plan of an application that no manifest refers to. @throws the signal's reason. */
export async function planOrphan(
  core: Core,
  work: Work,
  options: PassOptions,
  signal: AbortSignal,
): Promise<PlanDocument> {
  const works = [...core.records.values()].map((record) => record.work);
  const revision = core.intake.accepted?.revision ?? null;
  const input = { works: [work], revision, options, policy: ofUnknown, besides: async () => works };
  return (await surveyed(core, input, signal)).document;
}

/** Returns the plan of these applications. @param adopt a resource to adopt. @throws the signal's reason. */
export async function planWorks(
  core: Core,
  works: readonly Work[],
  signal: AbortSignal,
  adopt?: ResourceId,
): Promise<PlanDocument> {
  const { intake, configuration } = core;
  const policy = ofAccepted((prunes) => intake.removalRefusals(prunes));
  const revision = intake.accepted?.revision ?? null;
  const others = [...core.records.values()].map(({ work }) => work).filter((work) => !works.includes(work));
  const besides = async (): Promise<readonly Work[]> => others;
  const { limits, ...options } = passOptions(configuration);
  // The controller applies this plan itself, so a refusal names the approval, not a flag of apply.
  const ofDaemon = { ...options, limits: { ...limits, isDaemon: true as const } };
  const [only, second] = works;
  const record = only === undefined || second !== undefined ? undefined : core.records.get(only.application.id);
  const adopted = adopt ?? record?.kept.adopting?.resource;
  const input = { works, revision, options: withAdoption(ofDaemon, adopted), policy, besides };
  return (await surveyed(core, input, signal)).document;
}

/** Manifests that were sent, with the applications that they have. */
export interface SentManifests {
  readonly desired: DesiredState;
  readonly works: readonly Work[];
}

/** Reads manifests that were sent. @throws PortolanError when the request names a resource that they do not have. */
export async function readManifests(
  { configuration, options }: Core,
  files: readonly SourceFile[],
  { adopt, targets, variables: given }: Pick<PlanRequest, 'adopt' | 'targets' | 'variables'>,
  signal: AbortSignal,
): Promise<
  ({ readonly type: 'read' } & SentManifests) | { readonly type: 'invalid'; readonly problems: readonly Problem[] }
> {
  const variables = new Map([...configuration.variables, ...given]);
  const contents = await options.planWorkbench.files(files, signal);
  const { desired, problems } = await contents.load({ variables, operator: configuration.operator }, signal);
  if (problems.length > 0) return { type: 'invalid', problems };
  const missing = [...(targets ?? []), ...(adopt === 'all' ? [] : adopt)].find((id) => !desired.has(id));
  if (missing !== undefined) throw unknownResource(missing);
  return { type: 'read', desired, works: groupByApplication(desired).map(workOf) };
}

/** Returns the resolved scope of an application of manifests, if the accepted source has the same one; undefined: it has not. */
export function knownScopes({ records }: Core): (work: Work) => ScopeKey | null | undefined {
  const ofSource = new Map(
    [...records.values()].map(({ work, status }) => [referenceOf(work.application.spec), status.scope]),
  );
  return ({ application }) => ofSource.get(referenceOf(application.spec));
}

/** Returns the limits of a client who would apply manifests: it must keep to the sync windows like the daemon. */
export function limitsOfClient({ configuration, gates }: Core): GuardLimits {
  return { ...passOptions(configuration).limits, windows: { at: gates.windowAt, ignoredBecause: undefined } };
}

/**
 * Returns the plan of manifests that were sent.
 * @param part the applications that this plan is about; the others are planned elsewhere, and the guards over all of them are not
 * asked here. undefined: all of them.
 */
export function planSent(
  core: Core,
  { desired, works }: SentManifests,
  { adopt, prune, targets, within }: Omit<PlanRequest, 'variables'>,
  { signal, part }: { readonly signal: AbortSignal; readonly part: ReadonlySet<ResourceId> | undefined },
): Promise<Survey> {
  const { configuration, options } = core;
  const adopted = adopt === 'all' ? adopt : new Set(adopt);
  const { permissions, limits: _, ...others } = passOptions(configuration);
  const limits = limitsOfClient(core);
  const known = knownScopes(core);
  const isOwn = ({ application }: Work): boolean => part?.has(application.id) ?? true;
  const elsewhere = works.filter((work) => !isOwn(work));
  const facts = { source: options.source, resources: desired.size, isEmptyAllowed: false };
  return surveyed(
    core,
    {
      works: works.filter(isOwn),
      revision: null,
      ...(part === undefined ? {} : { besides: async () => elsewhere }),
      options: {
        ...others,
        limits,
        permissions: {
          ...permissions,
          adopt: (id) => adopted === 'all' || adopted.has(id),
          adoptNamed: (id) => adopted !== 'all' && adopted.has(id),
          prune,
        },
        targets: targets === undefined ? undefined : new Set(targets),
      },
      policy:
        part === undefined
          ? ofCommand({ ...facts, largest: async () => undefined, succession: async () => undefined }, limits)
          : ofUnknown,
      check: (work) => {
        if (within !== undefined) requireWithin(work.application, within, known(work));
        requireAllowedScope(work.application, limits.allowedScopes, known(work) !== undefined);
      },
    },
    signal,
  );
}

/** Returns the plan of other manifests instead of those of the source. */
export async function planFiles(
  core: Core,
  files: readonly SourceFile[],
  request: PlanRequest,
  signal: AbortSignal,
): Promise<PlannedManifests> {
  const read = await readManifests(core, files, request, signal);
  if (read.type === 'invalid') return read;
  const { document } = await planSent(core, read, request, { signal, part: undefined });
  return { type: 'planned', document };
}

/** @param check throws if an application must not be read. */
async function surveyed(
  core: Core,
  {
    check,
    ...input
  }: Pick<SurveyInput, 'works' | 'revision' | 'options' | 'policy' | 'besides'> & {
    readonly check?: (work: Work) => void;
  },
  asked: AbortSignal,
): Promise<Survey> {
  const { options, sourceLedger, configuration, intake } = core;
  const { server, controller } = configuration.settings;
  const { client, signal } = createAllowance(server.planRequests, asked);
  const snapshot = intake.accepted?.snapshot ?? '';
  signal.throwIfAborted();
  const surveying = survey({
    ...input,
    options: { ...input.options, readOnly: true },
    ledger: sourceLedger.ledger,
    source: options.source,
    // Lets passes of the daemon run in between.
    pause: () => options.clock.sleep(0),
    parallelism: controller.concurrency,
    world: (work) => {
      check?.(work);
      const world = worldOf(core, work, { snapshot, hooks: silentHooks, lead: undefined });
      const policies = policyJudge(configuration.settings.policies, options.planWorkbench);
      return { ...world, client: client(world.client), policies };
    },
  });
  return unlessAborted(surveying, signal);
}

function unknownResource(id: ResourceId): PortolanError {
  return invalidInput(
    'controller/unknown-resource',
    `${id} is not among the manifests that were sent. Nothing was planned.`,
    'Correct the name. It has the form Kind/name.',
  );
}
