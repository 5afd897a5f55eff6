import { type Applied, applyPlan } from '../apply/apply-plan.ts';
import { resolveIntents, startWindows, unresolvedIntents } from '../apply/resolve.ts';
import type { ActionResult } from '../plan/result.ts';
import type { ApplyWorld } from '../apply/world.ts';
import type { ApplicationSpec } from '../kinds/application/spec.ts';
import { type Memory, type Permissions, type ScopeReader, type ScopeReading } from '../kinds/reconciled.ts';
import { reconciledKinds } from '../kinds/registry.ts';
import { PortolanError } from '../model/errors.ts';
import { type ResourceId, type Scope, scopeKey } from '../model/ids.ts';
import type { ApplicationRecord } from '../model/observed.ts';
import type { Action, ScopePlan, Wait } from '../model/plan.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { GuardLimits, Refusal } from '../plan/guard.ts';
import type { Bookkeeping, DoubtfulIntent } from '../plan/draft.ts';
import { planScope } from '../plan/plan-scope.ts';
import { bookings, keepBooks, readMemory } from './books.ts';
import { countFailure } from './count-failure.ts';
import { createFreshReadings } from './freshness.ts';
import { createMembership } from './membership.ts';
import type { Outcome } from './outcome.ts';
import { refusalsOf } from './refusals.ts';
import { notTaken, runnable } from './runnable.ts';
import { resolveScope } from './resolve-scope.ts';
import { type CachingReader, createScopeReader, VANISHED } from './scope-reader.ts';
import type { SharedReadings } from './shared-readings.ts';
import { confirmedRules, removals, withdrawnPorts } from './withdrawn.ts';

/** One application and everything the source wants of it. */
export interface Work {
  readonly application: Resource<ApplicationSpec>;
  readonly resources: DesiredState;
}

export interface PassOptions {
  readonly permissions: Permissions;
  readonly limits: GuardLimits;
  readonly targets: ReadonlySet<ResourceId> | undefined;
  /** Nothing is written, not even to the ledger. */
  readonly readOnly: boolean;
  /** false with `--ledger none`. */
  readonly ledgerKnown: boolean;
  /** What a round over several applications reads once for all of them. */
  readonly shared?: SharedReadings;
  /** Few others are looked at with it: what is shared would be asked for its sake, and it is smaller to ask for itself. */
  readonly isAlone?: boolean;
}

/** One observation of a scope and the plan that follows from it. */
export interface Prepared {
  readonly work: Work;
  readonly scope: Scope;
  readonly reader: CachingReader;
  readonly live: ReadonlyMap<ResourceId, unknown>;
  readonly memory: Memory;
  readonly plan: ScopePlan;
  readonly bookkeeping: Bookkeeping;
  readonly waits: readonly Wait[];
  /** Intents that nobody could decide yet, as far as this pass looked. */
  readonly inDoubt: readonly DoubtfulIntent[];
  readonly refusals: readonly Refusal[];
  /** Monotonic. */
  readonly observedAtMs: number;
}

/** A prepared scope that no guard has looked at yet: whoever writes upon it asks them first. */
type Looked = Omit<Prepared, 'refusals'>;

/** Rounds of observing and applying in one pass that do nothing new, one after another: a platform that keeps moving. */
const IDLE_ROUNDS_MAX = 12;

/**
 * One pass over one scope: observe, plan, guard, apply, and observe again what was touched. The command line, the
 * daemon and the simulator call this; only the world differs. Never patches what it knows of the platform.
 */
export async function reconcile(work: Work, world: ApplyWorld, options: PassOptions): Promise<Outcome> {
  try {
    const prepared = await prepare(work, world, options);
    return options.readOnly ? untouched(prepared) : await carryOut(prepared, world, options);
  } catch (error) {
    return { type: 'unobserved', application: work.application.id, error: expected(error) };
  }
}

