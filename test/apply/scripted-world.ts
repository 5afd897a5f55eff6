import type { Readable, Reading } from '../../src/model/reading.ts';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import type { Execution } from '../../src/reconcile/apply/execute.ts';
import { settleWindow } from '../../src/reconcile/resolution/settle-window.ts';
import type { ApplyEvent, ApplyWorld } from '../../src/reconcile/apply/world.ts';
import { componentKind } from '../../src/kinds/component/index.ts';
import type { CallContext, LedgerView, ScopeReader } from '../../src/kinds/reconciled.ts';
import type { Ledger, LedgerTransaction } from '../../src/ledger/ledger.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { full } from '../../src/ledger/errors.ts';
import { type Scope, scopeKey } from '../../src/model/ids.ts';
import type { Intent, OwnedObject } from '../../src/model/owned.ts';
import type { Action } from '../../src/model/plan.ts';
import type { PlatformClient, SendOptions } from '../../src/platform/client.ts';
import type { Verdict } from '../../src/platform/verdict.ts';
import type { WriteRequest } from '../../src/platform/writes.ts';
import { actionOf, objectOf } from '../plan/plans.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';

export const scope: Scope = { platform: 'default', team: 'team-a', region: 'region-1', appId: 42 };
export const key = scopeKey(scope);
export const SERVICE = 'a'.repeat(32);
export const calls: CallContext = { app: { team: 'team-a', region: 'region-1', appId: 42 }, stores: new Map() };
export const timing = {
  settleTargetStateMs: 90_000,
  settleCreationMs: 300_000,
  settleInstallMs: 1_200_000,
  observationMaxAgeMs: 5_000,
  absenceApartMs: 2_000,
  sendWithinMs: 2_000,
};

/** A platform that gives the answers it is told to give, over a real ledger in memory that can be made to fail. */
export class ScriptedWorld {
  readonly clock = new VirtualClock();
  readonly store = new MemoryStore('lineage');
  readonly ledger: Ledger = this.#breakable(openMemoryLedger(this.store));
  readonly sent: { readonly write: WriteRequest; readonly sendBeforeMs: number | undefined }[] = [];
  readonly events: ApplyEvent[] = [];
  readonly commits: LedgerTransaction[] = [];
  /** What the platform answers, in turn; it may look at the ledger or let time pass before it does. */
  readonly answers: (Verdict | (() => Verdict | Promise<Verdict>))[] = [];
  /** Whether a call of the ledger fails; asked before each. */
  breaks: (call: 'commit' | 'intents' | 'objects', nth: number) => boolean = () => false;
  /** What the request's hash is; it may refuse the request. */
  hashOf: (write: WriteRequest) => string = (write) => `hash of ${write.operation}`;
  stop: 'interrupted' | 'fail-fast' | undefined;
  readonly #calls = new Map<string, number>();

  get apply(): ApplyWorld {
    const client = {
      name: scope.platform,
      requestHash: this.hashOf,
      send: async (write: WriteRequest, options?: SendOptions): Promise<Verdict> => {
        if (options?.mayLeave?.() === false)
          return { verdict: 'rejected', reason: 'unsent', answer: { message: 'withheld' } };
        this.sent.push({ write, sendBeforeMs: options?.sendBeforeMs });
        const answer = this.answers.shift();
        if (answer === undefined) throw new Error(`nobody said what the platform answers to ${write.operation}`);
        return typeof answer === 'function' ? answer() : answer;
      },
    };
    return {
      kinds: reconciledKinds,
      client: client as unknown as PlatformClient,
      ledger: this.ledger,
      clock: this.clock,
      random: seededRandom(7),
      stores: new Map(),
      timing,
      actor: 'test',
      source: 'default',
      snapshot: 'snapshot-1',
      emit: (event) => void this.events.push(event),
      stopRequested: () => this.stop,
    };
  }

  objects(): readonly OwnedObject[] {
    return [...this.store.objects.values()];
  }

  intents(): readonly Intent[] {
    return [...this.store.intents.values()].map(({ intent }) => intent);
  }

  /** Events of history with their details, oldest first. */
  async history(): Promise<
    readonly { readonly event: string; readonly uid: string | null; readonly detail: unknown }[]
  > {
    const rows = await this.ledger.history({ scope: key, limit: 100 });
    return rows.map(({ event, uid, detail }) => ({ event, uid, detail })).reverse();
  }

  /** Puts rows into the ledger as an earlier run would have. */
  async remember(...objects: readonly OwnedObject[]): Promise<LedgerView> {
    for (const object of objects)
      await this.ledger.commit({
        scope: object.scope,
        actor: 'earlier',
        atMs: this.clock.now(),
        operations: [{ op: 'put-object', object }],
      });
    return this.ledgerView();
  }

  ledgerView(): LedgerView {
    return { known: true, scopeRecorded: true, restored: false, objects: this.objects() };
  }

