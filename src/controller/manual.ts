import type { Ledger } from '../ledger/ledger.ts';
import type { Lead, LeaseUnit } from '../ledger/shared.ts';
import { PortolanError } from '../model/errors.ts';
import type { ResourceId, ScopeKey } from '../model/ids.ts';
import type { Doubt, Forgotten, Resolved } from '../model/manual.ts';
import type { Intent, OwnedObject } from '../model/owned.ts';
import type { Action } from '../model/plan.ts';
import { type AnswerSummary, answerText } from '../platform/verdict.ts';
import { timingOf } from '../reconcile/apply/world.ts';
import {
  adoptObject,
  forgetObjects,
  forgetWarnings,
  objectsNamed,
  retryObjects,
} from '../reconcile/resolution/manual-changes.ts';
import { type ManualWorld, resolveManually } from '../reconcile/resolution/manual-resolution.ts';
import { readerOfScope } from '../reconcile/resolution/scope-access.ts';
import { settleStateOf } from '../reconcile/resolution/settle-window.ts';
import { after } from '../runtime/clock.ts';
import { type Author, type ControllerApi, type ResolveRequest, unknownApplication } from './api.ts';
import { type Core, known, publish } from './core.ts';
import { draftEvent, type EventDraft } from './events.ts';
import type { AppRecord } from './ledger-records.ts';
import { platformUnit } from './replicas/leadership.ts';
import { leading } from './replicas/unit-ledgers.ts';

/** Time that a decision waits for a pass of its application. */
const WAIT_MS = 20_000;

type Commands = Pick<ControllerApi, 'doubts' | 'resolve' | 'retry' | 'forget' | 'adoptById'>;

/** Returns the manual decisions about the ledger. They follow the rules of the offline commands, and never run during a pass. */
export function manualCommands(core: Core): Commands {
  return {
    doubts: async (id) => doubtsOf(core, known(core, id)),
    resolve: (id, intent, request, signal) =>
      decideAlone(core, id, signal, (scope, ledger) => resolve(core, { scope, ledger }, intent, request)),
    retry: (id, resource, by, signal) =>
      decideAlone(core, id, signal, async (scope, ledger) => {
        const released = await retryObjects(worldOf(core, by, ledger), await objectsOf(core, scope, resource));
        const retried = released.map(({ uid, failures }) => ({ uid, failures }));
        const detail = { by, objects: retried.length };
        const event = draftEvent('hold.retried', `${by} requested another attempt at ${resource}`, {
          resource,
          detail,
        });
        return {
          answer: { retried },
          event: retried.length > 0 ? event : undefined,
          because: `retry requested by ${by}`,
        };
      }),
    forget: (id, resource, author, signal) =>
      decideAlone(core, id, signal, async (scope, ledger) => ({
        answer: await forget(core, ledger, await objectsOf(core, scope, resource), author),
        event: forgottenEvent(resource, author, { resource }),
        because: `forgotten by ${author.by}`,
      })),
    adoptById: (id, resource, { objectId, ...author }, signal) =>
      decideAlone(core, id, signal, async (scope, ledger) => {
        const objects = await objectsOf(core, scope, resource);
        const adopted = await adoptObject(worldOf(core, author.by, ledger), objects, objectId, author.reason);
        const detail = { ...author, id: adopted.remoteId };
        const message = `${author.by} adopted ${resource}: ${author.reason}`;
        return {
          answer: { adopted },
          event: draftEvent('object.adopted', message, { resource, detail }),
          because: `adopted by ${author.by}`,
        };
      }),
  };
}

async function resolve(
  core: Core,
  { scope, ledger }: { readonly scope: ScopeKey; readonly ledger: Ledger },
  intent: string,
  { by, reason, decision, force }: ResolveRequest,
): Promise<Decided<Resolved>> {
  await mustBeOf(core, scope, intent);
  const resolved = await resolveManually(worldOf(core, by, ledger), {
    intent,
    decision,
    reason,
    force,
    platform: (of) => readerOfScope({ client: () => core.configuration.client(of.platform), ledger }, of, ''),
  });
  const { operation, resource } = resolved.intent;
  const outcome = decision.type === 'applied' ? 'applied' : 'not applied';
  const message = `${by} resolved ${operation} for ${resource} as ${outcome}: ${reason}`;
  const { object = null, warnings } = resolved;
  return {
    answer: { intent, decision: decision.type, object, warnings },
    event: draftEvent('intent.resolved', message, { resource, detail: { intent, by, reason } }),
    because: `resolved by ${by}`,
  };
}

/** Drops objects from the ledger. */
export async function forget(
  core: Core,
  ledger: Ledger,
  objects: readonly OwnedObject[],
  author: Author,
): Promise<Forgotten> {
  await forgetObjects(worldOf(core, author.by, ledger), objects, author.reason);
  const { kinds } = core.options;
  return { forgotten: objects, warnings: objects.flatMap((object) => forgetWarnings(kinds, object)) };
}

/** Returns the event of objects that were removed from the ledger. @param place the resource or the scope of the event. */
export function forgottenEvent(what: string, { by, reason }: Author, place: Partial<EventDraft>): EventDraft {
  const message = `${by} removed ${what} from the ledger; it stays on the platform: ${reason}`;
  return draftEvent('object.forgotten', message, { ...place, detail: { by, reason } });
}

interface Decided<Answer> {
  readonly answer: Answer;
  /** undefined: nothing was changed. */
  readonly event: EventDraft | undefined;
  /** Reason of the next pass. */
  readonly because: string;
}

