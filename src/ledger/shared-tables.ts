/**
 * Tables and triggers in PostgreSQL that several processes need beside the records of a ledger. Triggers number facts and announce
 * changes, so that those of a process of the version before are found too. A text that is announced begins with the schema, because
 * all ledgers of a database have one channel.
 */
export const sharedTables = `
CREATE TABLE replica (
  holder TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, address TEXT, started_ms BIGINT NOT NULL,
  facts TEXT NOT NULL, draining BIGINT NOT NULL, seen_ms BIGINT NOT NULL);
CREATE TABLE event (sequence BIGINT PRIMARY KEY, event TEXT NOT NULL, batch TEXT UNIQUE);
INSERT INTO meta (k, v) VALUES ('event', '0');
CREATE TABLE command (
  number BIGINT GENERATED ALWAYS AS IDENTITY, id TEXT PRIMARY KEY, unit TEXT NOT NULL, method TEXT NOT NULL,
  args TEXT NOT NULL, requester TEXT NOT NULL, added_ms BIGINT NOT NULL, result TEXT, finished_ms BIGINT);
CREATE INDEX command_open ON command (unit, number) WHERE result IS NULL;
CREATE INDEX command_finished ON command (finished_ms) WHERE result IS NOT NULL;
CREATE TABLE session (hash TEXT PRIMARY KEY, account TEXT NOT NULL, started_ms BIGINT NOT NULL, used_ms BIGINT NOT NULL);
ALTER TABLE fact ADD COLUMN serial BIGINT NOT NULL DEFAULT 0;
CREATE INDEX fact_serial ON fact (serial);
CREATE FUNCTION number_fact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT v::bigint FROM %I.meta WHERE k = %L', TG_TABLE_SCHEMA, 'serial') INTO NEW.serial;
  RETURN NEW;
END $$;
CREATE FUNCTION announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('portolan', TG_TABLE_SCHEMA || ' ' || TG_ARGV[0]);
  RETURN NULL;
END $$;
CREATE TRIGGER number_fact BEFORE INSERT OR UPDATE ON fact FOR EACH ROW EXECUTE FUNCTION number_fact();
CREATE TRIGGER announce_fact AFTER INSERT OR UPDATE ON fact FOR EACH STATEMENT EXECUTE FUNCTION announce('fact');
CREATE TRIGGER announce_new_lease AFTER INSERT ON lease FOR EACH ROW EXECUTE FUNCTION announce('lease');
CREATE TRIGGER announce_lease AFTER UPDATE ON lease FOR EACH ROW
  WHEN (OLD.epoch <> NEW.epoch OR (OLD.expires_ms > 0 AND NEW.expires_ms = 0)) EXECUTE FUNCTION announce('lease');
CREATE TRIGGER announce_group AFTER INSERT OR DELETE ON replica FOR EACH ROW EXECUTE FUNCTION announce('lease');
CREATE TRIGGER announce_draining AFTER UPDATE ON replica FOR EACH ROW
  WHEN (OLD.draining <> NEW.draining) EXECUTE FUNCTION announce('lease');
CREATE TRIGGER announce_event AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION announce('event');
CREATE TRIGGER announce_command AFTER INSERT OR UPDATE ON command FOR EACH STATEMENT EXECUTE FUNCTION announce('command');
CREATE TRIGGER announce_session AFTER INSERT OR DELETE ON session FOR EACH STATEMENT EXECUTE FUNCTION announce('session');
`;