/** Observes and plans. Decides intents in doubt first, unless nothing may be written. */
export async function prepare(work: Work, world: ApplyWorld, options: PassOptions): Promise<Prepared> {
  const glanced = await glance(work, world, options);
  if (glanced !== undefined && (await isInSync(glanced, world))) return guarded(glanced, world, options);
  const { scope, record } = await resolveScope(work.application, world).catch(async (error: unknown) => {
    if (!options.readOnly) await startWindows(world, work.application.spec);
    throw error;
  });
  const reader = readerAfter(glanced, world, scope, record);
  const intents = await world.ledger.intents({ scope: scopeKey(scope), states: ['open', 'unknown'] });
  const memory = await readMemory(world, scope, options);
  if (options.readOnly) {
    return observe(work, world, options, scope, reader, memory, unresolvedIntents(intents, world.timing, world.clock));
  }
  const doubts = await resolveIntents(world, scope, intents, memory, work.resources, () => reader.without());
  // What was looked at to decide them is fresh enough to plan upon only if nothing was decided.
  const next = doubts.decided ? reader.without() : reader;
  return observe(
    work,
    world,
    options,
    scope,
    next,
    doubts.decided ? await readMemory(world, scope, options) : memory,
    doubts.pending,
  );
}

/**
 * An observation by what is shared with other applications. Good enough to say that all is as it should be, and for
 * nothing else. undefined where what is shared does not say it.
 */
async function glance(work: Work, world: ApplyWorld, options: PassOptions): Promise<Looked | undefined> {
  const { shared, isAlone = false } = options;
  const { platform, team, region, appId, app } = work.application.spec;
  if (shared === undefined || isAlone) return undefined;
  const listed = await shared.applications(world.client, team, region);
  if (!listed.readable) return undefined;
  const named = listed.value.filter((one) => (appId === undefined ? one.name === app : one.appId === appId));
  const [only, second] = named;
  if (only === undefined || second !== undefined) return undefined;
  const scope = { platform, team, region, appId: only.appId };
  const inDoubt = await world.ledger.intents({ scope: scopeKey(scope), states: ['open', 'unknown'] });
  if (inDoubt.length > 0) return undefined;
  const rules = await shared.rules(world.client, scope);
  const reader = createScopeReader(
    world.client,
    scope,
    rules.readable ? { rules, 'every-rule': { readable: false } } : {},
    { clock: world.clock, shared: { certificates: () => shared.certificates(world.client, team) } },
  );
  const memory = await readMemory(world, scope, options);
  try {
    // What a server can do matters only where something differs, and is found out then: nothing is asked for it here.
    const can: ScopeReader['can'] = async (ability) => world.client.capability(ability) === 'yes';
    return { ...(await look(work, world, options, scope, { ...reader, can }, memory, [])), reader };
  } catch (error) {
    // Whoever asks for the application itself says best what is wrong with it.
    if (error instanceof PortolanError && error.code === VANISHED) return undefined;
    throw error;
  }
}

/** Drift that is only told counts as well: what is told of it is what the application itself says. */
async function isInSync(looked: Looked, world: ApplyWorld): Promise<boolean> {
  const { actions, deferred, holds, notes } = looked.plan;
  const isOpen = actions.length + deferred.length + holds.length + looked.waits.length > 0;
  if (isOpen || notes.some((note) => note.changes !== undefined)) return false;
  // Without a ledger there is nothing to keep.
  return !looked.memory.known || (await bookings(world, looked)).length === 0;
}

/** What a glance has asked for this application alone is as fresh as anything; what it shared is asked anew. */
function readerAfter(
  glanced: Looked | undefined,
  { client, clock }: ApplyWorld,
  scope: Scope,
  application: ApplicationRecord,
): CachingReader {
  if (glanced === undefined || scopeKey(glanced.scope) !== scopeKey(scope))
    return createScopeReader(client, scope, { application }, { clock });
  return glanced.reader
    .without(new Set(['rules', 'every-rule', 'application', 'certificates']))
    .knowing({ application });
}

/** What a pass says that sends nothing. */
export function untouched(prepared: Prepared): Outcome {
  const { work, plan, waits, refusals } = prepared;
  if (refusals.length > 0) return { type: 'refused', application: work.application.id, plan, refusals };
  return { type: 'ended', application: work.application.id, plan, results: [], waits, rounds: 0 };
}

/**
 * Carries a prepared plan out. Later rounds do only what the plan named, or what its deferred actions became: whatever
 * else has come up meanwhile waits for the next pass and its approval.
 * @param approved of an earlier pass, when this one goes on with it.
 */
