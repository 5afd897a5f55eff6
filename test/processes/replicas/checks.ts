import { openPostgresLedger } from '../../../src/ledger/postgres/open.ts';
import { verifyPostgresLedger } from '../../../src/ledger/postgres/verify.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { postgresUrl } from '../../support/postgres.ts';
import { accessTo, type Estate, type EstatePlatform } from './estate.ts';

/** Compares the journal with the requests that the platforms really received. */
export class JournalCheck {
  readonly #estate: Estate;
  /** States of intents that were seen with an outcome: none may change. */
  readonly #acknowledged = new Map<string, string>();

  constructor(estate: Estate) {
    this.#estate = estate;
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** Returns sentences; none: every invariant holds. */
  async violations(): Promise<readonly string[]> {
    const { postgres, platforms } = this.#estate;
    const access = accessTo(postgresUrl(postgres.port, 'portolan'));
    const found = (await verifyPostgresLedger(access)).findings.map(({ message }) => `ledger verify: ${message}`);
    const options = { clock: systemClock, random: systemRandom, actor: 'kill cycles', readOnly: true };
    const ledger = await openPostgresLedger(access, options);
    try {
      const intents = await ledger.intents({});
      const states = new Map(intents.map(({ id, state }) => [id, state]));
      for (const [id, state] of this.#acknowledged)
        if (states.get(id) !== state)
          found.push(`the outcome of intent ${id} was ${state} and is ${states.get(id) ?? 'lost'}`);
      for (const { id, state } of intents)
        if (state === 'applied' || state === 'rejected') this.#acknowledged.set(id, state);
      for (const platform of platforms) {
        const own = intents.filter(({ scope }) => scope.startsWith(`${platform.name}/`));
        found.push(
          ...doubles(platform),
          ...unpromised(
            platform,
            Map.groupBy(own, ({ operation }) => operation),
          ),
        );
      }
    } finally {
      await ledger.close();
    }
    return found;
  }

  /** Returns the intents without an outcome; there may be none once everything is in sync. */
  async pending(): Promise<number> {
    const [row] = await this.#estate.postgres.query(
      "SELECT count(*) AS n FROM portolan.intent WHERE state IN ('open', 'unknown')",
    );
    return Number(row?.['n']);
  }
}

function doubles({ name, sandbox }: EstatePlatform): readonly string[] {
  const { state } = sandbox;
  const installs = Map.groupBy(state.installs.all(), ({ modelId }) => modelId);
  const rules = Map.groupBy(state.rules.all(), (row) => `${row.serviceId} ${row.port} ${row.domain}${row.path}`);
  return [
    ...[...installs].flatMap(([model, copies]) =>
      copies.length > 1 ? [`${name}: ${copies.length} installs of ${model}`] : [],
    ),
    ...[...rules].flatMap(([rule, copies]) => (copies.length > 1 ? [`${name}: ${copies.length} rules ${rule}`] : [])),
  ];
}

/** A write without an intent of its own is one that the journal lost. */
function unpromised(
  { name, sandbox }: EstatePlatform,
  promised: ReadonlyMap<string, readonly unknown[]>,
): readonly string[] {
  const sent = Map.groupBy(
    sandbox.requests().filter(({ isWrite }) => isWrite),
    ({ operation }) => operation,
  );
  return [...sent].flatMap(([operation, requests]) => {
    const intents = promised.get(operation)?.length ?? 0;
    return requests.length > intents
      ? [`${name}: ${requests.length} ${operation} requests arrived, and the journal has ${intents} intents`]
      : [];
  });
}
