import { openPostgresLedger } from '../../../src/ledger/postgres/open.ts';
import { verifyPostgresLedger } from '../../../src/ledger/postgres/verify.ts';
import type { Intent } from '../../../src/model/owned.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { postgresUrl } from '../../support/postgres.ts';
import { accessTo, type Estate, type EstatePlatform } from './estate.ts';
import { intentTimes, isOfObservation, leaseChanges } from './observation.ts';
import { strayWrites, type TimedIntent } from './oracles/arrivals.ts';
import { type Claim, falseClaims } from './oracles/claims.ts';
import { repeatedRemovals } from './oracles/effects.ts';
import { type Expected, type Struck, unexpected } from './oracles/expected.ts';
import { earlyGrants, tenuresOf } from './oracles/leases.ts';
import type { ArrivalRecorder } from './recorder.ts';

/** What happened in a cycle. */
export interface Happened {
  readonly claims: readonly Claim[];
  readonly struck: readonly Struck[];
  readonly expected: Expected | undefined;
}

/** Compares the journal and the leases with the requests that the platforms really received. */
export class JournalCheck {
  readonly #estate: Estate;
  readonly #recorder: ArrivalRecorder;

  constructor(estate: Estate, recorder: ArrivalRecorder) {
    this.#estate = estate;
    this.#recorder = recorder;
  }

  /** Returns sentences; none: every invariant holds. */
  async violations({ claims, struck, expected }: Happened): Promise<readonly string[]> {
    const { postgres, platforms } = this.#estate;
    const access = accessTo(postgresUrl(postgres.port, 'portolan'));
    const { findings } = await verifyPostgresLedger(access);
    const found = findings
      .filter(({ message }) => !isOfObservation(message))
      .map(({ message }) => `ledger verify: ${message}`);
    const intents = await this.#intents();
    const tenures = tenuresOf(await leaseChanges(postgres));
    found.push(
      ...platforms.flatMap((platform) => [...doubles(platform), ...removals(platform)]),
      ...strayWrites(this.#recorder.arrivals, intents, tenures),
      ...earlyGrants(tenures),
      ...falseClaims(claims, tenures),
      ...(expected === undefined ? [] : unexpected(expected, struck, tenures)),
      ...uncounted(platforms, this.#recorder),
    );
    return found;
  }

  /** Returns the intents without an outcome, and the commands without a result; there may be none once everything is in sync. */
  async pending(): Promise<number> {
    const [row] = await this.#estate.postgres.query(`
      SELECT (SELECT count(*) FROM portolan.intent WHERE state IN ('open', 'unknown')) +
        (SELECT count(*) FROM portolan.command WHERE result IS NULL AND requester <> '') AS n`);
    return Number(row?.['n']);
  }

  async #intents(): Promise<readonly TimedIntent[]> {
    const { postgres } = this.#estate;
    const access = accessTo(postgresUrl(postgres.port, 'portolan'));
    const options = { clock: systemClock, random: systemRandom, actor: 'kill cycles', readOnly: true };
    const ledger = await openPostgresLedger(access, options);
    let intents: readonly Intent[];
    try {
      intents = await ledger.intents({});
    } finally {
      await ledger.close();
    }
    const times = await intentTimes(postgres);
    return intents.map(({ id, scope, epoch, requestHash: hash }) => {
      const unit = `platform:${scope.slice(0, scope.indexOf('/'))}`;
      return { id, unit, epoch, hash, ...(times.get(id) ?? { openedMs: Number.NaN, closedMs: undefined }) };
    });
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

function removals({ name, sandbox }: EstatePlatform): readonly string[] {
  return repeatedRemovals(sandbox.requests()).map((removal) => `${name}: ${removal}`);
}

/** A write that the platform answered and the recorder did not see would not be checked. */
function uncounted(platforms: readonly EstatePlatform[], { arrivals }: ArrivalRecorder): readonly string[] {
  const answered = platforms.reduce(
    (sum, one) => sum + one.sandbox.requests().filter(({ isWrite }) => isWrite).length,
    0,
  );
  return answered > arrivals.length ? [`${answered} writes were answered, and ${arrivals.length} were recorded`] : [];
}
