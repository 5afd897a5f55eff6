import pg from 'pg';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import type { PostgresAccess } from '../../src/ledger/postgres/pool.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { parseAddress } from '../../src/ledger/postgres/address.ts';
import { intentRow, objectRow } from '../../src/ledger/schema.ts';
import type { Intent, OwnedObject } from '../../src/model/owned.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { PostgresServer } from '../support/postgres.ts';
import type { Figure } from './figures.ts';
import { ANSWER, begun, ended, intentOf, objectOf, SCOPE, timedLater } from './ledger.ts';

const WRITES = 300;
const WARM_UP = 50;

/**
 * What a commit to PostgreSQL costs beside the same statements in one transaction of bare `pg`, turn by turn, on a server of its
 * own that writes through to the disk.
 */
export async function ledgerPostgres(): Promise<readonly Figure[]> {
  return commitFigures('', (access) => openPostgresLedger(access, options));
}

/** The same for a replica, which leads the platform and shares the ledger with others. */
export async function sharedCommits(): Promise<readonly Figure[]> {
  return commitFigures(' of a replica', async (access) => {
    const shared = await openSharedLedger(access, { ...options, replica: 'bench' });
    const lead = await shared.lead('platform:default');
    if (lead === undefined) throw new Error('another process leads the platform');
    return { ...lead.ledger, close: () => shared.close() };
  });
}

const options = { clock: systemClock, random: systemRandom, actor: 'bench' };

async function commitFigures(
  where: string,
  open: (access: PostgresAccess) => Promise<Pick<Ledger, 'epoch' | 'commit' | 'close'>>,
): Promise<readonly Figure[]> {
  const server = await PostgresServer.create({ isDurable: true });
  try {
    const access = (schema: string) => ({
      address: parseAddress(server.url(schema)),
      password: () => undefined,
      certificates: () => ({ root: undefined, client: undefined, key: undefined }),
    });
    await (await openPostgresLedger(access('bare'), options)).close();
    const ours = await open(access('ours'));
    const bare = await BareLedger.open(server);
    const samples: number[][] = [[], [], [], []];
    for (let turn = -WARM_UP; turn < WRITES; turn += 1) {
      const [intent, object] = [intentOf(turn, ours.epoch), objectOf(turn)];
      const took = [
        await timedLater(() => ours.commit(begun(intent))),
        await timedLater(() => bare.begun(intent)),
        await timedLater(() => ours.commit(ended(intent, object))),
        await timedLater(() => bare.ended(intent, object)),
      ];
      if (turn >= 0) for (const [at, values] of samples.entries()) values.push(took[at] ?? Number.NaN);
    }
    await bare.close();
    await ours.close();
    const [intents = [], bareIntents = [], outcomes = [], bareOutcomes = []] = samples;
    const goal = {
      text: '≤ 1.5 × bare pg',
      isMet: ({ ratio }: { readonly ratio?: number | undefined }) => ratio !== undefined && ratio <= 1.5,
    };
    return [
      { name: `commit of an intent${where}, bare pg`, unit: 'ms', samples: bareIntents },
      { name: `commit of an intent${where}`, unit: 'ms', samples: intents, floor: bareIntents, goal },
      { name: `commit of an outcome${where}, bare pg`, unit: 'ms', samples: bareOutcomes },
      { name: `commit of an outcome${where}`, unit: 'ms', samples: outcomes, floor: bareOutcomes, goal },
    ];
  } finally {
    await server.remove();
  }
}

/** The same statements on one connection, and nothing checked. */
class BareLedger {
  readonly #client: pg.Client;
  #lines = 0;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(server: PostgresServer): Promise<BareLedger> {
    const { host, port, user, database } = parseAddress(server.url('bare'));
    const client = new pg.Client({ host, port, user, database });
    await client.connect();
    await client.query('SET search_path TO bare');
    return new BareLedger(client);
  }

  async begun(intent: Intent): Promise<void> {
    await this.#transaction(async (serial) => {
      await this.#insert('intent', intentRow(intent, serial));
      await this.#line(serial, 'intent', intent.uid);
    });
  }

  async ended(intent: Intent, object: OwnedObject): Promise<void> {
    await this.#transaction(async (serial) => {
      await this.#client.query('UPDATE intent SET state = $1, outcome = $2 WHERE id = $3', [
        'applied',
        ANSWER,
        intent.id,
      ]);
      await this.#insert('object', objectRow(object, serial));
      await this.#line(serial, 'outcome', object.uid);
    });
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  async #transaction(work: (serial: number) => Promise<void>): Promise<void> {
    await this.#client.query('BEGIN');
    const { rows } = await this.#client.query<{ v: string }>(
      "UPDATE meta SET v = (v::bigint + 1)::text WHERE k = 'serial' RETURNING v",
      [],
    );
    const serial = Number(rows[0]?.v);
    await this.#client.query("UPDATE lease SET serial = $1 WHERE scope = '*'", [serial]);
    await work(serial);
    await this.#client.query('COMMIT');
  }

  async #line(serial: number, event: string, uid: string): Promise<void> {
    this.#lines += 1;
    const hash = 'f'.repeat(64);
    await this.#client.query('SELECT lines, hash FROM chain WHERE scope = $1', [SCOPE]);
    const row = { scope: SCOPE, line: this.#lines, serial, at_ms: 1_000, actor: 'bench', event, uid };
    await this.#insert('history', { ...row, detail: ANSWER, prev_hash: hash, hash });
    await this.#client.query(
      'INSERT INTO chain VALUES ($1, $2, $3) ON CONFLICT (scope) DO UPDATE SET lines = excluded.lines, hash = excluded.hash',
      [SCOPE, this.#lines, hash],
    );
  }

  async #insert(table: string, row: object): Promise<void> {
    const columns = Object.keys(row);
    const places = columns.map((_, at) => `$${at + 1}`).join(', ');
    await this.#client.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`, Object.values(row));
  }
}