export async function carryOut(
  first: Prepared,
  world: ApplyWorld,
  options: PassOptions,
  approved = approvalOf(first.plan),
): Promise<Outcome> {
  if (first.refusals.length > 0) return untouched(first);
  const results = new Map<string, ActionResult>();
  let current = first;
  const members = createMembership(world, first.scope);
  let rounds = 0;
  try {
    const tooOld = world.clock.monotonic() - current.observedAtMs > world.timing.observationMaxAgeMs;
    // What an action changes is read again before it; the ledger and the guards are asked here.
    if (tooOld && current.plan.actions.length > 0) current = await again(current, world, options, new Set());
    for (let idle = 0; idle < IDLE_ROUNDS_MAX; rounds += 1) {
      if (current.refusals.length > 0) break;
      let learned = options.ledgerKnown && (await keepBooks(world, current));
      while (learned && current.plan.deferred.length > 0) {
        // What was waited for may have just been recorded: an install that runs now. What follows is recorded as well.
        current = await again(current, world, options, new Set());
        learned = await keepBooks(world, current);
      }
      const actions = runnable(current.plan, approved, results);
      if (actions.length === 0) break;
      const fresh = createFreshReadings(world, current.reader);
      const applied = await applyPlan(world, {
        plan: current.plan,
        actions,
        resources: current.work.resources,
        live: current.live,
        memory: current.memory,
        members,
        freshen: fresh.freshen,
        freshReader: () => fresh.reader().without(),
      });
      idle = isNewlyDone(applied.results, results) ? 0 : idle + 1;
      for (const result of applied.results) results.set(result.action.id, result);
      options.shared?.changed(current.scope);
      const readBack = await lookAgain({ ...current, reader: members.tell(fresh.reader()) }, world, options, applied);
      current = readBack.prepared;
      for (const result of readBack.untaken) {
        results.set(result.action.id, result);
        world.emit({ type: 'finished', action: result.action, scope: scopeKey(current.scope), result });
      }
      if (applied.error !== undefined) throw applied.error;
      if (applied.stopped !== undefined) break;
    }
    return {
      type: 'ended',
      application: first.work.application.id,
      plan: current.plan,
      results: [...results.values()],
      waits: current.waits,
      rounds,
    };
  } catch (error) {
    return {
      type: 'ended',
      application: first.work.application.id,
      plan: current.plan,
      results: [...results.values()],
      waits: [],
      rounds,
      error: expected(error),
    };
  }
}

function isNewlyDone(results: readonly ActionResult[], former: ReadonlyMap<string, ActionResult>): boolean {
  return results.some(({ status, action }) => status === 'done' && former.get(action.id)?.status !== 'done');
}

/** What was read back, and what the platform accepted and does not show: that is not done. */
interface ReadBack {
  readonly prepared: Prepared;
  readonly untaken: readonly ActionResult[];
}

/** Reads back what was touched, and counts what was accepted and did not take. */
async function lookAgain(
  current: Prepared,
  world: ApplyWorld,
  options: PassOptions,
  applied: Applied,
): Promise<ReadBack> {
  // With a write still in the air, or a platform that refuses us, reading proves nothing and costs a request.
  if (applied.stopped !== undefined) {
    const prepared = { ...current, plan: remainder(current.plan, applied.results), waits: [] };
    return { prepared, untaken: [] };
  }
  const next = await again(current, world, options, applied.touched);
  // One without a change of its own took, and comes once more only because a step before it undoes it for a moment.
  const untaken = new Set(next.plan.actions.flatMap(({ id, changes }) => (changes.length > 0 ? [id] : [])));
  const repeated = applied.results.flatMap((result) =>
    result.status === 'done' && untaken.has(result.action.id) ? [notTaken(result)] : [],
  );
  if (repeated.length === 0) return { prepared: next, untaken: [] };
  for (const { action } of repeated) {
    // Done, it may have given its object another natural key.
    const current = next.plan.actions.find(({ id }) => id === action.id) ?? action;
    await countFailure(world, next, current);
  }
  return { prepared: await again(next, world, options, new Set()), untaken: repeated };
}

