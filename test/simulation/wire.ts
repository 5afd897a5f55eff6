import type { PlatformRequest, PlatformResponse, Transport } from '../../src/platform/transport.ts';
import { TransportError } from '../../src/platform/transport.ts';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import { Chance } from './chance.ts';
import type { WriteClass } from '../../src/model/owned.ts';
import { type Answer, type ReadFault, readFaults, type WriteFault, writeFaults } from './faults.ts';
import { classOf } from './perturbations.ts';
import { responseOf, STALE_MS_MAX } from './server.ts';
import { isRefusedForOrder, type Sent } from './truth.ts';
import type { Effect } from './perturbations.ts';
import type { Server } from './server.ts';
import type { Timeline } from './timeline.ts';
import type { Decision } from '../../src/sandbox/handle.ts';
import type { Step } from './world.ts';

/** A promise of its own each time: a shared one would keep everybody who ever waited for it. */
export const never = (): Promise<never> => new Promise(() => {});
const readsByName = new Map(readFaults.map((fault) => [fault.name, fault]));
const writesByName = new Map(writeFaults.map((fault) => [fault.name, fault]));

/** How long the server may take at most to act on a request: the assumption that every settle window rests on. */
const SETTLE_MS = {
  'target-state': defaultTiming.settleTargetStateMs,
  'duplicate-rejecting': defaultTiming.settleCreationMs,
  'duplicate-accepting': defaultTiming.settleInstallMs,
} as const;

type Reply = PlatformResponse | TransportError;

/** A process that sends. */
interface Sending {
  readonly number: number;
  readonly alive: boolean;
}

/** The world, as far as what is sent has to do with it. */
export interface WiredWorld<P extends Sending> {
  /** Where it is another: how long the server may take at most. */
  readonly settleMs?: Readonly<Record<WriteClass, number>> | undefined;
  readonly timeline: Timeline;
  readonly server: Server;
  readonly answersAsValues: boolean;
  readonly truth: {
    /** A write leaves. undefined: it must not, and does not. */
    sends(request: PlatformRequest, process: P): Sent | undefined;
    acted(sent: Sent, outcome: Decision): void;
  };
  /** Writes that the platform itself refused, and which. */
  refused: number;
  readonly refusedRequests: Set<string>;
  begin(process: P, effect: Effect): Step | 'dead';
  diesAfter(process: P, step: Step): boolean;
  crash(process: P, crash: NonNullable<Step['crash']>): void;
  isUndisturbed(): boolean;
  latencyMs(): number;
  note(text: string): void;
  violate(invariant: string, message: string): void;
}

/** What everything that happens on the way needs, whoever sends. */
type Wired = Omit<WiredWorld<never>, 'begin' | 'diesAfter' | 'crash' | 'truth'> & {
  readonly truth: Pick<WiredWorld<never>['truth'], 'acted'>;
};

/** The way from a controller to the platform, and everything that goes wrong on it. */
export function transportOf<P extends Sending>(world: WiredWorld<P>, controller: P): Transport {
  return (request) => {
    const kind = request.isRead ? 'read' : 'write';
    const step = world.begin(controller, { kind, operation: request.operation });
    if (step === 'dead') return never();
    return new Promise<PlatformResponse>((resolve, reject) => {
      const reply = (answer: Reply): void => {
        if (!controller.alive) return;
        if (world.diesAfter(controller, step)) return;
        world.note(
          `p${controller.number} ${step.number} ${request.operation} ${answer instanceof TransportError ? answer.code : answer.status}`,
        );
        if (answer instanceof TransportError) reject(answer);
        else resolve(answer);
      };
      if (request.isRead) read(world, request, step, reply);
      else write(world, controller, request, step, reply);
    });
  };
}

