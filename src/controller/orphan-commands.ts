import type { Lead } from '../ledger/shared.ts';
import { errorFacts, PortolanError } from '../model/errors.ts';
import type { OwnedObject } from '../model/owned.ts';
import { parseScopeKey, type ResourceId, resourceId, type ScopeKey, scopeKey } from '../model/ids.ts';
import type { Pruned } from '../model/manual.ts';
import { planDigest } from '../plan/digest.ts';
import { orphansOf } from '../plan/orphans.ts';
import { closedLabels, orphanedWork } from '../reconcile/orphans.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { agreedPlan } from '../reconcile/policies/interactive.ts';
import { type PassOptions, reconcile, type Work } from '../reconcile/reconcile.ts';
import { unresolvedOf } from '../reconcile/survey.ts';
import { eventsOf } from './apply-events.ts';
import { type Author, type ControllerApi, notOrphaned } from './api.ts';
import { type Core, passOptions, worldOf } from './core.ts';
import { draftEvent } from './events.ts';
import { historyRow } from './ledger-records.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { isNewer } from './account.ts';
import { alone, forget, forgottenEvent } from './manual.ts';
import { scopesOf } from './orphans.ts';
import { planOrphan } from './planning.ts';
import { platformUnit } from './replicas/leadership.ts';
import { mayNotContinue } from './replicas/unit-ledgers.ts';

type Commands = Pick<ControllerApi, 'planPrune' | 'prune' | 'forgetOrphan'>;

/** Returns the commands about resources in applications that no manifest of the source refers to any more. */
export function orphanCommands(core: Core): Commands {
  return {
    planPrune: async (scope, signal) => planOrphan(core, await workOf(core, scope), orphanOptions(core), signal),
    prune: (scope, request, signal) =>
      aloneInScope(core, scope, signal, (lead) => {
        const pruning = prune(core, scope, lead, request);
        core.track(pruning);
        return pruning;
      }),
    forgetOrphan: (scope, resource, author, signal) =>
      aloneInScope(core, scope, signal, async ({ ledger }) => {
        const orphans = await orphansIn(core, scope);
        const meant = orphans.filter((one) => resource === undefined || one.resource === resource);
        if (meant.length === 0) throw notOrphaned(resource ?? scope);
        const answer = await forget(
          core,
          ledger,
          meant.flatMap(({ objects }) => objects),
          author,
        );
        core.events.publish(forgottenEvent(resource ?? scope, author, { scope, resource: resource ?? null }));
        await core.refreshOrphans(parseScopeKey(scope)?.platform ?? '');
        return answer;
      }),
  };
}

/** Runs a task while nothing else of a scope runs, and while no application may take the scope over. */
async function aloneInScope<Result>(
  core: Core,
  scope: ScopeKey,
  signal: AbortSignal,
  task: (lead: Lead) => Promise<Result>,
): Promise<Result> {
  const platform = parseScopeKey(scope)?.platform;
  if (platform === undefined) throw notOrphaned(scope);
  const unit = platformUnit(platform);
  return alone(core, { key: resourceId('Application', scope), unit }, signal, async (lead) => {
    const claimants = (): readonly ResourceId[] => core.claims.of(scope);
    // The last pass of an application that was removed from the source.
    const last = claimants().filter((id) => !core.records.has(id) && core.queue.isRunning(id));
    for (const id of last) await alone(core, { key: id, unit }, signal, async () => {});
    if (claimants().some((id) => core.records.has(id))) throw notOrphaned(scope);
    core.orphanWork.add(scope);
    try {
      return await task(lead);
    } finally {
      core.orphanWork.delete(scope);
    }
  });
}

/** Returns what the ledger has of a scope that is orphaned at this moment; none if it is not. */
async function orphansIn(core: Core, scope: ScopeKey) {
  // While the present source is unknown, an application may be about to return.
  if (!core.intake.isCurrent) throw sourceUnknown();
  return orphansAmong(core, await ownedIn(core, scope));
}

function ownedIn({ sourceLedger, options }: Core, scope: ScopeKey): Promise<readonly OwnedObject[]> {
  return sourceLedger.ledger.objects({ source: options.source, scope });
}

/** Returns those of the objects that no application refers to at this moment. */
function orphansAmong({ records }: Core, owned: readonly OwnedObject[]) {
  const all = [...records.values()];
  const unresolved = all.filter(({ status }) => status.scope === null).map(({ work }) => unresolvedOf(work));
  return orphansOf(owned, scopesOf(records), unresolved);
}

/** Returns an application without resources in place of the one that is gone. @throws PortolanError when it is not orphaned. */
async function workOf(core: Core, name: ScopeKey): Promise<Work> {
  const scope = parseScopeKey(name);
  if (scope === undefined || (await orphansIn(core, name)).length === 0) throw notOrphaned(name);
  const { configuration, options, records, sourceLedger, gates } = core;
  const managed = [...records.values()].map(
    ({ status, work }) => (status.scope === null ? undefined : parseScopeKey(status.scope)) ?? unresolvedOf(work),
  );
  return orphanedWork({
    scope,
    source: options.source,
    ledger: sourceLedger.ledger,
    managed,
    client: (platform) => configuration.client(platform),
    labels: closedLabels(scope, configuration.settings.windows, gates.windowAt),
  });
}

/**
 * Returns what a person permits who confirms exactly this plan: as an approval does, it overrules the limits of size, and
 * nothing else.
 */