function remainder(plan: ScopePlan, results: readonly ActionResult[]): ScopePlan {
  const done = new Set(results.flatMap((result) => (result.status === 'done' ? [result.action.id] : [])));
  return { ...plan, actions: plan.actions.filter((action) => !done.has(action.id)) };
}

/** What a person who saw this plan agreed to: its actions, and what its deferred ones become. */
export function approvalOf(plan: ScopePlan): (action: Action) => boolean {
  const actions = new Set(plan.actions.map((action) => action.id));
  const deferred = new Set(plan.deferred.map((entry) => entry.resource));
  return (action) => actions.has(action.id) || (deferred.has(action.resource) && !action.prune);
}

/** A new observation, of everything or only of what was touched, and a new plan. */
async function again(
  current: Prepared,
  world: ApplyWorld,
  options: PassOptions,
  touched: ReadonlySet<ScopeReading> | undefined,
): Promise<Prepared> {
  const { work, scope, reader } = current;
  const memory = await readMemory(world, scope, options);
  const intents = await world.ledger.intents({ scope: scopeKey(scope), states: ['open', 'unknown'] });
  // What this pass has looked at already and could not decide stays as it was found.
  const pending = unresolvedIntents(intents, world.timing, world.clock).map((doubt) =>
    doubt.state === 'due'
      ? (current.inDoubt.find(({ intent, state }) => state === 'held' && intent.id === doubt.intent.id) ?? doubt)
      : doubt,
  );
  return observe(work, world, options, scope, reader.without(touched), memory, pending);
}

async function observe(...found: Parameters<typeof look>): Promise<Prepared> {
  const [, world, options] = found;
  return guarded(await look(...found), world, options);
}

async function guarded(looked: Looked, world: ApplyWorld, { limits }: PassOptions): Promise<Prepared> {
  return { ...looked, refusals: await refusalsOf(looked.plan, looked.memory, limits, world) };
}

async function look(
  work: Work,
  world: ApplyWorld,
  options: PassOptions,
  scope: Scope,
  reader: CachingReader,
  memory: Memory,
  inDoubt: readonly DoubtfulIntent[],
): Promise<Looked> {
  const observedAtMs = world.clock.monotonic();
  const nowMs = world.clock.now();
  const wanted = [...work.resources.values()].filter((resource) => isRead(resource, options));
  const observed = await Promise.all(
    wanted.map(async (resource): Promise<[ResourceId, unknown]> => {
      const kind = reconciledKinds.get(resource.kind);
      if (kind === undefined) throw new Error(`${resource.id} is of a kind that is not reconciled`);
      return [resource.id, await kind.calls.observe({ resource, siblings: work.resources, memory, reader, nowMs })];
    }),
  );
  const live = new Map(observed);
  const withdrawn =
    options.targets === undefined
      ? memory.objects.filter(({ source, resource }) => source === world.source && !work.resources.has(resource))
      : [];
  const withdrawnRules = withdrawn.filter(({ kind }) => kind === 'HttpGatewayRule');
  const owing = memory.objects.filter(({ source, obligation }) => source === world.source && obligation !== null);
  const ports = await withdrawnPorts(reader, withdrawn, owing);
  const needsRules = withdrawnRules.length + ports.size + live.size > 0;
  const listed = needsRules ? await reader.rules() : { readable: false as const };
  const rules = await confirmedRules(world.client, scope, listed, withdrawnRules);
  const { plan, bookkeeping, waits } = planScope({
    application: work.application.id,
    scope,
    source: world.source,
    resources: work.resources,
    live,
    withdrawal: { rules, ports, ...(await removals(reader, rules.readable, ports.size > 0)) },
    memory,
    permissions: options.permissions,
    targets: options.targets,
    inDoubt,
    nowMs: world.clock.now(),
  });
  return { work, scope, reader, live, memory, plan, bookkeeping, waits, inDoubt, observedAtMs };
}

function isRead(resource: Resource, { targets }: PassOptions): boolean {
  if (!reconciledKinds.has(resource.kind) || resource.annotations['portolan/reconcile'] === 'suspend') return false;
  return targets === undefined || targets.has(resource.id);
}

/** Everything thrown on purpose is reported for its scope alone; anything else is a bug and ends the process. */
function expected(error: unknown): PortolanError {
  if (error instanceof PortolanError) return error;
  throw error;
}
