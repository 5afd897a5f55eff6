import { reconciledKinds } from '../../src/kinds/registry.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import type { StoreAccess } from '../../src/kinds/reconciled.ts';
import { Controller } from '../../src/controller/controller.ts';
import { nothingAllowed, type Allowances } from '../../src/controller/acceptance.ts';
import type { ControllerConfiguration, ControllerOptions } from '../../src/controller/options.ts';
import type { Leadership } from '../../src/controller/replicas/leadership.ts';
import type { SharedLedger } from '../../src/ledger/shared.ts';
import { silentObserver } from '../support/silent-observer.ts';
import type { Settings } from '../../src/configuration/settings/spec.ts';
import { full, inputOutput } from '../../src/ledger/errors.ts';
import type { Ledger, LedgerTransaction } from '../../src/ledger/ledger.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { defaultSettings, loadConfiguration } from '../../src/configuration/configuration.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import type { ApplicationStatus, ControllerEvent } from '../../src/model/status.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import { createPlatformClient } from '../../src/platform/platform-client.ts';
import type { PlatformRequest, PlatformResponse, Transport } from '../../src/platform/transport.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { createTextLog } from '../../src/runtime/text-log.ts';
import { type Seed, stateOf } from '../../src/sandbox/seed.ts';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { inMemoryTransport } from '../../src/sandbox/transport.ts';
import type { Workbench } from '../../src/source/contents.ts';
import { LocalWorkbench } from '../../src/source/workbench.ts';
import type { FoundCommit, SourceFeed, SourceState } from '../../src/source/feed.ts';
import type { Descent } from '../../src/source/revision.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';

const MAIN_STORE: StoreAccess = {
  url: demo.storeUrl,
  domain: demo.storeDomain,
  type: demo.storeType,
  accessKey: null,
};

/** A feed that says what a test tells it to. */
export class HandFeed implements SourceFeed {
  readonly location = 'a test';
  readonly descents = new Map<string, Descent>();
  pokes = 0;
  confirmations = 0;
  #tell: ((state: SourceState) => Promise<void>) | undefined;
  #last: SourceState | undefined;

  start(tell: (state: SourceState) => Promise<void>): void {
    this.#tell = tell;
    if (this.#last !== undefined) void tell(this.#last);
  }

  /** Resolves when the controller has taken it in. */
  async says(state: SourceState): Promise<void> {
    this.#last = state;
    await this.#tell?.(state);
  }

  poke(): void {
    this.pokes += 1;
  }

  retry(): void {
    this.pokes += 1;
  }

  confirm(): void {
    this.confirmations += 1;
    const last = this.#last;
    if (last === undefined) return;
    void this.#tell?.(last.type === 'read' ? { ...last, askedMs: Number.POSITIVE_INFINITY } : last);
  }

  /** Commits that git has, and the controller has not read by themselves. */
  readonly older = new Map<string, FoundCommit>();

  async findCommit(prefix: string): Promise<FoundCommit> {
    return this.older.get(prefix) ?? { found: 'none' };
  }

  async close(): Promise<void> {}
}

/** The real controller on virtual time, over a sandbox in memory and a ledger that outlives the "process". */
export class DaemonWorld {
  readonly clock = new VirtualClock();
  readonly store = new MemoryStore('lineage');
  readonly state;
  readonly requests: PlatformRequest[] = [];
  readonly events: ControllerEvent[] = [];
  /** Lines of the daemon's log, over all its processes. */
  readonly lines: string[] = [];
  readonly milestones: string[] = [];
  isDiskFull = false;
  /** Each commit to the ledger waits for this. */
  beforeCommit: (transaction: LedgerTransaction) => Promise<void> = async () => {};
  /** Facts whose key contains this cannot be read. */
  unreadableFact: string | undefined;
  readonly settings: Settings;
  feed = new HandFeed();
  controller: Controller;
  /** Answers in place of the platform, which then never hears of the request. */
  answer: (request: PlatformRequest) => PlatformResponse | undefined | Promise<PlatformResponse | undefined> = () =>
    undefined;
  workbench: Workbench;
  readonly #random = seededRandom(7);
  /** The platform itself, past `answer`. */
  readonly sandbox: Transport;
  readonly #requestsPerSecond: number;
  #commits = 0;

  /** @param settings YAML of the spec of Settings. */
  constructor(settings = '{}', seed: Seed = demoSeed, requestsPerSecond = 1_000_000) {
    this.#requestsPerSecond = requestsPerSecond;
    this.settings = settingsOf(settings);
    this.workbench = this.#openWorkbench();
    this.state = stateOf(seed);
    this.sandbox = inMemoryTransport(this.state, () => ({
      nowMs: this.clock.now(),
      newId: () => this.#random.hex(16),
      dialect: 'extended',
      token: null,
    }));
    this.controller = this.#open(nothingAllowed);
  }

  /** The process shares its ledger with others. Before `start`. */
  share(shared: SharedLedger, leadership: Leadership): void {
    this.controller = this.#open(nothingAllowed, { ledger: shared.reader, leadership });
  }

  /** A process ends in whatever way, and another one begins. */
  restart(allow: Allowances = nothingAllowed): void {
    this.feed = new HandFeed();
    this.workbench = this.#openWorkbench();
    this.controller = this.#open(allow);
  }

