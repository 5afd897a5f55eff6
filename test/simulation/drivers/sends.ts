import type { Intent } from '../../../src/model/owned.ts';
import { hashOf } from '../../../src/platform/requests.ts';
import type { PlatformRequest } from '../../../src/platform/transport.ts';
import { defaultTiming, type Timing } from '../../../src/reconcile/apply/world.ts';
import type { Decision } from '../../../src/sandbox/handle.ts';
import type { InstallRow, RuleRow } from '../../../src/sandbox/state.ts';
import { type Sent, sentNow } from '../truth.ts';
import { nameOfScope } from './estate.ts';
import type { Sender, Surroundings } from './surroundings.ts';

/** Settle windows, and the deadline of a request. */
type SendTiming = Pick<Timing, 'sendWithinMs' | 'settleTargetStateMs'>;

/** Everything that drivers sent, and what must be true of each request when it leaves. */
export class Sends {
  readonly sent: Sent[] = [];
  readonly #world: Surroundings;
  readonly #byIntent = new Map<string, Sent>();
  /** Intents of what a person has agreed to. */
  readonly #agreed = new Set<string>();
  readonly #maker = new Map<string, string>();

  readonly #timing: SendTiming;

  constructor(world: Surroundings, timing: SendTiming = defaultTiming) {
    this.#world = world;
    this.#timing = timing;
  }

  of(intentId: string): Sent | undefined {
    return this.#byIntent.get(intentId);
  }

  /** The uid for which a rule was made; undefined: by anybody else. */
  makerOf(rowKey: string): string | undefined {
    return this.#maker.get(rowKey);
  }

  /** The same for another world. */
  copyFor(world: Surroundings): Sends {
    const copy = new Sends(world, this.#timing);
    for (const sent of this.sent) {
      const same = { ...sent, rules: [...sent.rules] };
      copy.sent.push(same);
      copy.#byIntent.set(same.intent.id, same);
    }
    for (const id of this.#agreed) copy.#agreed.add(id);
    for (const [row, uid] of this.#maker) copy.#maker.set(row, uid);
    return copy;
  }

  /** Whether a person has agreed to it. */
  isAgreed({ intent }: Sent): boolean {
    return this.#agreed.has(intent.id);
  }

  sends(request: PlatformRequest, process: Sender): Sent | undefined {
    const world = this.#world;
    const intent = this.#intentOf(request, process);
    if (intent === undefined) {
      world.violate('I-WAL', `${request.method} ${request.path} was sent without an open intent of its hash`);
      return undefined;
    }
    const atMs = world.books.openedMs.get(intent.id) ?? 0;
    const sent = sentNow(intent, request, process.number, world.timeline.nowMs);
    const { action } = sent;
    this.#checkAlone(intent, process);
    if (world.timeline.nowMs - atMs >= this.#timing.sendWithinMs)
      world.violate('I-WAL', `${action.summary} was sent after its deadline`);
    if (process.drainMs !== undefined && process.drainMs < atMs)
      world.violate('I-DRAIN', `${action.summary} was begun ${atMs - process.drainMs} ms after the end was asked for`);
    world.note(
      `p${process.number} sends ${action.id}${action.prune ? ' prune' : ''} ${action.cause} ${action.object.slice(-30)} +${action.takesAlong?.length ?? 0}`,
    );
    if (process.check(sent, atMs)) this.#agreed.add(intent.id);
    this.sent.push(sent);
    this.#byIntent.set(intent.id, sent);
    return sent;
  }

  acted(sent: Sent, outcome: Decision): void {
    sent.fate = outcome.effectApplied ? 'applied' : 'never';
    const name = nameOfScope(sent.intent.scope);
    const counts = outcome.effectApplied && !this.#agreed.has(sent.intent.id);
    if (counts && name !== undefined) this.#world.permissions.acted(sent, name);
    for (const { table, before, after } of outcome.changes) {
      if (table === 'installs' && after !== undefined) this.#checkCopies(after as InstallRow);
      if (table !== 'rules' || before !== undefined || after === undefined) continue;
      const { id } = after as RuleRow;
      sent.rules.push(id);
      this.#maker.set(`rule ${id}`, sent.intent.uid);
    }
  }

  /** Nobody else installs anything, and git asks for each model once. */
  #checkCopies({ appId, modelId }: InstallRow): void {
    const copies = [...this.#world.server.state.installs.in('application', String(appId))].filter(
      (row) => row.modelId === modelId,
    );
    if (copies.length > 1)
      this.#world.violate('I-ONCE', `${modelId} was installed ${copies.length} times into ${appId}`);
  }

  #intentOf(request: PlatformRequest, process: Sender): Intent | undefined {
    const hash = hashOf(request);
    for (const intent of this.#world.books.intents.values()) {
      const mayLeave = intent.state === 'open' || intent.state === 'unknown';
      const isUnsent = !this.#byIntent.has(intent.id);
      if (mayLeave && isUnsent && intent.requestHash === hash && process.owns(intent)) return intent;
    }
    return undefined;
  }

  /** One write in flight for each application, and none beside one that may still act. */
  #checkAlone(intent: Intent, process: Sender): void {
    const world = this.#world;
    for (const other of this.sent) {
      if (other.intent.scope !== intent.scope) continue;
      const mayStillAct = other.fate === 'late' || other.fate === 'in-flight';
      const what = `${intent.operation} ${intent.id} was sent while ${other.intent.operation} ${other.intent.id}`;
      if (other.controller === process.number && !other.isAnswered) world.violate('I-BOUND', `${what} was in flight`);
      else if (mayStillAct && intent.operation === 'install' && other.intent.operation === 'install')
        world.violate('I-ONCE', `${what} may still act`);
      else if (mayStillAct && world.timeline.nowMs - other.sentMs < this.#timing.settleTargetStateMs)
        world.violate('I-SETTLE', `${what} may still act`);
    }
  }
}
