import { kindDeclarations } from '../../../src/configuration/declarations.ts';
import { type Allowances, nothingAllowed } from '../../../src/controller/acceptance.ts';
import { Controller } from '../../../src/controller/controller.ts';
import type { ControllerConfiguration } from '../../../src/controller/options.ts';
import {
  type LeadChange,
  type Leadership,
  type LeadListener,
  replicaClock,
} from '../../../src/controller/replicas/leadership.ts';
import { Replicas } from '../../../src/controller/replicas/group.ts';
import { reconciledKinds } from '../../../src/kinds/registry.ts';
import type { Lead, LeaseUnit, SharedLedger } from '../../../src/ledger/shared.ts';
import type { ResourceId } from '../../../src/model/ids.ts';
import type { ControllerEvent } from '../../../src/model/status.ts';
import { createRequestBudget } from '../../../src/platform/budget.ts';
import { createPlatformClient } from '../../../src/platform/platform-client.ts';
import { type PlatformRequest, TransportError } from '../../../src/platform/transport.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { createTextLog } from '../../../src/runtime/text-log.ts';
import { stateOf } from '../../../src/sandbox/seed.ts';
import { demo, demoSeed } from '../../../src/sandbox/seeds/demo.ts';
import { inMemoryTransport } from '../../../src/sandbox/transport.ts';
import type { SourceReading } from '../../../src/source/feed.ts';
import { LocalWorkbench } from '../../../src/source/workbench.ts';
import { type DatabaseLink, directLink, LinkLost, MemoryDatabase } from '../../support/memory-database.ts';
import { MemoryStore } from '../../support/memory-ledger.ts';
import { openMemoryShared } from '../../support/memory-shared.ts';
import { silentObserver } from '../../support/silent-observer.ts';
import { seededRandom, VirtualClock } from '../../support/virtual-clock.ts';
import { HandFeed, settingsOf } from '../daemon.ts';

const LEASE_MS = 15_000;
const BEAT_EVERY_MS = 5_000;
export const PLATFORMS = ['east', 'west'] as const;
export type PlatformName = (typeof PLATFORMS)[number];

/** Leads what a test tells it to. */
class HandLeadership implements Leadership {
  readonly isShared = true;
  readonly sendMarginMs = 2_000;
  readonly #shared: SharedLedger;
  readonly #leads = new Map<LeaseUnit, { readonly lead: Lead; readonly isLeading: boolean }>();
  readonly #listeners: LeadListener[] = [];

  constructor(shared: SharedLedger) {
    this.#shared = shared;
  }

  of(unit: LeaseUnit): Lead | undefined {
    const found = this.#leads.get(unit);
    return found?.isLeading === true && !found.lead.over.aborted ? found.lead : undefined;
  }

  held(unit: LeaseUnit): Lead | undefined {
    const lead = this.#leads.get(unit)?.lead;
    return lead?.over.aborted === false ? lead : undefined;
  }

  onChange(listener: LeadListener): () => void {
    this.#listeners.push(listener);
    return () => {};
  }

  /** @returns whether no other process has it. */
  async take(unit: LeaseUnit): Promise<boolean> {
    const lead = await this.#shared.lead(unit);
    if (lead === undefined) return false;
    await this.#tell({ type: 'taken', lead });
    this.#leads.set(unit, { lead, isLeading: true });
    lead.over.addEventListener('abort', () => void this.#ended(lead), { once: true });
    await this.#tell({ type: 'leading', lead });
    return true;
  }

  /** Ends a lead whose records the database has lost: nobody works on the unit, and its lease is still renewed. */
  async lose(unit: LeaseUnit): Promise<void> {
    const lead = this.held(unit);
    if (lead !== undefined) await this.#ended(lead);
  }

  async release(unit: LeaseUnit): Promise<void> {
    const lead = this.held(unit);
    if (lead === undefined) return;
    this.#leads.set(unit, { lead, isLeading: false });
    await this.#tell({ type: 'leaving', lead });
    await lead.ledger.close();
  }

  async #ended(lead: Lead): Promise<void> {
    this.#leads.delete(lead.unit);
    await this.#tell({ type: 'ended', lead });
  }

  async #tell(change: LeadChange): Promise<void> {
    for (const listener of this.#listeners) await listener(change);
  }
}