  start(): void {
    this.controller.start();
  }

  writes(): readonly PlatformRequest[] {
    return this.requests.filter((request) => !request.isRead);
  }

  eventsOf(type: ControllerEvent['type']): readonly ControllerEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  /** A commit of these files, which came after the one before unless the test's `feed.descents` says otherwise. */
  async commit(files: Readonly<Record<string, string>>): Promise<string> {
    this.#commits += 1;
    return this.commitAgain(files);
  }

  /** The last commit once more, as a new process reads it. */
  async commitAgain(files: Readonly<Record<string, string>>): Promise<string> {
    const id = this.#commits.toString(16).padStart(40, '0');
    const { feed, clock } = this;
    await feed.says({
      type: 'read',
      askedMs: clock.monotonic(),
      reading: {
        revision: `main@sha1:${id}`,
        commit: { id, committedMs: clock.now(), author: 'Ann <ann@example.com>', subject: 'A commit' },
        contents: await this.workbench.files(Object.entries(files).map(([path, content]) => ({ path, content }))),
        observedMs: clock.now(),
        descentFrom: async (ancestor) => feed.descents.get(`${id}..${ancestor}`) ?? feed.descents.get(id) ?? 'descends',
      },
    });
    return id;
  }

  async sourceFails(): Promise<void> {
    const error = new PortolanError({
      code: 'source/unreachable',
      disposition: 'retry',
      message: 'the source cannot be read',
      remedy: 'Look at it.',
    });
    await this.feed.says({ type: 'failed', error, atMs: this.clock.now() });
  }

  application(id: ResourceId): ApplicationStatus {
    const found = this.controller.api.application(id);
    if (found === undefined) throw new Error(`${id} is not known`);
    return found;
  }

  ready(id: ResourceId): string {
    const condition = this.application(id).conditions.find(({ type }) => type === 'Ready');
    return `${condition?.status} ${condition?.reason}`;
  }

  /** Lets everything run, and time pass, until it is so. */
  async until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    for (let turn = 0; turn < 20_000; turn += 1) {
      if (await isSo()) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`it did not come to that: ${what}`);
  }

  /** Lets this much time pass; the daemon's own timers make it pass. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.monotonic() + ms;
    await this.clock.sleep(ms);
    await this.until(() => this.clock.monotonic() >= untilMs, `${ms} ms pass`);
  }

  configuration(): ControllerConfiguration {
    const { clock } = this;
    const transport: Transport = async (request) => {
      this.requests.push(request);
      return (await this.answer(request)) ?? (await this.sandbox(request));
    };
    const client = createPlatformClient({
      name: 'default',
      url: 'http://sandbox',
      transport,
      clock,
      random: this.#random,
      log: silentLog,
      dialect: 'extended',
      budget: createRequestBudget({ concurrency: 64, requestsPerSecond: this.#requestsPerSecond }, clock),
      limits: { timeoutMs: 30_000 },
    });
    return {
      settings: this.settings,
      operator: { platforms: new Set(['default']), stores: new Set(['main']) },
      variables: new Map(),
      stores: new Map([['main', MAIN_STORE]]),
      client: () => client,
    };
  }

  /** The ledger, whose disk is full or fails while the test says so. */
  #ledger(): Ledger {
    const ledger = openMemoryLedger(this.store);
    const commit: Ledger['commit'] = async (transaction) => {
      await this.beforeCommit(transaction);
      if (this.isDiskFull) throw full('memory', undefined);
      await ledger.commit(transaction);
    };
    const fact: Ledger['fact'] = async (key) => {
      if (this.unreadableFact !== undefined && key.includes(this.unreadableFact))
        throw inputOutput('memory', undefined);
      return await ledger.fact(key);
    };
    return new Proxy(ledger, {
      get: (target, name) => {
        if (name === 'commit') return commit;
        if (name === 'fact') return fact;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  #openWorkbench(): Workbench {
    return new LocalWorkbench({
      kinds: kindDeclarations,
      clock: this.clock,
      path: undefined,
      limits: () => this.settings.source.limits,
    });
  }

  #open(allow: Allowances, shared: Partial<Pick<ControllerOptions, 'ledger' | 'leadership'>> = {}): Controller {
    const controller = new Controller({
      kinds: reconciledKinds,
      clock: this.clock,
      random: this.#random,
      log: createTextLog('info', (line) => void this.lines.push(line), this.clock),
      ledger: this.#ledger(),
      feed: this.feed,
      workbench: this.workbench,
      planWorkbench: this.workbench,
      source: 'default',
      actor: 'daemon',
      version: '0.0.0',
      configuration: this.configuration(),
      observer: {
        ...silentObserver,
        milestone: ({ application, milestone }) => this.milestones.push(`${application} ${milestone}`),
      },
      allow,
      ...shared,
    });
    controller.api.events.subscribe((event) => this.events.push(event));
    return controller;
  }
}

export function settingsOf(spec: string): Settings {
  const yaml = `apiVersion: portolan/v1\nkind: Settings\nspec: ${spec}\n`;
  const { configuration, problems } = loadConfiguration(kindDeclarations, yaml, 'portolan.yaml');
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('; '));
  return spec === '{}' ? defaultSettings() : configuration.settings;
}