/** Carries out a decision between two passes of an application, reports it, and requests the next pass. */
async function decideAlone<Answer>(
  core: Core,
  id: ResourceId,
  signal: AbortSignal,
  task: (scope: ScopeKey, ledger: Ledger) => Promise<Decided<Answer>>,
): Promise<Answer> {
  const { scope: seen, platform } = known(core, id).status;
  return alone(core, { key: id, unit: platformUnit(platform) }, signal, async ({ ledger }) => {
    // The source may have changed while the decision waited.
    const record = known(core, id);
    const { scope } = record.status;
    if (scope === null) throw unresolved(id);
    // The person decided about another application, and may not be allowed to see this one.
    if (scope !== seen) throw unknownApplication(id);
    const { answer, event, because } = await task(scope, ledger);
    core.shared?.forget();
    if (event !== undefined) publish(core, record, record.revision, [event]);
    core.queue.restart(id, because);
    return answer;
  });
}

/**
 * Runs a task between two passes of a key.
 * @param place the key, and the unit whose records the task writes.
 * @throws PortolanError `controller/busy` when the pass in progress does not end in time, `controller/not-leader` when another
 * process leads the unit: nothing was done.
 */
export async function alone<Result>(
  core: Core,
  { key, unit }: { readonly key: ResourceId; readonly unit: LeaseUnit },
  signal: AbortSignal,
  task: (lead: Lead) => Promise<Result>,
): Promise<Result> {
  return leading(core, unit, (lead) => betweenPasses(core, key, signal, () => task(lead)));
}

async function betweenPasses<Result>(
  core: Core,
  key: ResourceId,
  signal: AbortSignal,
  task: () => Promise<Result>,
): Promise<Result> {
  const tooLate = new AbortController();
  const begun = new AbortController();
  after(core.options.clock, WAIT_MS, begun.signal, () => tooLate.abort(busy(key)));
  const waiting = AbortSignal.any([signal, core.stop, tooLate.signal]);
  try {
    return await core.queue.alone(
      key,
      async () => {
        begun.abort();
        waiting.throwIfAborted();
        return await task();
      },
      waiting,
    );
  } finally {
    begun.abort();
  }
}

/** Returns the world of a person's decision. The history has the name of the person, and of the controller. */
function worldOf({ options, sourceLedger, configuration }: Core, by: string, ledger: Ledger): ManualWorld {
  const { clock, actor } = sourceLedger;
  return {
    kinds: options.kinds,
    ledger,
    clock,
    actor: `${by}, through ${actor}`,
    timing: timingOf(configuration.settings),
  };
}

/** Returns what the ledger has of a resource of this source in an application. */
function objectsOf({ sourceLedger, options }: Core, scope: ScopeKey, resource: ResourceId) {
  return objectsNamed(sourceLedger, resource, { scope, source: options.source });
}

/** Refuses an intent of another application, as if the ledger did not have it. */
async function mustBeOf({ sourceLedger: { ledger } }: Core, scope: ScopeKey, id: string): Promise<void> {
  const [intent] = await ledger.intents({ id });
  if (intent?.scope === scope) return;
  throw new PortolanError({
    code: 'ledger/no-intent',
    disposition: 'invalid',
    message: `The application has no intent ${id}. Nothing was recorded.`,
    remedy: 'List those whose outcome is not known: portolan attention --server URL.',
  });
}

/** Returns the requests of an application whose outcome is not known, oldest first. */
export async function doubtsOf(core: Core, record: AppRecord): Promise<readonly Doubt[]> {
  const { doubts, isRunning } = record;
  const { scope } = record.status;
  if (scope === null) return [];
  const pending = await core.sourceLedger.ledger.intents({ scope, states: ['open', 'unknown'] });
  const own = core.leadership.held(platformUnit(record.status.platform))?.ledger.epoch;
  // The pass in progress waits for the answer of its own request.
  const isInFlight = ({ state, epoch }: Intent): boolean => isRunning && state === 'open' && epoch === own;
  return pending
    .filter((intent) => !isInFlight(intent))
    .map((intent) => doubtOf(core, intent, doubts.get(intent.id) ?? null));
}

function doubtOf({ options: { clock } }: Core, intent: Intent, evidence: string | null): Doubt {
  const { id, resource, operation, idempotence, createdMs, outcome, settleMs } = intent;
  const { message, ...answer } = (outcome ?? {}) as Partial<AnswerSummary>;
  const left = settleStateOf(intent, clock);
  return {
    id,
    resource,
    operation,
    summary: (intent.action as unknown as Partial<Action>).summary ?? operation,
    idempotence,
    sentMs: createdMs,
    answer: message === undefined ? null : answerText({ ...answer, message }),
    settleWindow: {
      state: left.type,
      atMs: left.type === 'until' ? left.untilMs : left.type === 'over' ? settleMs : null,
    },
    evidence,
  };
}

function unresolved(id: ResourceId): PortolanError {
  return new PortolanError({
    code: 'controller/not-resolved',
    disposition: 'ask-human',
    message: `${id} was not found on the platform yet, so the ledger has nothing of it. Nothing was done.`,
    remedy: 'Correct what its status shows, and retry after the next pass.',
  });
}

function busy(key: ResourceId): PortolanError {
  return new PortolanError({
    code: 'controller/busy',
    disposition: 'retry',
    message: `A pass of ${key} did not end within ${WAIT_MS / 1000} s. Nothing was done.`,
    remedy: 'Retry when the pass has ended; its events show its progress.',
  });
}