  #breakable(ledger: Ledger): Ledger {
    const count = (call: 'commit' | 'intents' | 'objects'): void => {
      const nth = (this.#calls.get(call) ?? 0) + 1;
      this.#calls.set(call, nth);
      if (this.breaks(call, nth)) throw full('memory', undefined);
    };
    return {
      ...ledger,
      location: ledger.location,
      lineage: ledger.lineage,
      epoch: ledger.epoch,
      objectCount: (filter) => ledger.objectCount(filter),
      ownedScopes: (source) => ledger.ownedScopes(source),
      history: (filter) => ledger.history(filter),
      scopes: () => ledger.scopes(),
      fact: (name) => ledger.fact(name),
      lastSnapshot: (source) => ledger.lastSnapshot(source),
      close: () => ledger.close(),
      objects: async (filter) => {
        count('objects');
        return ledger.objects(filter);
      },
      intents: async (filter) => {
        count('intents');
        return ledger.intents(filter);
      },
      commit: async (transaction) => {
        count('commit');
        await ledger.commit(transaction);
        this.commits.push(transaction);
      },
    };
  }
}

/** An action on port 8080 of the component `web`. */
export function portAction(type: string, changes: Partial<Action> = {}): Action {
  const facts = type === 'add_port' ? { protocol: 'http', inner: true } : {};
  return actionOf({
    id: `Component/web#ports/8080/${type}`,
    verb: type === 'add_port' ? 'create' : type === 'delete_port' ? 'delete' : 'update',
    step: { type, serviceId: SERVICE, port: 8080, ...facts },
    object: `port/${SERVICE}/8080`,
    summary: `${type} of port 8080`,
    ...changes,
  });
}

/** A row about port 8080. */
export function portObject(changes: Partial<OwnedObject> = {}): OwnedObject {
  return objectOf({
    naturalKey: `port/${SERVICE}/8080`,
    origin: 'observed',
    lastApplied: { inner: true },
    lastSnapshot: 'snapshot-0',
    ...changes,
  });
}

const windows = {
  'target-state': timing.settleTargetStateMs,
  'duplicate-rejecting': timing.settleCreationMs,
  'duplicate-accepting': timing.settleInstallMs,
} as const;

/** An intent as an earlier process left it: sent, and its window just begun. */
export async function leftBehind(world: ScriptedWorld, action: Action, changes: Partial<Intent> = {}): Promise<Intent> {
  const idempotence = changes.idempotence ?? 'target-state';
  const kind = action.resource.slice(0, action.resource.indexOf('/'));
  const opened: Intent = {
    id: 'intent-1',
    uid: `default:${changes.scope ?? key}:${kind}:${action.object}`,
    scope: key,
    resource: action.resource,
    operation: 'updatePort',
    idempotence,
    action: JSON.parse(JSON.stringify(action)) as Intent['action'],
    epoch: world.ledger.epoch,
    requestHash: 'hash',
    preimage: null,
    createdMs: world.clock.now(),
    sendDeadlineMs: world.clock.now() + timing.sendWithinMs,
    outcome: null,
    resolvedBy: null,
    ...changes,
    state: 'open',
    settleMs: 0,
    settleMark: '',
  };
  await world.ledger.commit({
    scope: opened.scope,
    actor: 'earlier',
    atMs: world.clock.now(),
    operations: [{ op: 'open-intent', intent: opened }],
  });
  if (changes.state === 'open') return opened;
  const window = settleWindow(world.clock, windows[idempotence]);
  await world.ledger.commit({
    scope: opened.scope,
    actor: 'earlier',
    atMs: world.clock.now(),
    operations: [{ op: 'move-intent', id: opened.id, state: 'unknown', ...window }],
  });
  return { ...opened, state: 'unknown', ...window };
}

/** An intent that adds a port. */
export const addition = { operation: 'addPort', idempotence: 'duplicate-rejecting' } as const;

export const yes: Verdict = { verdict: 'applied', answer: { status: 200, message: 'ok' }, evidence: { type: 'none' } };
export const lost: Verdict = { verdict: 'unknown', answer: { message: 'reset' } };

export function refusal(reason: Extract<Verdict, { verdict: 'rejected' }>['reason']): Verdict {
  return { verdict: 'rejected', reason, answer: { status: 400, code: 20400, message: 'no' } };
}

/** What a reader answers: by operation, and the application. */
export interface ReaderAnswers extends Partial<Pick<ScopeReader, 'application'>> {
  readonly readings?: Readonly<Record<string, Readable<unknown>>>;
}

/** A reader that knows nothing but what it is given. */
export function readerOf({ readings = {}, ...answers }: ReaderAnswers): ScopeReader {
  const unexpected = (name: string) => (): never => {
    throw new Error(`nobody was to read ${name}`);
  };
  const read = async <T>({ operation }: Reading<T>): Promise<Readable<T>> =>
    (readings[operation] ?? unexpected(operation)()) as Readable<T>;
  return {
    read,
    isShared: false,
    readFresh: read,
    application: unexpected('application'),
    has: unexpected('listings'),
    ...answers,
  };
}

/** Port 8080 as it was seen. */
export const livePort = {
  type: 'observed',
  ports: [{ port: 8080, protocol: 'http', alias: 'WEB', serviceName: 'web', inner: true, outer: false }],
};

/** Where ports are written. */
export const PORTS_PATH = `/openapi/v1/teams/team-a/regions/region-1/apps/42/services/${SERVICE}/ports`;

/** All that one write on port 8080 wants to know. */
export function executionOf(world: ScriptedWorld, changes: Partial<Execution> = {}): Execution {
  return {
    action: portAction('open_inner'),
    kind: componentKind,
    place: { scope, kind: 'Component', resource: 'Component/web' },
    resource: undefined,
    live: livePort,
    ledgerView: world.ledgerView(),
    calls,
    freshReader: () => readerOf({}),
    stop: () => undefined,
    ...changes,
  };
}
