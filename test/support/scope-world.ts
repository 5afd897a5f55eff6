import { shareLimits } from '../../src/plan/guard.ts';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import { type ApplyWorld, defaultTiming } from '../../src/reconcile/apply/world.ts';
import { interactive } from '../../src/reconcile/policies/interactive.ts';
import { type PassOptions, reconcile, type Work } from '../../src/reconcile/reconcile.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { StoreAccess } from '../../src/kinds/reconciled.ts';
import { MemoryStore, openMemoryLedger } from './memory-ledger.ts';
import { resourceId } from '../../src/model/ids.ts';
import type { Resource } from '../../src/model/resource.ts';
import { Secret } from '../../src/model/secret.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import type { DialectSetting } from '../../src/platform/dialect.ts';
import type { PlatformClient } from '../../src/platform/client.ts';
import { createPlatformClient } from '../../src/platform/platform-client.ts';
import type { PlatformRequest, PlatformResponse, Transport } from '../../src/platform/transport.ts';
import { silentLog } from '../../src/runtime/log.ts';
import type { Random } from '../../src/runtime/random.ts';
import { stateOf, type Seed } from '../../src/sandbox/seed.ts';
import { inMemoryTransport } from '../../src/sandbox/transport.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { seededRandom, VirtualClock } from './virtual-clock.ts';

/** One exchange that reached the platform. */
export interface Exchange {
  readonly request: PlatformRequest;
  readonly response: PlatformResponse;
  /** Monotonic. */
  readonly sentMs: number;
}

/** When the process dies: before or after the n-th write (from 1) has its effect. */
export interface Crash {
  readonly atWrite: number;
  readonly when: 'before' | 'after';
}

export const allowEverything: PassOptions = {
  permissions: { adopt: () => false, adoptNamed: () => false, prune: false, firstInstall: () => true },
  limits: { ...shareLimits(1), maxPrunes: 1000, allowedScopes: ['*/*/*'] },
  targets: undefined,
  readOnly: false,
  ledgerKnown: true,
};

/** The production core on virtual time over a sandbox in memory and a ledger that outlives the "process". */
export class ScopeWorld {
  readonly clock = new VirtualClock();
  readonly store = new MemoryStore('lineage');
  readonly state;
  readonly exchanges: Exchange[] = [];
  readonly #random: Random;
  readonly #configured: DialectSetting;
  readonly #sandbox: Transport;
  crash: Crash | undefined;
  /** How long the platform takes for each answer. */
  latencyMs = 0;
  /** Answers in place of the platform, which then never hears of the request. */
  answer: (request: PlatformRequest) => PlatformResponse | undefined = () => undefined;
  /** Alters what the platform answers. */
  alter: (request: PlatformRequest, response: PlatformResponse) => PlatformResponse = (_, response) => response;

  /** @param configured the dialect as the operator has it; by default what the platform has. */
  constructor(seed: Seed, dialect: Dialect, randomSeed = 1, configured: DialectSetting = dialect) {
    this.#random = seededRandom(randomSeed);
    this.#configured = configured;
    this.state = stateOf(seed);
    this.#sandbox = inMemoryTransport(this.state, () => ({
      nowMs: this.clock.now(),
      newId: () => this.#random.hex(16),
      dialect,
      token: null,
    }));
  }

  writes(): readonly Exchange[] {
    return this.exchanges.filter((exchange) => !exchange.request.isRead);
  }

  /** One pass of a new process. `died`: it never answered, because `crash` struck. */
  async pass(work: Work, options: PassOptions = allowEverything): Promise<Outcome | 'died'> {
    const death = Promise.withResolvers<'died'>();
    const world = this.#process(() => death.resolve('died'));
    return Promise.race([reconcile(work, world, options, interactive(options)), death.promise]);
  }

  /** The client of a new process. */
  client(): PlatformClient {
    return this.#process(() => {}).client;
  }

  /** Passes until nothing is in doubt any more and the last one wrote nothing; time passes between them. */
  async settle(work: Work, options: PassOptions = allowEverything): Promise<Outcome> {
    this.crash = undefined;
    for (let round = 0; round < 8; round += 1) {
      const before = this.writes().length;
      const outcome = await this.pass(work, options);
      if (outcome === 'died') throw new Error('nobody was to die');
      const doubtful = outcome.type === 'ended' && outcome.plan.holds.some((hold) => hold.code === 'intent/settling');
      if (!doubtful && this.writes().length === before) return outcome;
      this.clock.advance(20 * 60_000);
    }
    throw new Error('still writing after 8 passes');
  }

  #process(die: () => void): ApplyWorld {
    const { clock } = this;
    let written = 0;
    const never = new Promise<never>(() => {});
    const transport: Transport = async (request) => {
      if (!request.isRead) written += 1;
      const strikes = !request.isRead && this.crash?.atWrite === written ? this.crash.when : undefined;
      if (strikes === 'before') {
        die();
        return never;
      }
      const sentMs = clock.monotonic();
      if (this.latencyMs > 0) await clock.sleep(this.latencyMs);
      const response = this.answer(request) ?? this.alter(request, await this.#sandbox(request));
      this.exchanges.push({ request, response, sentMs });
      if (strikes === 'after') {
        die();
        return never;
      }
      return response;
    };
    return {
      client: createPlatformClient({
        name: 'default',
        url: 'http://sandbox',
        transport,
        clock,
        random: this.#random,
        log: silentLog,
        dialect: this.#configured,
        budget: createRequestBudget({ concurrency: 16, requestsPerSecond: 1_000_000 }, clock),
        limits: { timeoutMs: 30_000 },
      }),
      ledger: openMemoryLedger(this.store),
      clock,
      random: this.#random,
      kinds: reconciledKinds,
      stores: demoStores,
      timing: defaultTiming,
      actor: 'test',
      source: 'default',
      snapshot: 'snapshot',
      emit() {},
      stopRequested: () => undefined,
    };
  }
}

const demoStores: ReadonlyMap<string, StoreAccess> = new Map([
  [
    'main',
    {
      url: 'https://store.example.com',
      domain: 'market-1',
      type: 'rainstore',
      accessKey: new Secret('store-key', 'test'),
    },
  ],
]);

/** Manifests as the loader would give them. */
export function workOf(
  application: { readonly team: string; readonly region: string; readonly appId: number },
  resources: readonly Resource[],
): Work {
  const anchor = manifest('Application', 'shop', { platform: 'default', ...application });
  return {
    application: anchor as Work['application'],
    resources: new Map([anchor, ...resources].map((resource) => [resource.id, resource])),
  };
}

export function manifest(
  kind: string,
  name: string,
  spec: unknown,
  annotations: Readonly<Record<string, string>> = {},
): Resource {
  return {
    id: resourceId(kind, name),
    kind,
    name,
    labels: {},
    annotations,
    spec,
    position: { file: 'test.yaml', line: 1, column: 1 },
  };
}
