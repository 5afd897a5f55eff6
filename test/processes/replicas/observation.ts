import type { PostgresServer } from '../../support/postgres.ts';
import type { LeaseChange } from './oracles/leases.ts';

/**
 * The history of leases and intents by the clock of the database, which triggers record in the transactions themselves: what was rolled back
 * is not in it. A time is that of the statement: a little before its commit, and after the locks that the statement waited for.
 */
const TRIGGERS = `
CREATE SCHEMA observation;
CREATE TABLE observation.lease (
  n BIGINT GENERATED ALWAYS AS IDENTITY, at_ms DOUBLE PRECISION, scope TEXT, epoch BIGINT, actor TEXT, expires_ms BIGINT);
CREATE TABLE observation.intent (id TEXT PRIMARY KEY, opened_ms DOUBLE PRECISION, closed_ms DOUBLE PRECISION);
CREATE FUNCTION observation.now_ms() RETURNS DOUBLE PRECISION LANGUAGE sql AS 'SELECT extract(epoch FROM clock_timestamp()) * 1000';
CREATE FUNCTION observation.note_lease() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO observation.lease (at_ms, scope, epoch, actor, expires_ms)
    VALUES (observation.now_ms(), NEW.scope, NEW.epoch, NEW.actor, NEW.expires_ms);
  RETURN NULL;
END $$;
CREATE FUNCTION observation.note_intent() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN INSERT INTO observation.intent VALUES (NEW.id, observation.now_ms());
  ELSE UPDATE observation.intent SET closed_ms = observation.now_ms() WHERE id = NEW.id AND closed_ms IS NULL;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER observe_lease AFTER INSERT OR UPDATE ON portolan.lease
  FOR EACH ROW EXECUTE FUNCTION observation.note_lease();
CREATE TRIGGER observe_intent AFTER INSERT ON portolan.intent FOR EACH ROW EXECUTE FUNCTION observation.note_intent();
CREATE TRIGGER observe_outcome AFTER UPDATE ON portolan.intent
  FOR EACH ROW WHEN (OLD.state = 'open' AND NEW.state <> 'open') EXECUTE FUNCTION observation.note_intent();
`;

/** Lets the database record when leases and intents change. */
export async function observeTables(postgres: PostgresServer): Promise<void> {
  await postgres.query(TRIGGERS);
}

/** Whether a finding of the ledger is about a trigger of these. */
export function isOfObservation(finding: string): boolean {
  return /^the trigger observe_\w+ does not belong to a ledger$/.test(finding);
}

/** Returns all changes of leases since the start. */
export async function leaseChanges(postgres: PostgresServer): Promise<readonly LeaseChange[]> {
  const rows = await postgres.query(
    `SELECT at_ms, scope, epoch, actor, expires_ms FROM observation.lease WHERE scope <> '*' ORDER BY n`,
  );
  return rows.map(({ at_ms: atMs, scope, epoch, actor, expires_ms: expiresMs }) => ({
    atMs: Number(atMs),
    unit: String(scope),
    epoch: Number(epoch),
    pid: pidIn(actor),
    expiresMs: Number(expiresMs),
  }));
}

/** The time at which an intent was recorded, and at which it was not open any more. */
export interface IntentTimes {
  readonly openedMs: number;
  readonly closedMs: number | undefined;
}

export async function intentTimes(postgres: PostgresServer): Promise<ReadonlyMap<string, IntentTimes>> {
  const rows = await postgres.query('SELECT id, opened_ms, closed_ms FROM observation.intent');
  return new Map(
    rows.map(({ id, opened_ms: openedMs, closed_ms: closedMs }) => [
      String(id),
      { openedMs: Number(openedMs), closedMs: closedMs === null ? undefined : Number(closedMs) },
    ]),
  );
}

/** Returns the process that the text of a lease names; 0: none. */
export function pidIn(actor: unknown): number {
  return Number(/pid (\d+)/.exec(String(actor))?.[1] ?? 0);
}