function read(world: Wired, request: PlatformRequest, step: Step, reply: (answer: Reply) => void): void {
  const { timeline, server } = world;
  const fault = step.fault === undefined ? undefined : readsByName.get(step.fault);
  const chance = new Chance(step.a);
  const latencyMs = world.latencyMs();
  if (fault?.act.type === 'answer') return answerWrongly(world, request, fault.act.answer, chance, reply);
  timeline.after(latencyMs, () => {
    const staleMs = fault?.act.type === 'stale' ? chance.int(STALE_MS_MAX) : 0;
    const outcome = staleMs > 0 ? server.performAsOf(request, staleMs) : server.perform(request);
    if (fault?.act.type === 'empty') {
      server.emptyUntilMs.set(request.operation, timeline.nowMs + chance.pick([0, 1_000, 3_000, 60_000]));
    }
    const response = responseOf(outcome, world.answersAsValues);
    const isEmpty = (server.emptyUntilMs.get(request.operation) ?? -1) >= timeline.nowMs;
    const answer = altered(response, isEmpty ? 'empty' : fault?.act.type, chance);
    if (isEmpty || staleMs > 0) server.keepConcealed(request, answer.body);
    reply(answer);
  });
}

/** Something else answers in place of the platform, or nobody. */
function answerWrongly(
  world: Wired,
  request: PlatformRequest,
  answer: Answer,
  chance: Chance,
  reply: (answer: Reply) => void,
): void {
  const { timeline, server } = world;
  switch (answer.type) {
    case 'silence':
      return timeline.after(request.timeoutMs, () => reply(new TransportError('ambiguous', 'ETIMEDOUT', 'no answer')));
    case 'failure':
      return timeline.after(world.latencyMs(), () =>
        reply(new TransportError(answer.failure, answer.code, answer.code)),
      );
    case 'other':
      return timeline.after(world.latencyMs(), () => reply(pageOf(answer)));
    case 'truncated':
      return timeline.after(world.latencyMs(), () => reply(cutOff(responseOf(server.perform(request)), chance)));
    case 'slow': {
      const response = responseOf(server.perform(request));
      const latencyMs = chance.pick([4_000, 6_000, 20_000]);
      return timeline.after(latencyMs, () => reply(response));
    }
    default:
      return timeline.after(world.latencyMs(), () => reply(responseOf(server.perform(request))));
  }
}

function write<P extends Sending>(
  world: WiredWorld<P>,
  controller: P,
  request: PlatformRequest,
  step: Step,
  reply: (answer: Reply) => void,
): void {
  const sent = world.truth.sends(request, controller);
  if (sent === undefined) return;
  const fault = step.fault === undefined ? undefined : writesByName.get(step.fault);
  const chance = new Chance(step.a);
  const answered = (answer: Reply): void => {
    sent.isAnswered = true;
    reply(answer);
    const isYes = fault === undefined && !(answer instanceof TransportError) && answer.status < 300;
    sent.isConfirmed = isYes && controller.alive;
  };
  if (step.crash?.when === 'during') {
    sent.fate = 'late';
    world.timeline.after(lateMs(world, request.operation, chance), () => void act(world, sent));
    return world.crash(controller, step.crash);
  }
  if (fault?.rejects === true) sent.isRefused = true;
  if (fault?.effect === 'none') sent.fate = 'never';
  if (fault?.effect === 'late') {
    sent.fate = 'late';
    world.timeline.after(lateMs(world, request.operation, chance), () => void act(world, sent));
  }
  const acts = fault === undefined || fault.effect === 'now' || fault.effect === 'twice';
  world.timeline.after(world.latencyMs(), () => {
    const genuine = acts ? act(world, sent, fault) : undefined;
    if (fault === undefined && genuine !== undefined) checkOrder(world, sent, genuine);
    world.timeline.after(world.latencyMs(), () => answerWrite(world, sent, fault, genuine, chance, answered));
  });
}

function act(world: Wired, sent: Sent, fault?: WriteFault): PlatformResponse {
  const outcome = world.server.perform(sent.request);
  world.truth.acted(sent, outcome);
  world.note(`platform ${sent.intent.operation} ${sent.intent.resource} ${sent.intent.id} ${outcome.answer.status}`);
  if (fault?.effect === 'twice') world.server.perform(sent.request);
  if (!outcome.effectApplied && outcome.answer.status >= 400) {
    world.refused += 1;
    world.refusedRequests.add(JSON.stringify([sent.action.id, sent.request.path, sent.request.body]));
  }
  return responseOf(outcome, world.answersAsValues);
}

