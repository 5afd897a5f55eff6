import { resolveIntents, startWindows, unresolvedIntents } from './resolution/resolve.ts';
import type { ApplyWorld } from './apply/world.ts';
import type { WithdrawalReading } from '../kinds/calls.ts';
import { kindOf, type ReconciledKinds } from '../kinds/define.ts';
import type { LedgerView, ObserveContext, ScopeReader, ScopeReading } from '../kinds/reconciled.ts';
import type { Binding } from '../ledger/binding.ts';
import { PortolanError } from '../model/errors.ts';
import { type ResourceId, type Scope, scopeKey } from '../model/ids.ts';
import type { ApplicationRecord } from '../platform/records.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Resource } from '../model/resource.ts';
import type { DoubtfulIntent } from '../plan/draft.ts';
import { inParts } from '../model/parts.ts';
import { planScope, planScopeParts } from '../plan/plan-scope.ts';
import { bindAtFirstUse, mustBeBoundRegion, mustBeBoundUrl } from './binding.ts';
import { ledgerOperations, readLedgerView } from './ledger-view.ts';
import { resolveScope } from './resolution/resolve-scope.ts';
import { type CachingReader, createScopeReader, VANISHED } from './scope-reader.ts';
import type { PassOptions, Seen, Work } from './work.ts';

/** Observes and plans. Decides intents in doubt first, unless nothing may be written. */
export async function observe(work: Work, world: ApplyWorld, options: PassOptions): Promise<Seen> {
  const binding = options.ledgerKnown ? await mustBeBoundUrl(world.client, world.ledger) : undefined;
  const checked = await quickCheck(work, world, options);
  if (checked !== undefined && (await isInSync(checked, world))) return bound(checked, world, options, binding);
  const { scope, record } = await resolveScope(work.application, world).catch(async (error: unknown) => {
    if (!options.readOnly) await startWindows(world, work.application.spec);
    throw error;
  });
  const reader = readerAfter(checked, world, scope, record);
  const intents = await world.ledger.intents({ scope: scopeKey(scope), states: ['open', 'unknown'] });
  const ledgerView = await readLedgerView(world, scope, options);
  if (options.readOnly) {
    const pending = unresolvedIntents(intents, world.timing, world.clock);
    return bound(await observeAndPlan(work, world, options, scope, reader, ledgerView, pending), world, options);
  }
  // Observing another platform would decide them wrongly.
  if (intents.length > 0) await mustBeBoundRegion(world.client, world.ledger, scope);
  const doubts = await resolveIntents(world, scope, intents, ledgerView, work.resources, () => reader.without());
  // The observation that decided them is fresh enough for a plan only if nothing was decided.
  const next = doubts.decided ? reader.without() : reader;
  const known = doubts.decided ? await readLedgerView(world, scope, options) : ledgerView;
  return bound(await observeAndPlan(work, world, options, scope, next, known, doubts.pending), world, options, binding);
}

/**
 * The same, once it is certain that nothing will be written to another region, or recorded of it, than the ledger knows.
 * @throws PortolanError `ledger/other-platform`
 */
async function bound(
  seen: Seen,
  world: ApplyWorld,
  { ledgerKnown, readOnly }: PassOptions,
  binding?: Binding,
): Promise<Seen> {
  if (!ledgerKnown) return seen;
  const isNews = async (): Promise<boolean> => !readOnly && (await ledgerOperations(world, seen)).length > 0;
  if (seen.plan.actions.length > 0 || (await isNews())) await mustBeBoundRegion(world.client, world.ledger, seen.scope);
  if (!readOnly) await bindAtFirstUse(world, seen.scope, binding);
  return seen;
}

/**
 * An observation by what is shared with other applications. Good enough to say that all is as it should be, and for
 * nothing else. undefined where what is shared does not say it.
 */
async function quickCheck(work: Work, world: ApplyWorld, options: PassOptions): Promise<Seen | undefined> {
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
  const reader = createScopeReader(
    world.client,
    scope,
    {},
    { clock: world.clock, shared: shared.of(world.client, scope) },
  );
  const ledgerView = await readLedgerView(world, scope, options);
  try {
    // Abilities of the server matter only where something differs. They are probed then, and not here.
    const has: ScopeReader['has'] = async (listing) => world.client.capability(listing) === 'yes';
    return { ...(await observeAndPlan(work, world, options, scope, { ...reader, has }, ledgerView, [])), reader };
  } catch (error) {
    // The request for the application itself gives the better error.
    if (error instanceof PortolanError && error.code === VANISHED) return undefined;
    throw error;
  }
}

/** Returns whether nothing differs. Drift that is only reported counts, because its report needs readings of its own. */
async function isInSync(seen: Seen, world: ApplyWorld): Promise<boolean> {
  const { actions, deferred, holds, notes } = seen.plan;
  const isOpen = actions.length + deferred.length + holds.length + seen.waits.length > 0;
  if (isOpen || notes.some((note) => note.changes !== undefined)) return false;
  // Without a ledger there is nothing to keep.
  if (!seen.ledgerView.known) return true;
  // The team is as the manifest writes it, which may be an id or an alias. The ledger has objects only under its name.
  return seen.ledgerView.objects.length > 0 && (await ledgerOperations(world, seen)).length === 0;
}

/** Returns a reader that keeps only the answers that the quick check read for this application alone. */
function readerAfter(
  checked: Seen | undefined,
  { client, clock }: ApplyWorld,
  scope: Scope,
  application: ApplicationRecord,
): CachingReader {
  if (checked === undefined || scopeKey(checked.scope) !== scopeKey(scope))
    return createScopeReader(client, scope, { application }, { clock });
  return checked.reader.alone().knowing({ application });
}

