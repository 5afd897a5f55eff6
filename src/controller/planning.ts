import { groupByApplication } from '../manifest/group.ts';
import type { SourceFile } from '../manifest/text.ts';
import { invalidInput, type PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import { silentHooks } from '../reconcile/apply/world.ts';
import { ofAccepted, ofCommand, ofUnknown } from '../reconcile/policies/run.ts';
import { policyJudge } from '../reconcile/policy-judge.ts';
import type { PassOptions, Work } from '../reconcile/reconcile.ts';
import { workOf } from '../reconcile/work.ts';
import { survey, type SurveyInput } from '../reconcile/survey.ts';
import { rejectOnAbort } from '../runtime/clock.ts';
import type { PlannedManifests, PlanRequest } from './api.ts';
import { type Core, passOptions, withAdoption, worldOf } from './core.ts';
import { createAllowance, requireAllowedScope, requireWithin } from './plan-bounds.ts';
import { referenceOf } from './resolved-scope.ts';

/** Returns the plan of an application that no manifest refers to. @throws the signal's reason. */
export function planOrphan(core: Core, work: Work, options: PassOptions, signal: AbortSignal): Promise<PlanDocument> {
  const works = [...core.records.values()].map((record) => record.work);
  const revision = core.intake.accepted?.revision ?? null;
  return planned(core, { works: [work], revision, options, policy: ofUnknown, besides: async () => works }, signal);
}

/** Returns the plan of these applications. @param adopt a resource to adopt. @throws the signal's reason. */
export function planWorks(
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
  return planned(core, { works, revision, options: withAdoption(ofDaemon, adopted), policy, besides }, signal);
}

/** Returns the plan of other manifests instead of those of the source. */
export async function planFiles(
  core: Core,
  files: readonly SourceFile[],
  { adopt, prune, targets, within, ...request }: PlanRequest,
  signal: AbortSignal,
): Promise<PlannedManifests> {
  const { configuration, options, gates, records } = core;
  const variables = new Map([...configuration.variables, ...request.variables]);
  const contents = await options.planWorkbench.files(files, signal);
  const { desired, problems } = await contents.load({ variables, operator: configuration.operator }, signal);
  if (problems.length > 0) return { type: 'invalid', problems };
  const adopted = adopt === 'all' ? adopt : new Set(adopt);
  const missing = [...(targets ?? []), ...(adopt === 'all' ? [] : adopt)].find((id) => !desired.has(id));
  if (missing !== undefined) throw unknownResource(missing);
  const { limits: general, permissions, ...others } = passOptions(configuration);
  // These manifests would be applied by the client, which must keep to the sync windows like the daemon.
  const limits = { ...general, windows: { at: gates.windowAt, ignoredBecause: undefined } };
  const ofSource = new Map(
    [...records.values()].map(({ work, status }) => [referenceOf(work.application.spec), status.scope]),
  );
  const document = await planned(
    core,
    {
      works: groupByApplication(desired).map(workOf),
      revision: null,
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
      policy: ofCommand(
        {
          source: options.source,
          resources: desired.size,
          isEmptyAllowed: false,
          largest: async () => undefined,
          succession: async () => undefined,
        },
        limits,
      ),
      check: ({ application }) => {
        const known = ofSource.get(referenceOf(application.spec));
        if (within !== undefined) requireWithin(application, within, known);
        requireAllowedScope(application, limits.allowedScopes, known !== undefined);
      },
    },
    signal,
  );
  return { type: 'planned', document };
}

/** @param check throws if an application must not be read. */
async function planned(
  core: Core,
  {
    check,
    ...input
  }: Pick<SurveyInput, 'works' | 'revision' | 'options' | 'policy' | 'besides'> & {
    readonly check?: (work: Work) => void;
  },
  asked: AbortSignal,
): Promise<PlanDocument> {
  const { options, sourceLedger, configuration, intake } = core;
  const { server, controller } = configuration.settings;
  const { client, signal } = createAllowance(server.planRequests, asked);
  const snapshot = intake.accepted?.snapshot ?? '';
  signal.throwIfAborted();
  const surveyed = survey({
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
  return (await Promise.race([surveyed, rejectOnAbort(signal)])).document;
}

function unknownResource(id: ResourceId): PortolanError {
  return invalidInput(
    'controller/unknown-resource',
    `${id} is not among the manifests that were sent. Nothing was planned.`,
    'Correct the name. It has the form Kind/name.',
  );
}