/** Where nobody interferes, the platform never refuses a write for the order of things. */
function checkOrder(world: Wired, sent: Sent, response: PlatformResponse): void {
  if (world.isUndisturbed() && isRefusedForOrder(response)) {
    world.violate('I-ORDER', `${sent.action.summary} was refused: ${response.status} ${response.body.slice(0, 300)}`);
  }
}

function answerWrite(
  world: Wired,
  sent: Sent,
  fault: WriteFault | undefined,
  genuine: PlatformResponse | undefined,
  chance: Chance,
  reply: (answer: Reply) => void,
): void {
  const answer = fault?.answer ?? { type: 'genuine' };
  const { timeline } = world;
  switch (answer.type) {
    case 'silence': {
      const failure = new TransportError('ambiguous', 'ETIMEDOUT', 'no answer');
      return timeline.after(sent.request.timeoutMs, () => reply(failure));
    }
    case 'failure':
      return reply(new TransportError(answer.failure, answer.code, answer.code));
    case 'other':
      return reply(pageOf(answer));
    case 'slow':
      return timeline.after(chance.pick([4_000, 20_000, 80_000]), () => reply(genuine ?? blank));
    case 'truncated':
      return reply(cutOff(genuine ?? blank, chance));
    case 'foreign':
      return reply({ ...blank, status: genuine?.status ?? 200, body: withForeignId(genuine?.body ?? '') });
    case 'genuine':
      return reply(genuine ?? blank);
  }
}

const blank: PlatformResponse = { status: 200, contentType: 'application/json', retryAfter: null, body: '{}' };

/** Late, but within the time that a server takes at most; often at the very end of it. */
function lateMs({ settleMs = SETTLE_MS }: Pick<Wired, 'settleMs'>, operation: string, chance: Chance): number {
  const mostMs = settleMs[classOf(operation)];
  switch (chance.int(3)) {
    case 0:
      return mostMs - 1 - chance.int(50);
    case 1:
      return chance.int(5_000);
    default:
      return chance.int(mostMs);
  }
}

function pageOf(answer: Extract<Answer, { type: 'other' }>): PlatformResponse {
  const { status, body, retryAfter = null } = answer;
  const isPage = typeof body === 'string';
  return {
    status,
    contentType: isPage ? 'text/html' : 'application/json',
    retryAfter,
    body: isPage ? body : JSON.stringify(body),
  };
}

function cutOff(response: PlatformResponse, chance: Chance): Reply {
  if (chance.happens(0.5)) return new TransportError('ambiguous', 'TRUNCATED', 'the answer ended early');
  const { json: _json, ...other } = response;
  return { ...other, body: response.body.slice(0, Math.floor(response.body.length / 2)) };
}

/** The answer to somebody else's request. */
function withForeignId(body: string): string {
  return body
    .replace(/"container_port":(\d+)/, '"container_port":6$1')
    .replace(/"domain_name":"/, '"domain_name":"not-')
    .replace(/"http_rule_id":"/, '"http_rule_id":"0')
    .replace(/"ID":(\d+)/, '"ID":9$1');
}

type Alteration = ReadFault['act']['type'] | undefined;

function altered(response: PlatformResponse, how: Alteration, chance: Chance): PlatformResponse {
  if (how !== 'empty' && how !== 'no-list' && how !== 'shuffled' && how !== 'more-fields') return response;
  const { json: _json, ...other } = response;
  return { ...other, body: alteredBody(response.body, how, chance) };
}

function alteredBody(body: string, how: 'empty' | 'no-list' | 'shuffled' | 'more-fields', chance: Chance): string {
  const json = JSON.parse(body) as unknown;
  if (how === 'more-fields')
    return JSON.stringify(Array.isArray(json) ? json : { ...(json as object), new_field: [1] });
  const withList = (change: (list: unknown[]) => unknown): unknown => {
    if (Array.isArray(json)) return change(json);
    const { data } = json as { data?: { list?: unknown[] } };
    return data?.list === undefined ? json : { ...(json as object), data: { ...data, list: change(data.list) } };
  };
  if (how === 'empty') return JSON.stringify(withList(() => []));
  if (how === 'shuffled') return JSON.stringify(withList((list) => chance.shuffled(list)));
  return JSON.stringify(Array.isArray(json) ? { code: 200, msg: 'success', data: {} } : withList(() => undefined));
}
