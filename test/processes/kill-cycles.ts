import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import { SANDBOX_TOKEN, type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { builtProgram } from '../support/program.ts';
import { seededRandom } from '../support/virtual-clock.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

const LATENCY_MS = 15;
/** Requests after which a process may be killed: an apply of one generation sends about this many. */
const REQUESTS_MAX = 16;
/** A chain starts with an empty platform and an empty ledger; longer ones only make the platform's lists long. */
export const CHAIN_CYCLES_MAX = 100;

export interface KillReport {
  readonly cycles: number;
  /** Cycles in which the process was killed before it ended by itself. */
  readonly kills: number;
  readonly generations: number;
  readonly acknowledged: number;
  readonly writes: number;
  /** Sentences; empty when every invariant held. */
  readonly violations: readonly string[];
}

/**
 * Kills the real program, again and again, while it applies to a real sandbox over a real SQLite ledger, and looks after
 * each kill: nothing acknowledged may be lost, no write may lack its intent, and nothing may be made twice. A chain ends
 * with runs that nobody kills, which must reach the goal.
 */
export async function killCycles(cycles: number, seed: number): Promise<KillReport> {
  const total = { cycles: 0, kills: 0, generations: 0, acknowledged: 0, writes: 0, violations: [] as string[] };
  for (let done = 0, chain = 0; done < cycles; done += CHAIN_CYCLES_MAX, chain += 1) {
    const report = await killChain(Math.min(CHAIN_CYCLES_MAX, cycles - done), seed + chain);
    for (const key of ['cycles', 'kills', 'generations', 'acknowledged', 'writes'] as const) total[key] += report[key];
    total.violations.push(...report.violations.map((violation) => `seed ${seed + chain}: ${violation}`));
  }
  return total;
}

async function killChain(cycles: number, seed: number): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-kill-'));
  const sandbox = await startSandbox({
    clock: systemClock,
    random: systemRandom,
    seed: seedFor(cycles),
    latencyMs: LATENCY_MS,
  });
  const chain = new Chain(folder, sandbox, seed);
  try {
    for (let cycle = 0; cycle < cycles; cycle += 1) await chain.cycle();
    await chain.finish();
    return { ...chain.report, cycles };
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Chain {
  readonly report = { kills: 0, generations: 1, acknowledged: 0, writes: 0, violations: [] as string[] };
  readonly #folder: string;
  readonly #sandbox: Sandbox;
  readonly #random;
  /** Intents that were seen with an outcome, and the history's length: neither may ever shrink. */
  readonly #acknowledged = new Map<string, string>();
  #serial = 0;
  #generation = 1;

  constructor(folder: string, sandbox: Sandbox, seed: number) {
    this.#folder = folder;
    this.#sandbox = sandbox;
    this.#random = seededRandom(seed);
    mkdirSync(join(folder, 'manifests'));
    writeFileSync(join(folder, 'portolan.yaml'), configuration(sandbox.url));
    this.#writeManifests();
  }

  async cycle(): Promise<void> {
    const requests = 1 + Math.floor(this.#random.next() * REQUESTS_MAX);
    const delayMs = this.#random.next() * 2 * LATENCY_MS;
    const end = await this.#apply({ requests, delayMs });
    if (end === 'killed') this.report.kills += 1;
    else if (end !== 0) this.#violation(`apply ended with ${end}`);
    await this.#check();
    // A generation is left behind when it is reached, and sometimes in the middle.
    if (end === 0 || this.#random.next() < 0.2) {
      this.#generation += 1;
      this.report.generations += 1;
      this.#writeManifests();
    }
  }

  async finish(): Promise<void> {
    const end = await this.#apply(undefined);
    if (end !== 0) this.#violation(`the last apply, which nobody killed, ended with ${end}`);
    const before = this.#writes();
    const again = await this.#apply(undefined);
    if (again !== 0) this.#violation(`the apply after it ended with ${again}`);
    if (this.#writes() !== before) this.#violation(`the apply after it still sent ${this.#writes() - before} writes`);
    await this.#check();
    const ports = [...this.#sandbox.state.ports.all()].filter((row) => row.serviceId === SERVICE && row.port === 8080);
    const wanted = portOf(this.#generation);
    if (ports[0]?.alias !== wanted.alias || ports[0].outer !== wanted.outer)
      this.#violation(`port 8080 ended as ${JSON.stringify(ports[0])}`);
    this.report.writes = this.#writes();
    this.report.acknowledged = this.#acknowledged.size;
  }

  #writeManifests(): void {
    writeFileSync(join(this.#folder, 'manifests', 'shop.yaml'), manifests(this.#generation));
  }

  #writes(): number {
    return this.#sandbox.requests().filter((request) => request.isWrite).length;
  }

  /** @returns the exit code, or `killed`. */
  async #apply(kill: { readonly requests: number; readonly delayMs: number } | undefined): Promise<number | 'killed'> {
    const { PATH = '', HOME = '' } = process.env;
    const start = this.#sandbox.requests().length;
    const child = spawn(process.execPath, [builtProgram(), 'apply', '--yes', '--wait', '-f', 'manifests'], {
      cwd: this.#folder,
      env: { PATH, HOME, PORTOLAN_TOKEN: SANDBOX_TOKEN, STORE_KEY: 'kill-store-key' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-2000);
    });
    const ended = new Promise<number | 'killed'>((resolve) => {
      child.on('close', (code) => resolve(code ?? 'killed'));
    });
    let running = true;
    void ended.then(() => {
      running = false;
    });
    while (kill !== undefined && running) {
      if (this.#sandbox.requests().length - start >= kill.requests) {
        await sleep(kill.delayMs);
        child.kill('SIGKILL');
        break;
      }
      await sleep(2);
    }
    const end = await ended;
    if (typeof end === 'number' && end !== 0) this.report.violations.push(said);
    return end;
  }

  async #check(): Promise<void> {
    // What was on its way when the process died has arrived by now.
    await sleep(3 * LATENCY_MS);
    const path = join(this.#folder, 'portolan.db');
    for (const finding of verifySqliteLedger(path)) this.#violation(`ledger: ${finding.message}`);
    const ledger = await openSqliteLedger(path, {
      clock: systemClock,
      random: systemRandom,
      actor: 'kill cycles',
      readOnly: true,
    });
    try {
      const intents = await ledger.intents({});
      const states = new Map(intents.map((intent) => [intent.id, intent.state]));
      for (const [id, state] of this.#acknowledged) {
        if (states.get(id) !== state) this.#violation(`intent ${id} was ${state} and is ${states.get(id) ?? 'lost'}`);
      }
      for (const { id, state } of intents)
        if (state === 'applied' || state === 'rejected') this.#acknowledged.set(id, state);
      const [newest] = await ledger.history({ limit: 1 });
      if ((newest?.serial ?? 0) < this.#serial)
        this.#violation(`the history went back from ${this.#serial} to ${newest?.serial ?? 0}`);
      this.#serial = newest?.serial ?? 0;
      for (const operation of new Set(intents.map((intent) => intent.operation))) {
        const promised = intents.filter((intent) => intent.operation === operation).length;
        const sent = this.#sandbox
          .requests()
          .filter((request) => request.isWrite && request.operation === operation).length;
        if (sent > promised)
          this.#violation(`${sent} ${operation} requests arrived, and only ${promised} were promised`);
      }
    } finally {
      await ledger.close();
    }
    this.#checkPlatform();
  }

  #checkPlatform(): void {
    const count = (keys: readonly string[]): Map<string, number> =>
      keys.reduce((sums, key) => sums.set(key, (sums.get(key) ?? 0) + 1), new Map<string, number>());
    const { state } = this.#sandbox;
    for (const [model, copies] of count([...state.installs.all()].map((row) => row.modelId)))
      if (copies > 1) this.#violation(`${copies} installs of ${model}`);
    for (const [rule, copies] of count(
      [...state.rules.all()].map((row) => `${row.serviceId} ${row.port} ${row.domain}${row.path}`),
    )) {
      if (copies > 1) this.#violation(`${copies} rules ${rule}`);
    }
  }

  #violation(text: string): void {
    this.report.violations.push(`generation ${this.#generation}: ${text}`);
  }
}

function portOf(generation: number): { readonly alias: string; readonly outer: boolean } {
  return { alias: `WEB${generation % 7}`, outer: generation % 3 !== 0 };
}

/** Each generation moves a port about, adds one, makes a rule of its own and installs a model of its own. */
function manifests(generation: number): string {
  const { alias, outer } = portOf(generation);
  const rules = [generation, generation - 1].filter((number) => number > 0);
  const documents = [
    { kind: 'Application', metadata: { name: 'shop' }, spec: ADDRESS },
    {
      kind: 'Component',
      metadata: { name: 'web' },
      spec: {
        application: 'shop',
        serviceId: SERVICE,
        ports: [
          { port: 8080, protocol: 'http', alias, inner: true, outer },
          { port: 8081, protocol: 'http', alias: 'RULES', inner: true, outer: true },
          { port: 9000 + (generation % 5), protocol: generation % 2 === 0 ? 'grpc' : 'tcp', inner: true },
        ],
      },
    },
    ...rules.map((number) => ({
      kind: 'HttpGatewayRule',
      metadata: { name: `rule-${number}` },
      spec: {
        application: 'shop',
        component: 'web',
        port: 8081,
        domain: `rule-${number}.example.com`,
        weight: 10 + ((number * 7 + generation) % 90),
      },
    })),
    {
      kind: 'StoreInstall',
      metadata: { name: `install-${generation}` },
      spec: { application: 'shop', store: 'main', model: { id: `model-${generation}`, version: '1' } },
    },
  ];
  return documents.map((document) => JSON.stringify({ apiVersion: 'portolan/v1', ...document })).join('\n---\n');
}

function configuration(url: string): string {
  const documents = [
    {
      kind: 'Platform',
      metadata: { name: 'default' },
      spec: {
        url,
        dialect: 'extended',
        auth: { header: 'Authorization', value: { env: 'PORTOLAN_TOKEN' } },
        limits: { requestsPerSecond: 1000 },
      },
    },
    {
      kind: 'Store',
      metadata: { name: 'main' },
      spec: {
        url: 'https://store.example.com',
        domain: 'market-1',
        type: 'rainstore',
        accessKey: { env: 'STORE_KEY' },
      },
    },
    // Every request has arrived within milliseconds here, so a second is a long settle window.
    { kind: 'Settings', spec: { settle: { targetState: '1s', creation: '1s', install: '1s' } } },
  ];
  return documents.map((document) => JSON.stringify({ apiVersion: 'portolan/v1', ...document })).join('\n---\n');
}

function seedFor(cycles: number): Seed {
  const models = Array.from({ length: cycles + 2 }, (_, index) => ({
    id: `model-${index}`,
    name: `Model ${index}`,
    versions: [
      {
        version: '1',
        components: [{ key: `key-${index}`, name: `part-${index}`, image: 'registry.example.com/part:1' }],
      },
    ],
  }));
  return {
    ...smallShop({ ports: [{ port: 8080, inner: true }] }),
    stores: [{ url: 'https://store.example.com', domain: 'market-1', models }],
  };
}
