import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAddress } from '../../../src/ledger/postgres/address.ts';
import type { PostgresAccess } from '../../../src/ledger/postgres/pool.ts';
import { openPostgresLedger } from '../../../src/ledger/postgres/open.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import type { Seed } from '../../../src/sandbox/seed.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { PgBouncer } from '../../support/pgbouncer.ts';
import { canMountDisks, postgresUrl, PostgresServer } from '../../support/postgres.ts';
import { ADDRESS, SERVICE, smallShop } from '../../support/small-shop.ts';

/** Platforms (one sandbox each), a git source and a database: the surroundings of replicas. */

const STORE = { url: 'https://store.example.com', domain: 'market-1', type: 'rainstore' } as const;
const SCHEMA = 'portolan';
/** The disk of the database, with room for its log and for chains of faults. */
const DISK_MIB = 320;
const SMALL_LOG = ['max_wal_size=64MB', 'min_wal_size=32MB'];
/** A role with the usual rights: an administrator could always connect. */
export const ROLE = 'portolan';

const example = (name: string): string =>
  readFileSync(new URL(`../../../examples/postgres/${name}`, import.meta.url), 'utf8');

/** Access to a database that trusts everybody. */
export function accessTo(url: string): PostgresAccess {
  const certificates = () => ({ root: undefined, client: undefined, key: undefined });
  return { address: parseAddress(url), password: () => undefined, certificates };
}

export interface EstateOptions {
  readonly platforms: number;
  /** Changes of one platform that there may be. */
  readonly generations: number;
  readonly lease: string;
  /** Settle windows; undefined: the defaults. */
  readonly settle: string | undefined;
  /** Of each answer of a platform. */
  readonly latencyMs?: number;
  readonly resync?: string;
  /** Whether a generation installs a model. By default, it does. */
  readonly installs?: boolean;
  /** Whether the replicas reach the database through PgBouncer in transaction mode. */
  readonly isPooled?: boolean;
}

/** One platform, and the generation of its manifests that is in git. */
export interface EstatePlatform {
  readonly name: string;
  readonly sandbox: Sandbox;
  generation: number;
}

export class Estate {
  readonly folder: string;
  readonly checkout: string;
  readonly config: string;
  readonly platforms: readonly EstatePlatform[];
  readonly postgres: PostgresServer;
  readonly #pooler: PgBouncer | undefined;
  readonly options: EstateOptions;

  private constructor(
    folder: string,
    platforms: readonly EstatePlatform[],
    postgres: PostgresServer,
    pooler: PgBouncer | undefined,
    options: EstateOptions,
  ) {
    this.folder = folder;
    this.checkout = join(folder, 'checkout');
    this.config = join(folder, 'portolan.yaml');
    this.platforms = platforms;
    this.postgres = postgres;
    this.#pooler = pooler;
    this.options = options;
  }

