import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAddress } from '../../../src/ledger/postgres/address.ts';
import type { PostgresAccess } from '../../../src/ledger/postgres/pool.ts';
import { openPostgresLedger } from '../../../src/ledger/postgres/open.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { type Random, systemRandom } from '../../../src/runtime/random.ts';
import type { SandboxRequest } from '../../../src/sandbox/wire.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { PgBouncer } from '../../support/pgbouncer.ts';
import { canMountDisks, postgresUrl, PostgresServer } from '../../support/postgres.ts';
import {
  type Content,
  contentDifferences,
  documentsText,
  FIRST,
  idleManifest,
  installDifferences,
  manifestsOf,
  nextContent,
  seedOf,
  STORE,
} from './manifests.ts';

/** Platforms (one sandbox each), a git source and a database: the surroundings of replicas. */

const SCHEMA = 'portolan';
/** How long a removed resource stays: a takeover in between must not restart the time. */
const PRUNE_AFTER = '1s';
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
  /** Whether each platform has another application without resources, which commands can be about. */
  readonly hasIdle?: boolean;
  /** Called with each request that has arrived at a platform. */
  readonly onRequest?: (platform: string, request: SandboxRequest) => void;
  /** Whether the replicas reach the database through PgBouncer in transaction mode. */
  readonly isPooled?: boolean;
}

/** One platform, and the content of its manifests that is in git. */
export interface EstatePlatform {
  readonly name: string;
  readonly sandbox: Sandbox;
  content: Content;
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
      const name = `p${n}`;
      const sandbox = await startSandbox({
        clock: systemClock,
        random: systemRandom,
        seed: seedOf(options.generations),
        latencyMs: options.latencyMs ?? 5,
        onRequest: (request) => options.onRequest?.(name, request),
      });
      platforms.push({ name, sandbox, content: FIRST });
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

  /** Moves platforms on to their next generation, in one commit. @param random see `nextContent`. */
  change(platforms: readonly EstatePlatform[], random?: Random): void {
    for (const platform of platforms) {
      platform.content = nextContent(platform.content, random);
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

  #writeManifests({ name, content }: EstatePlatform): void {
    const { installs = true, hasIdle = false } = this.options;
    const documents = manifestsOf(name, content).filter(({ kind }) => installs || kind !== 'StoreInstall');
    const all = hasIdle ? [...documents, idleManifest(name)] : documents;
    writeFileSync(join(this.checkout, `${name}.yaml`), documentsText(all));
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
          prune: { maxShare: 1, maxObjects: 1_000, dailyObjects: 10_000 },
          controller: { resyncInterval: resync, drainTimeout: '20s', lease, pruneAfter: PRUNE_AFTER },
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
export function differences({ name, sandbox, content }: EstatePlatform, withInstalls = true): readonly string[] {
  const { state } = sandbox;
  const found = contentDifferences(name, content, state);
  return withInstalls ? [...found, ...installDifferences(name, content, state)] : found;
}