function orphanOptions({ configuration, gates }: Core): PassOptions {
  const { limits, permissions, ...options } = passOptions(configuration);
  return {
    ...options,
    permissions: { ...permissions, prune: true, firstInstall: () => false },
    limits: {
      ...limits,
      maxShare: 1,
      maxPrunes: Number.MAX_SAFE_INTEGER,
      windows: { at: gates.windowAt, ignoredBecause: undefined },
      isDaemon: true,
    },
  };
}

async function prune(
  core: Core,
  scope: ScopeKey,
  lead: Lead,
  { by, reason, digest }: Author & { readonly digest: string },
): Promise<Pruned> {
  const { events, intake } = core;
  const sourceLedger = { ...core.sourceLedger, ledger: lead.ledger };
  const work = await workOf(core, scope);
  const owned = await ownedIn(core, scope);
  // A commit that names the application again may be followed while this observes the platform, or removes something.
  const hasReturned = (): boolean => orphansAmong(core, owned).length === 0;
  const options = orphanOptions(core);
  const actor = `${by}, through ${sourceLedger.actor}`;
  core.passes += 1;
  const revision = intake.accepted?.revision ?? null;
  const world = {
    ...worldOf(core, work, {
      snapshot: intake.accepted?.snapshot ?? '',
      hooks: {
        emit: (event) => {
          for (const draft of eventsOf(event)) events.publish({ ...draft, scope });
        },
        stopRequested: () => (mayNotContinue(core, lead) ? 'interrupted' : undefined),
      },
      origin: { run: `${lead.ledger.epoch}.${core.passes}`, application: work.application.id, revision },
      lead,
    }),
    actor,
  };
  const policy = agreedPlan({ limits: options.limits });
  let isSeen = false;
  const outcome = await reconcile(work, world, options, {
    ...policy,
    async admit(prepared) {
      if (scopeKey(prepared.scope) !== scope) throw notOrphaned(scope);
      const now = planDigest([prepared.plan]);
      if (!isSeen && now !== digest) throw otherPrune(scope, digest, now);
      await refuseOutdated(core, sourceLedger);
      if (hasReturned()) throw notOrphaned(scope);
      if (!isSeen)
        await recordOfSource({ ...sourceLedger, actor }, [historyRow('prune-orphan', { by, reason, digest })], scope);
      isSeen = true;
      return policy.admit(prepared);
    },
    withheld: (prepared) =>
      mayBeOutdated(core) || hasReturned() ? { type: 'interrupted' } : policy.withheld(prepared),
  });
  core.shared?.forget();
  await core.refreshOrphans(work.application.spec.platform);
  const answer = prunedOf(scope, outcome);
  const failed = answer.results.filter(({ status }) => status !== 'done').length;
  const message = `${by} pruned ${scope}: ${answer.results.length - failed} done, ${failed} not done: ${reason}`;
  events.publish(draftEvent('orphan.pruned', message, { scope, detail: { by, reason, digest } }));
  return answer;
}

/** Returns the results. @throws PortolanError when nothing was sent. */
function prunedOf(scope: ScopeKey, outcome: Outcome): Pruned {
  switch (outcome.type) {
    case 'unobserved':
      throw outcome.error;
    case 'refused': {
      const [refusal] = outcome.refusals;
      throw new PortolanError({
        code: refusal?.code ?? 'guard/refused',
        disposition: 'ask-human',
        message: `${refusal?.message ?? 'A guard refused the removal'}. Nothing was sent.`,
        remedy: `To allow it: ${refusal?.override ?? 'look at the plan'}.`,
      });
    }
    case 'ended': {
      const { error } = outcome;
      const results = outcome.results.map(({ action, status, ...rest }) => ({
        id: action.id,
        summary: action.summary,
        status,
        message: 'answer' in rest ? rest.answer.message : '',
      }));
      if (error !== undefined && results.length === 0) throw error;
      return {
        scope,
        results,
        error: error === undefined ? null : errorText(error),
        left: outcome.plan.actions.length,
      };
    }
  }
}

function errorText(error: PortolanError): string {
  const { message, remedy } = errorFacts(error);
  return `${message} ${remedy}`;
}

function refused(code: string, message: string, remedy: string): PortolanError {
  return new PortolanError({ code, disposition: 'ask-human', message, remedy });
}

/** Returns whether there is a newer revision, or may be: the application may be about to return. */
function mayBeOutdated({ intake }: Core): boolean {
  return intake.isBehind || !intake.isCurrent;
}

/** @throws PortolanError when another replica accepted a revision that this one has not loaded yet. Nothing was sent then. */
async function refuseOutdated(core: Core, ledger: SourceLedger): Promise<void> {
  if (mayBeOutdated(core)) throw sourceUnknown();
  if (!core.leadership.isShared) return;
  await core.account.refresh(ledger).catch((error: unknown) => {
    throw isNewer(error) ? sourceUnknown() : error;
  });
}

function sourceUnknown(): PortolanError {
  return refused(
    'controller/source-unknown',
    'The present source could not be read or was not accepted, no controller reads it at this moment, or this replica has not loaded what another one accepted, so it is not known what is orphaned. Nothing was done.',
    'Look at the error of the source, which portolan status shows. Without one, retry in a few seconds.',
  );
}

function otherPrune(scope: ScopeKey, digest: string, now: string): PortolanError {
  return refused(
    'controller/other-plan',
    `The removal from ${scope} has the digest ${now}, not ${digest}. Nothing was removed.`,
    'Look at the plan again, and confirm what it shows now.',
  );
}