  static async create(options: EstateOptions): Promise<Estate> {
    const folder = mkdtempSync(join(tmpdir(), 'portolan-replicas-'));
    const platforms: EstatePlatform[] = [];
    for (let n = 0; n < options.platforms; n += 1) {
      const sandbox = await startSandbox({
        clock: systemClock,
        random: systemRandom,
        seed: seedOf(options.generations),
        latencyMs: options.latencyMs ?? 5,
      });
      platforms.push({ name: `p${n}`, sandbox, generation: 1 });
    }
    const postgres = await PostgresServer.create(canMountDisks() ? { diskMib: DISK_MIB, settings: SMALL_LOG } : {});
    // As an operator does: the replicas have exactly the privileges of `examples/postgres`.
    await postgres.query(example('roles.sql'));
    const owner = accessTo(postgresUrl(postgres.port, SCHEMA, 'portolan_owner'));
    const tables = { clock: systemClock, random: systemRandom, actor: 'migration' };
    await (await openPostgresLedger(owner, tables)).close();
    await postgres.query(example('grants.sql'));
    const pooler = options.isPooled ? await PgBouncer.before(postgres, 1) : undefined;
    const estate = new Estate(folder, platforms, postgres, pooler, options);
    writeFileSync(estate.config, estate.#configuration());
    mkdirSync(estate.checkout);
    estate.git('init', '--quiet', '--initial-branch=main');
    for (const platform of platforms) estate.#writeManifests(platform);
    estate.#commit();
    return estate;
  }

  /** Where the replicas reach the database. */
  get databasePort(): number {
    return this.#pooler?.port ?? this.postgres.port;
  }

  /** The URL of the ledger through a port. */
  ledger(port = this.databasePort): string {
    return postgresUrl(port, SCHEMA, ROLE);
  }

  /** Moves platforms on to their next generation, in one commit. */
  change(platforms: readonly EstatePlatform[]): void {
    for (const platform of platforms) {
      platform.generation += 1;
      this.#writeManifests(platform);
    }
    this.#commit();
  }

  git(...args: readonly string[]): void {
    const identity = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.com'];
    execFileSync('git', ['-C', this.checkout, ...identity, ...args], {
      env: { PATH: process.env['PATH'] ?? '', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' },
      stdio: 'pipe',
    });
  }

  async remove(): Promise<void> {
    for (const { sandbox } of this.platforms) await sandbox.close();
    await this.#pooler?.stop();
    await this.postgres.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #commit(): void {
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', 'change');
  }

  #writeManifests({ name, generation }: EstatePlatform): void {
    writeFileSync(join(this.checkout, `${name}.yaml`), documentsText(this.#manifestsOf(name, generation)));
  }

  #manifestsOf(name: string, generation: number): readonly object[] {
    const documents = manifestsOf(name, generation);
    return this.options.installs === false ? documents.filter(({ kind }) => kind !== 'StoreInstall') : documents;
  }

  #configuration(): string {
    const { settle, lease, resync = '2s' } = this.options;
    return documentsText([
      ...this.platforms.map(({ name, sandbox }) => ({
        kind: 'Platform',
        metadata: { name },
        spec: {
          url: sandbox.url,
          dialect: 'extended',
          auth: { header: 'Authorization', value: { env: 'PORTOLAN_TOKEN' } },
          limits: { requestsPerSecond: 1_000 },
        },
      })),
      { kind: 'Store', metadata: { name: 'main' }, spec: { ...STORE, accessKey: { env: 'STORE_KEY' } } },
      {
        kind: 'Settings',
        spec: {
          ...(settle === undefined ? {} : { settle: { targetState: settle, creation: settle, install: settle } }),
          // Each change is a large part of what there is.
          prune: { maxShare: 1 },
          controller: { resyncInterval: resync, drainTimeout: '20s', lease },
          server: {
            listen: '127.0.0.1:0',
            tokens: [{ name: 'test', role: 'admin', value: { env: 'API_TOKEN' } }],
          },
        },
      },
    ]);
  }
}

/** Returns the differences of a platform from the manifests of its generation; none: it is in sync. */
export function differences({ name, sandbox, generation }: EstatePlatform, withInstalls = true): readonly string[] {
  const { state } = sandbox;
  const found: string[] = [];
  const port = [...state.ports.all()].find((row) => row.serviceId === SERVICE && row.port === 8080);
  const alias = aliasOf(generation);
  if (port?.alias !== alias) found.push(`${name}: port 8080 has the alias ${port?.alias}, not ${alias}`);
  const rules = new Map([...state.rules.all()].map(({ domain, weight }) => [domain, weight]));
  for (let n = 1; n <= generation; n += 1) {
    const weight = rules.get(domainOf(name, n));
    if (weight !== weightOf(n, generation))
      found.push(`${name}: rule ${n} has the weight ${weight}, not ${weightOf(n, generation)}`);
  }
  if (!withInstalls) return found;
  const installs = new Set([...state.installs.all()].map(({ modelId }) => modelId));
  for (let n = 1; n <= generation; n += 1) if (!installs.has(`model-${n}`)) found.push(`${name}: no install ${n}`);
  return found;
}

function aliasOf(generation: number): string {
  return `WEB${generation % 7}`;
}

function domainOf(platform: string, n: number): string {
  return `r${n}.${platform}.example.com`;
}

/** The newest rules change with each generation. */
function weightOf(n: number, generation: number): number {
  return n < generation - 1 ? 10 + (n % 90) : 10 + ((n * 7 + generation) % 90);
}

interface Document {
  readonly kind: string;
  readonly metadata: object;
  readonly spec: object;
}

/** Each generation renames a port, adds a rule, changes another one, and installs a model. */
function manifestsOf(platform: string, generation: number): readonly Document[] {
  const application = `${platform}-shop`;
  const numbers = Array.from({ length: generation }, (_, index) => index + 1);
  return [
    { kind: 'Application', metadata: { name: application }, spec: { platform, ...ADDRESS } },
    {
      kind: 'Component',
      metadata: { name: `${platform}-web` },
      spec: {
        application,
        serviceId: SERVICE,
        ports: [
          { port: 8080, protocol: 'http', alias: aliasOf(generation), inner: true, outer: true },
          { port: 8081, protocol: 'http', alias: 'RULES', inner: true, outer: true },
        ],
      },
    },
    ...numbers.map((n) => ({
      kind: 'HttpGatewayRule',
      metadata: { name: `${platform}-rule-${n}` },
      spec: {
        application,
        component: `${platform}-web`,
        port: 8081,
        domain: domainOf(platform, n),
        weight: weightOf(n, generation),
      },
    })),
    ...numbers.map((n) => ({
      kind: 'StoreInstall',
      metadata: { name: `${platform}-install-${n}` },
      spec: { application, store: 'main', model: { id: `model-${n}`, version: '1' } },
    })),
  ];
}

function documentsText(documents: readonly object[]): string {
  return documents.map((document) => JSON.stringify({ apiVersion: 'portolan/v1', ...document })).join('\n---\n');
}

function seedOf(generations: number): Seed {
  const models = Array.from({ length: generations + 2 }, (_, n) => ({
    id: `model-${n}`,
    name: `Model ${n}`,
    versions: [
      { version: '1', components: [{ key: `key-${n}`, name: `part-${n}`, image: 'registry.example.com/part:1' }] },
    ],
  }));
  return {
    ...smallShop({ ports: [{ port: 8080, inner: true }] }),
    stores: [{ url: STORE.url, domain: STORE.domain, models }],
  };
}