/** One process of a group. */
export class Replica {
  readonly name: string;
  readonly feed = new HandFeed();
  readonly events: ControllerEvent[] = [];
  readonly lines: string[] = [];
  readonly milestones: string[] = [];
  readonly leadership: HandLeadership;
  readonly shared: SharedLedger;
  /** What its heartbeats report. It sends none by itself: without them, the others do not know that it reads the source. */
  readonly replicas: Replicas;
  readonly controller: Controller;
  isDatabaseAway = false;
  /** Awaited before each statement: a process that stops in the middle of something. */
  beforeStatement: (operation: string) => Promise<void> = async () => {};
  /** It reads a checkout of its own, which somebody else updates. */
  hasCheckout = false;
  /** Statements that the database never gets. */
  isLost: (operation: string) => boolean = () => false;
  /** Statements that the database carries out, and whose answer never arrives. */
  isUnanswered: (operation: string) => boolean = () => false;
  /** Time for which its machine was suspended, which its monotonic clock has not counted. */
  suspendedMs = 0;
  loads = 0;
  isClosed = false;
  readonly #clock: Clock;
  readonly workbench: LocalWorkbench;

  constructor(group: Group, name: string, configuration: ControllerConfiguration, allow: Allowances) {
    this.name = name;
    const clock = this.#clockOf(group.clock);
    this.#clock = clock;
    const random = seededRandom(name.length + name.charCodeAt(0));
    const link: DatabaseLink = {
      ...directLink,
      run: async (operation, statement) => {
        await this.beforeStatement(operation);
        if (this.isDatabaseAway || this.isLost(operation)) throw new LinkLost(false);
        const answer = await directLink.run(operation, statement);
        if (this.isUnanswered(operation)) throw new LinkLost(true);
        return answer;
      },
    };
    const shared = openMemoryShared(group.database, {
      clock,
      random,
      actor: name,
      replica: name,
      leaseMs: LEASE_MS,
      link,
    });
    this.shared = shared;
    this.leadership = new HandLeadership(shared);
    this.replicas = new Replicas(shared, { name, leaseMs: LEASE_MS, clock });
    this.workbench = new LocalWorkbench({
      kinds: kindDeclarations,
      clock,
      path: undefined,
      limits: () => configuration.settings.source.limits,
    });
    this.controller = new Controller({
      kinds: reconciledKinds,
      clock: replicaClock(clock, seededRandom(name.charCodeAt(0))),
      random,
      log: createTextLog('info', (line) => void this.lines.push(line), clock),
      ledger: shared.reader,
      leadership: this.leadership,
      replicas: this.replicas,
      feed: this.feed,
      workbench: this.workbench,
      planWorkbench: this.workbench,
      source: 'default',
      actor: name,
      version: '0.0.0',
      configuration,
      observer: {
        ...silentObserver,
        milestone: ({ application, milestone }) => this.milestones.push(`${application} ${milestone}`),
      },
      allow,
    });
    this.controller.api.events.subscribe((event) => this.events.push(event));
    this.controller.start();
  }

  #clockOf(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      sinceBoot: () => {
        const { uptimeMs, ...rest } = clock.sinceBoot();
        return { ...rest, uptimeMs: uptimeMs + this.suspendedMs };
      },
    };
  }

  /** Sends heartbeats from now on, until the group is closed. */
  async keepBeating(): Promise<void> {
    while (!this.isClosed) {
      await this.beat().catch(() => {});
      await this.#clock.sleep(BEAT_EVERY_MS);
    }
  }

  async beat(): Promise<void> {
    const report = { name: this.name, version: '0.0.0', address: null, startedMs: 0, facts: {} };
    await this.replicas.shared.beat(report, false);
  }

  eventsOf(type: ControllerEvent['type']): readonly ControllerEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  ready(id: ResourceId): string {
    const found = this.controller.api.applications().find((one) => one.id === id);
    const condition = found?.conditions.find(({ type }) => type === 'Ready');
    return `${condition?.status} ${condition?.reason}`;
  }

  accepted(): string | null {
    return this.controller.api.status().source.acceptedRevision;
  }
}

/** Several controllers on virtual time, over one database, one source, and two platforms. */
export class Group {
  readonly clock = new VirtualClock();
  readonly database = new MemoryDatabase(new MemoryStore('lineage'), () => this.clock.monotonic());
  readonly platforms = { east: stateOf(demoSeed), west: stateOf(demoSeed) };
  readonly writes: { readonly by: string; readonly platform: PlatformName; readonly request: PlatformRequest }[] = [];
  readonly requests: { readonly by: string; readonly platform: PlatformName; readonly request: PlatformRequest }[] = [];
  readonly replicas: Replica[] = [];
  /** Requests of this replica do not arrive. */
  isPlatformAway: (by: string) => boolean = () => false;
  readonly #settings: string;
  /** For the ids of all platforms, which no two replicas may give twice. */
  readonly #random = seededRandom(3);
  #commits = 0;

  constructor(settings = '{}') {
    this.#settings = settings;
  }

  /** @param variables for the manifests. @param allow the overrides of its start. */
  open(name: string, variables: ReadonlyMap<string, string> = new Map(), allow: Partial<Allowances> = {}): Replica {
    const configuration = this.configuration(name, variables);
    const replica = new Replica(this, name, configuration, { ...nothingAllowed, ...allow });
    this.replicas.push(replica);
    return replica;
  }

