import { PortolanError } from '../../model/errors.ts';
import type { ResourceId } from '../../model/ids.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { SourceFile } from '../../manifest/text.ts';
import type { PlanDocument } from '../../model/plan-document.ts';
import { type PartOfRun, partOfRun, refusalsOfParts } from '../../reconcile/policies/run.ts';
import type { Work } from '../../reconcile/reconcile.ts';
import type { ControllerApi, PlannedManifests, PlanRequest } from '../api.ts';
import type { Core } from '../core.ts';
import { requireWithin } from '../plan-bounds.ts';
import { knownScopes, limitsOfClient, planSent, readManifests, type SentManifests } from '../planning.ts';
import type { LeaderMethods } from './forwarded-methods.ts';
import { byPlatform, type ForwardedParts, isConfigured, type Send } from './forwarded-parts.ts';
import { platformUnit } from './leadership.ts';
import { mergePlans, type WholePlan } from './merged-plan.ts';

/** A plan that one leader made. */
interface PlannedPart {
  readonly document: PlanDocument;
  readonly toll: PartOfRun;
}

type Failed = WholePlan['failed'][number];

export type ForwardedPlans = ReturnType<typeof forwardedPlans>;

/** Returns the plans of applications on the platforms of several leaders: each makes the part of its platforms. */
export function forwardedPlans(parts: ForwardedParts, send: Send) {
  const { core, local } = parts;
  const api: Pick<ControllerApi, 'plan' | 'planManifests'> = {
    async plan(ids, signal) {
      const asked = ids === 'all' ? local.applications().map(({ id }) => id) : ids;
      const { own, others } = divided(core, byPlatform(core, asked));
      if (others.length === 0) return local.plan(ids, signal);
      const planned = await together(
        own.length === 0 ? undefined : () => local.plan(own, signal),
        others.map(([platform, some]) => ({
          ids: some,
          ask: () => send('plan', [platform, some], '', signal) as Promise<PlanDocument>,
        })),
      );
      return mergePlans(planned.done, {
        ...wholeOf(core, planned.failed),
        revision: local.status().source.acceptedRevision,
        removalRefusals: (prunes) => core.intake.removalRefusals(prunes),
      });
    },
    planManifests: (files, request, signal) => planManifests(core, send, { files, request, signal }),
  };
  const leader: Pick<LeaderMethods, 'plan' | 'planManifests'> = {
    plan: (_platform, ids, signal) => local.plan(ids, signal),
    planManifests: (_platform, request, signal) => planAsked(core, request as unknown as SentPart, signal),
  };
  return { api, leader };
}

function wholeOf(core: Core, failed: readonly Failed[]): Pick<WholePlan, 'source' | 'failed' | 'pause'> {
  const { source, clock } = core.options;
  return { source, failed, pause: () => clock.sleep(0) };
}

/** Divides applications into those on platforms that this replica leads, or that are not configured, and others. */
function divided(core: Core, platforms: ReadonlyMap<string, readonly ResourceId[]>) {
  const isOwn = (platform: string): boolean => {
    const unit = platformUnit(platform);
    return core.leadership.of(unit) !== undefined || !isConfigured(core, unit);
  };
  const all = [...platforms];
  return {
    own: all.flatMap(([platform, ids]) => (isOwn(platform) ? ids : [])),
    others: all.filter(([platform]) => !isOwn(platform)),
  };
}

/** Makes the own part and asks for the others. A part that is not answered is not observed. */
async function together<Part>(
  own: (() => Promise<Part>) | undefined,
  others: readonly { readonly ids: readonly ResourceId[]; readonly ask: () => Promise<Part> }[],
): Promise<{ readonly done: readonly Part[]; readonly failed: readonly Failed[] }> {
  const failed: Failed[] = [];
  const asked = others.map(async ({ ids, ask }) => {
    try {
      return [await ask()];
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      failed.push(...ids.map((application) => ({ application, error })));
      return [];
    }
  });
  const done = await Promise.all([...(own === undefined ? [] : [own().then((part) => [part])]), ...asked]);
  return { done: done.flat(), failed };
}

