import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type OpenCommand, subjectOf } from '../commands.ts';
import { fenced, retiredLedger } from '../errors.ts';
import { retired, retirementOf } from '../retirement.ts';
import type { Command, LeaseUnit, Lead, SharedCommands } from '../shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import { isUnanswered } from './faults.ts';
import type { SharedData } from './shared-data.ts';
import { databaseNow, durably, type PostgresTables } from './tables.ts';

/** @param holder of the leases of this process. */
export function sharedCommands(data: SharedData, holder: string): SharedCommands {
  const command = data.table('command');
  const columns = sql`id, unit, method, args, requester, added_ms, ${databaseNow} - added_ms as ago_ms`;
  const older = async (olderThanMs: number, condition: RawBuilder<unknown>): Promise<readonly Command[]> => {
    const rows = await data.run(sql<CommandRow>`
      select ${columns} from ${command} where result is null and ${isOlder(olderThanMs)} and ${condition} order by number`);
    return rows.map(commandOf);
  };
  return {
    async add({ unit, method, args, by }) {
      const id = data.parts.random.hex(16);
      // The id is ours, so a repetition after a lost answer adds nothing. A copy of the ledger locks the commands: this statement waits
      // for its end, and sees it.
      const statement = sql<{ v: string }>`
        with retirement as (select v from ${data.table('meta')} where k = ${retired}),
        added as (
          insert into ${command} (id, unit, method, args, requester, added_ms)
          select ${id}, ${unit}, ${method}, ${JSON.stringify(args)}, ${by}, ${databaseNow} from ${durably}
          where not exists (select from retirement)
          on conflict (id) do nothing)
        select v from retirement`;
      let mayBeAdded = false;
      const attempt = async (db: Kysely<PostgresTables>): Promise<void> => {
        try {
          const [retirement] = (await statement.execute(db)).rows;
          if (retirement !== undefined) throw retiredLedger(data.parts.location, retirementOf(retirement.v));
        } catch (error) {
          mayBeAdded ||= isUnanswered(error);
          throw error;
        }
      };
      try {
        await data.patiently(attempt);
      } catch (error) {
        throw mayBeAdded ? unansweredCommand(data.parts.location, method, error) : error;
      }
      return id;
    },
    async open(unit) {
      const rows = await data.run(sql<CommandRow>`
        select ${columns} from ${command} where unit = ${unit} and result is null order by number`);
      return rows.map(commandOf);
    },
    unled: (olderThanMs) => older(olderThanMs, sql`not ${isLed(data)}`),
    overdue: (olderThanMs) => older(olderThanMs, sql`true`),
    finish: (lead, id, result, overdueMs) => finish(data, holder, { lead, id, result, overdueMs }),
    async result(id) {
      const [row] = await data.run(sql<{ result: string | null }>`select result from ${command} where id = ${id}`);
      return row === undefined || row.result === null ? undefined : (JSON.parse(row.result) as Json);
    },
  };
}

/** Returns the commands of users that have no result, oldest first. Questions of replicas have no user. */
export async function openCommands(db: Kysely<PostgresTables>, schema: string): Promise<readonly OpenCommand[]> {
  const { rows } = await sql<Pick<CommandRow, 'unit' | 'method' | 'args' | 'requester' | 'added_ms'>>`
    select unit, method, args, requester, added_ms from ${sql.id(schema, 'command')}
    where result is null and requester <> '' order by number`.execute(db);
  return rows.map(({ unit, method, args, requester: by, added_ms: addedMs }) => {
    return { method, unit, subject: subjectOf({ args: JSON.parse(args) as Json, unit }), by, addedMs };
  });
}

/** Returns the error for a command that was sent once, of which no later attempt could learn whether it was recorded. */
function unansweredCommand(location: string, method: string, cause: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/unanswered',
    disposition: 'retry',
    message: `The ledger ${location} did not answer when the command ${method} was recorded, and could not be reached since. If it is recorded, it will be carried out, or refused with an event.`,
    remedy: 'Check that PostgreSQL runs. Then look at the application and its events before you repeat the command.',
    cause,
  });
}

/** Returns the condition that a process leads the unit of a command. */
function isLed(data: SharedData): RawBuilder<boolean> {
  return sql<boolean>`exists (select from ${data.table('lease')} where scope = unit and expires_ms > ${databaseNow})`;
}

function isOlder(thanMs: number): RawBuilder<boolean> {
  return sql<boolean>`added_ms < ${databaseNow} - ${thanMs}::bigint`;
}

interface Finish {
  readonly lead: Lead;
  readonly id: string;
  readonly result: Json;
  /** Age from which the unit may have another leader; undefined: it may not. */
  readonly overdueMs: number | undefined;
}

/** The lock of the lease keeps a takeover waiting until the result is recorded. Arguments, which may be manifests, are not kept. */
async function finish(data: SharedData, holder: string, { lead, id, result, overdueMs }: Finish): Promise<void> {
  const { epoch } = lead.ledger;
  const isOverdue = overdueMs === undefined ? sql`false` : isOlder(overdueMs);
  const [row] = await data.run(sql<{ held: number }>`
    with held as materialized (
      select scope from ${data.table('lease')}
      where scope = ${lead.unit} and holder = ${holder} and epoch = ${epoch}::bigint and expires_ms > 0 for update),
    finished as (
      update ${data.table('command')} set result = ${JSON.stringify(result)}, args = 'null', finished_ms = ${databaseNow}
      from ${durably}
      where id = ${id} and (unit = ${lead.unit} or not ${isLed(data)} or ${isOverdue}) and result is null
        and exists (select 1 from held))
    select count(*) as held from held`);
  if (row?.held !== 1) throw fenced(data.parts.location, epoch, epoch);
}

interface CommandRow {
  readonly id: string;
  readonly unit: LeaseUnit;
  readonly method: string;
  readonly args: string;
  readonly requester: string;
  readonly added_ms: number;
  readonly ago_ms: number;
}

function commandOf({
  id,
  unit,
  method,
  args,
  requester: by,
  added_ms: addedMs,
  ago_ms: addedAgoMs,
}: CommandRow): Command {
  return { id, unit, method, args: JSON.parse(args) as Json, by, addedMs, addedAgoMs };
}