/** A new observation, of everything or only of what was touched, and a new plan. */
export async function reobserve(
  current: Seen,
  world: ApplyWorld,
  options: PassOptions,
  touched: ReadonlySet<ScopeReading> | undefined,
): Promise<Seen> {
  const { work, scope, reader } = current;
  const ledgerView = await readLedgerView(world, scope, options);
  const intents = await world.ledger.intents({ scope: scopeKey(scope), states: ['open', 'unknown'] });
  // Intents that this pass could not decide keep their result.
  const pending = unresolvedIntents(intents, world.timing, world.clock).map((doubt) =>
    doubt.state === 'due'
      ? (current.inDoubt.find(({ intent, state }) => state === 'held' && intent.id === doubt.intent.id) ?? doubt)
      : doubt,
  );
  return bound(
    await observeAndPlan(work, world, options, scope, reader.without(touched), ledgerView, pending),
    world,
    options,
  );
}

async function observeAndPlan(
  work: Work,
  world: ApplyWorld,
  options: PassOptions,
  scope: Scope,
  reader: CachingReader,
  ledgerView: LedgerView,
  inDoubt: readonly DoubtfulIntent[],
): Promise<Seen> {
  const observedAtMs = world.clock.monotonic();
  const nowMs = world.clock.now();
  const wanted = [...work.resources.values()].filter((resource) => isRead(resource, world, options));
  const live = new Map<ResourceId, unknown>();
  const context = { siblings: work.resources, ledgerView, reader, nowMs };
  for (let start = 0; start < wanted.length; start += LARGE) {
    // One answer continues the observation of every resource that waits for it, all in one turn of the event loop.
    if (start > 0) await world.clock.sleep(0);
    for (const [id, seen] of await observeEach(world.kinds, wanted.slice(start, start + LARGE), context))
      live.set(id, seen);
  }
  const ofSource = ledgerView.objects.filter(({ source }) => source === world.source);
  const withdrawal = await observeWithdrawn(world, {
    withdrawn: withdrawnOf(ofSource, work, live, world).filter((object) => mayBeRemoved(object, options)),
    owing: ofSource.filter(({ obligation }) => obligation !== null),
    isAnyObserved: live.size > 0,
    reader,
  });
  const input = {
    kinds: world.kinds,
    application: work.application.id,
    scope,
    source: world.source,
    resources: work.resources,
    live,
    withdrawal,
    ledgerView,
    permissions: options.permissions,
    targets: options.targets,
    isUndo: options.isUndo === true,
    inDoubt,
    nowMs: world.clock.now(),
  };
  const { plan, ledgerUpdates, waits } = isLarge(work)
    ? await inParts(planScopeParts(input), () => world.clock.sleep(0))
    : planScope(input);
  // A row keeps the snapshot that made it: what we created for this one is not finished before all of it is done.
  const isNew = ({ origin, lastSnapshot }: OwnedObject): boolean =>
    origin === 'created' && lastSnapshot === world.snapshot;
  const ours = new Set(ledgerView.objects.filter((object) => !isNew(object)).map(({ naturalKey }) => naturalKey));
  return { work, scope, reader, live, ledgerView, plan, denied: [], ledgerUpdates, waits, ours, inDoubt, observedAtMs };
}

/** Returns what each resource's kind observed of it. */
export async function observeEach(
  kinds: ReconciledKinds,
  resources: readonly Resource[],
  context: Omit<ObserveContext<unknown>, 'resource'>,
): Promise<ReadonlyMap<ResourceId, unknown>> {
  const observed = resources.map(
    async (resource) =>
      [resource.id, await kindOf(kinds, resource.id).calls.observe({ ...context, resource })] as const,
  );
  return new Map(await Promise.all(observed));
}

/** Which of the objects no manifest wants: its manifest is gone, or means another one by now. */
function withdrawnOf(
  objects: readonly OwnedObject[],
  { resources }: Work,
  live: ReadonlyMap<ResourceId, unknown>,
  { kinds }: ApplyWorld,
): readonly OwnedObject[] {
  return objects.filter((object) => {
    if (!resources.has(object.resource)) return true;
    const seen = live.get(object.resource);
    return seen !== undefined && kinds.get(object.kind)?.calls.isAnother?.(object, seen) === true;
  });
}

function mayBeRemoved({ resource }: OwnedObject, { targets, isUndo }: PassOptions): boolean {
  return targets === undefined || (isUndo === true && targets.has(resource));
}

/** Returns what each kind observed for the removal of its objects. */
async function observeWithdrawn(
  { kinds }: ApplyWorld,
  reading: WithdrawalReading,
): Promise<ReadonlyMap<string, unknown>> {
  const asked = new Map<unknown, Promise<unknown>>();
  const seen = new Map<string, unknown>();
  for (const [name, { calls }] of kinds) {
    if (calls.observeWithdrawn === undefined) continue;
    const answer = asked.get(calls.observeWithdrawn) ?? calls.observeWithdrawn(reading);
    asked.set(calls.observeWithdrawn, answer);
    seen.set(name, await answer);
  }
  return seen;
}

function isRead(resource: Resource, { kinds }: ApplyWorld, { targets }: PassOptions): boolean {
  if (!kinds.has(resource.kind) || resource.annotations['portolan/reconcile'] === 'suspend') return false;
  return targets === undefined || targets.has(resource.id);
}

/** So many resources that observing or planning them in one go keeps a process from its other work. */
const LARGE = 256;

function isLarge({ resources }: Work): boolean {
  return resources.size >= LARGE;
}