  async close(): Promise<void> {
    for (const replica of this.replicas) {
      const { controller, shared } = replica;
      replica.isClosed = true;
      await controller.drain();
      await controller.close();
      await shared.close();
    }
  }

  /** A commit, which these replicas read: all of them by default. */
  async commit(files: Readonly<Record<string, string>>, to: readonly Replica[] = this.replicas): Promise<string> {
    this.#commits += 1;
    return this.tell(this.#commits, files, to);
  }

  /** A commit by its number: an earlier one, as a mirror reads it that has not fetched the newest, or a branch that was rewound. */
  async tell(number: number, files: Readonly<Record<string, string>>, to: readonly Replica[]): Promise<string> {
    const id = number.toString(16).padStart(40, '0');
    const { clock } = this;
    for (const replica of to) {
      const { workbench, feed } = replica;
      const reading: SourceReading = {
        revision: `main@sha1:${id}`,
        commit: { id, committedMs: clock.now(), author: 'Ann <ann@example.com>', subject: 'A commit' },
        contents: await workbench.files(Object.entries(files).map(([path, content]) => ({ path, content }))),
        observedMs: clock.now(),
        descentFrom: async (ancestor) => (ancestor <= id ? 'descends' : 'does-not-descend'),
        ...(replica.hasCheckout
          ? { olderThan: async (commit: string) => (id < commit ? ('older' as const) : ('not-older' as const)) }
          : {}),
      };
      const load = reading.contents.load.bind(reading.contents);
      Object.assign(reading.contents, {
        load: (...parts: Parameters<typeof load>) => {
          replica.loads += 1;
          return load(...parts);
        },
      });
      await feed.says({ type: 'read', reading, askedMs: clock.monotonic() });
    }
    return `main@sha1:${id}`;
  }

  /** Lets everything run, and time pass, until it is so. */
  async until(isSo: () => boolean, what: string): Promise<void> {
    for (let turn = 0; turn < 20_000; turn += 1) {
      if (isSo()) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`it did not come to that: ${what}`);
  }

  async pass(ms: number): Promise<void> {
    await this.clock.sleep(ms);
  }

  domains(platform: PlatformName): readonly string[] {
    return [...this.platforms[platform].rules.all()]
      .filter(({ type }) => type === 1)
      .map(({ domain }) => domain)
      .sort();
  }

  fact(key: string): unknown {
    return JSON.parse(this.database.store.facts.get(key) ?? 'null');
  }

  configuration(by: string, variables: ReadonlyMap<string, string> = new Map()): ControllerConfiguration {
    const { clock } = this;
    const random = this.#random;
    const client = (name: PlatformName) => {
      const sandbox = inMemoryTransport(this.platforms[name], () => ({
        nowMs: clock.now(),
        newId: () => random.hex(16),
        dialect: 'extended',
        token: null,
      }));
      return createPlatformClient({
        name,
        url: `http://${name}`,
        transport: async (request) => {
          const sent = { by, platform: name, request };
          this.requests.push(sent);
          if (!request.isRead) this.writes.push(sent);
          if (this.isPlatformAway(by)) throw new TransportError('unsent', 'ECONNREFUSED', 'it does not answer');
          return sandbox(request);
        },
        clock,
        random,
        log: silentLog,
        dialect: 'extended',
        budget: createRequestBudget({ concurrency: 64, requestsPerSecond: 1_000_000 }, clock),
        limits: { timeoutMs: 30_000 },
      });
    };
    const clients = { east: client('east'), west: client('west') };
    return {
      settings: settingsOf(this.#settings),
      operator: { platforms: new Set(PLATFORMS), stores: new Set(['main']) },
      variables: variables as ControllerConfiguration['variables'],
      stores: new Map(),
      client: (platform) => clients[platform as PlatformName],
    };
  }
}

/** An application on a platform, with a rule for each domain. */
export function application(platform: PlatformName, ...domains: readonly string[]): Record<string, string> {
  const header = 'apiVersion: portolan/v1\n';
  const rules = domains.map(
    (domain) =>
      `${header}kind: HttpGatewayRule\nmetadata: { name: ${platform}-${domain.split('.')[0]} }\nspec: { application: ${platform}, component: ${platform}-web, port: 8080, domain: ${domain} }\n`,
  );
  const documents = [
    `${header}kind: Application\nmetadata: { name: ${platform} }\nspec: { platform: ${platform}, team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }\n`,
    `${header}kind: Component\nmetadata: { name: ${platform}-web }\nspec: { application: ${platform}, serviceId: ${demo.webServiceId}, ports: [ { port: 8080, protocol: http, inner: true, outer: true } ] }\n`,
    ...rules,
  ];
  return { [`${platform}.yaml`]: documents.join('---\n') };
}
