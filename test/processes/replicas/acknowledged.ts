import type { Random } from '../../../src/runtime/random.ts';
import type { PostgresServer } from '../../support/postgres.ts';
import type { Estate } from './estate.ts';
import { idleApplication } from './manifests.ts';
import { type Acknowledged, lostRecords, type Recorded } from './oracles/acknowledged.ts';
import type { Replica } from './replica.ts';

/** Remembers what was durable or confirmed just before a fault, and finds it afterwards. */
export class AcknowledgedCheck {
  readonly #estate: Estate;
  readonly #outcomes = new Map<string, string>();
  readonly #heads = new Map<string, string>();
  readonly #suspensions = new Set<string>();
  /** Of this cycle only: a result is deleted after an hour. */
  readonly #commands = new Set<string>();

  constructor(estate: Estate) {
    this.#estate = estate;
  }

  /** Number of intents that were seen with an outcome. */
  get count(): number {
    return this.#outcomes.size;
  }

  /** Gives commands to random replicas, which may not lead the platform, and remembers those that were confirmed. */
  async command(replicas: readonly Replica[], random: Random, cycle: number): Promise<void> {
    const running = replicas.filter(({ isRunning, url }) => isRunning && url !== undefined);
    const given = this.#estate.platforms.map(async ({ name }) => {
      const replica = running[Math.floor(random.next() * running.length)];
      const reason = `${name} in cycle ${cycle}`;
      if (await replica?.command(`/applications/${idleApplication(name)}/suspend`, { reason }))
        this.#suspensions.add(reason);
      await replica?.command(`/applications/${name}-shop/sync`, {});
    });
    await Promise.all(given);
  }

  /** Reads what is durable at this moment. */
  async sample(): Promise<void> {
    const { postgres } = this.#estate;
    for (const [id, outcome] of await outcomesIn(postgres)) this.#outcomes.set(id, this.#outcomes.get(id) ?? outcome);
    for (const id of (await commandsIn(postgres)).keys()) this.#commands.add(id);
    const chains = await postgres.query('SELECT scope, lines, hash FROM portolan.chain WHERE lines > 0');
    for (const { scope, lines, hash } of chains) this.#heads.set(String(scope), `${lines} ${hash}`);
  }

  /** Returns the records that are lost, and remembers the present ones. */
  async violations(): Promise<readonly string[]> {
    const now = await recordedIn(this.#estate.postgres);
    const before: Acknowledged = {
      outcomes: this.#outcomes,
      commands: this.#commands,
      heads: this.#heads,
      suspensions: this.#suspensions,
    };
    const found = lostRecords(before, now);
    this.#commands.clear();
    await this.sample();
    return found;
  }
}

async function recordedIn(postgres: PostgresServer): Promise<Recorded> {
  const history = await postgres.query('SELECT scope, line, hash FROM portolan.history');
  const suspended = await postgres.query("SELECT detail FROM portolan.history WHERE event = 'suspended'");
  const lines = [...Map.groupBy(history, ({ scope }) => String(scope))];
  return {
    outcomes: await outcomesIn(postgres),
    commands: await commandsIn(postgres),
    lines: new Map(lines.map(([scope, rows]) => [scope, new Set(rows.map(({ line, hash }) => `${line} ${hash}`))])),
    suspensions: new Set(suspended.map(({ detail }) => (JSON.parse(String(detail)) as { reason: string }).reason)),
  };
}

async function outcomesIn(postgres: PostgresServer): Promise<ReadonlyMap<string, string>> {
  const rows = await postgres.query(
    "SELECT id, state, outcome FROM portolan.intent WHERE state IN ('applied', 'rejected')",
  );
  return new Map(rows.map(({ id, state, outcome }) => [String(id), `${state} ${outcome}`]));
}

/** Returns the commands of users, and whether each has a result. Questions of replicas have no user. */
async function commandsIn(postgres: PostgresServer): Promise<ReadonlyMap<string, boolean>> {
  const rows = await postgres.query(
    "SELECT id, result IS NOT NULL AS finished FROM portolan.command WHERE requester <> ''",
  );
  return new Map(rows.map(({ id, finished }) => [String(id), finished === true]));
}