/** A request as JSON. Each leader reads the manifests again, which it does not take from another replica. */
interface SentPart {
  readonly files: readonly SourceFile[];
  readonly variables: JsonObject;
  readonly prune: boolean;
  readonly adopt: PlanRequest['adopt'];
  readonly targets?: readonly ResourceId[];
  /** The applications that the leader plans. Their caller may see them. */
  readonly part: readonly ResourceId[];
}

interface SentRequest {
  readonly files: readonly SourceFile[];
  readonly request: PlanRequest;
  readonly signal: AbortSignal;
}

async function planManifests(
  core: Core,
  send: Send,
  { files, request, signal }: SentRequest,
): Promise<PlannedManifests> {
  const read = await readManifests(core, files, request, signal);
  if (read.type === 'invalid') return read;
  const { within, variables, ...options } = request;
  const { allowed, denied } = allowedOf(core, read.works, within);
  const platforms = Map.groupBy(allowed, ({ application }) => application.spec.platform);
  const ids = new Map(
    [...platforms].map(([platform, works]) => [platform, works.map(({ application }) => application.id)]),
  );
  const { own, others } = divided(core, ids);
  if (others.length === 0) {
    const { document } = await planSent(core, read, request, { signal, part: undefined });
    return { type: 'planned', document };
  }
  const planned = await together<PlannedPart>(
    own.length === 0 ? undefined : () => planPart(core, read, options, { signal, part: new Set(own) }),
    others.map(([platform, part]) => {
      const sent: SentPart = { ...options, files, variables: Object.fromEntries(variables), part } as SentPart;
      return { ids: part, ask: () => send('planManifests', [platform, sent], '', signal) as Promise<PlannedPart> };
    }),
  );
  const { source } = core.options;
  const owned = await core.sourceLedger.ledger.objectCount({ source });
  const facts = { source, resources: read.desired.size, isEmptyAllowed: false };
  const tolls = planned.done.map(({ toll }) => toll);
  const merged = await mergePlans(
    planned.done.map(({ document }) => document),
    { ...wholeOf(core, [...planned.failed, ...denied]), revision: null, removalRefusals: () => [] },
  );
  const refusals = [...merged.refusals, ...refusalsOfParts(tolls, facts, owned, limitsOfClient(core))];
  return { type: 'planned', document: { ...merged, refusals } };
}

/** Divides applications of manifests by whether the caller may have them read. */
function allowedOf(core: Core, works: readonly Work[], within: PlanRequest['within']) {
  const known = knownScopes(core);
  const allowed: Work[] = [];
  const denied: Failed[] = [];
  for (const work of works) {
    try {
      if (within !== undefined) requireWithin(work.application, within, known(work));
      allowed.push(work);
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      denied.push({ application: work.application.id, error });
    }
  }
  return { allowed, denied };
}

async function planPart(
  core: Core,
  sent: SentManifests,
  options: Omit<PlanRequest, 'variables' | 'within'>,
  limits: { readonly signal: AbortSignal; readonly part: ReadonlySet<ResourceId> },
): Promise<PlannedPart> {
  const { document, prepared } = await planSent(core, sent, options, limits);
  return { document, toll: partOfRun(prepared) };
}

/** Makes the part of a plan that another replica asks for. @returns JSON of a `PlannedPart`. */
async function planAsked(core: Core, { files, part, ...sent }: SentPart, signal: AbortSignal): Promise<Json> {
  const variables = new Map(Object.entries(sent.variables).map(([name, value]) => [name, value as string]));
  const { prune, adopt, targets } = sent;
  const read = await readManifests(core, files, { variables, adopt, targets }, signal);
  if (read.type === 'invalid') throw notSame();
  return (await planPart(core, read, { prune, adopt, targets }, { signal, part: new Set(part) })) as unknown as Json;
}

function notSame(): PortolanError {
  return new PortolanError({
    code: 'controller/other-configuration',
    disposition: 'retry',
    message: 'The controller that leads the platform reads these manifests differently. Nothing was planned for it.',
    remedy: 'Give all controllers the same version and the same configuration, and retry.',
  });
}
