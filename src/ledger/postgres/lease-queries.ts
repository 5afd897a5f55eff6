import { type Kysely, sql } from 'kysely';
import { prepare } from '../queries.ts';
import { databaseNow, type LeaseTable, type PostgresTables } from './tables.ts';

type Held = Pick<LeaseTable, 'scope' | 'holder' | 'epoch'> & {
  /** The serials that the row may have: with any other one, the database has lost transactions of this process. */
  readonly serials: readonly number[];
};

interface Holding {
  readonly serial: number;
  readonly leaseMs: number;
}

/** The statements of a process that has a lease. */
export function leaseQueries(db: Kysely<PostgresTables>) {
  const own = ({ scope, holder, epoch, serials }: Held) =>
    db
      .updateTable('lease')
      .where('scope', '=', scope)
      .where('holder', '=', holder)
      .where('epoch', '=', epoch)
      // A statement that arrives after the release must not bring the lease back.
      .where('expires_ms', '>', 0)
      .where('serial', '=', sql<number>`any(${serials}::bigint[])`);
  const expiry = (leaseMs: number) => sql<number>`${databaseNow} + ${leaseMs}::bigint`;
  return {
    // Without values, so that the message that begins the transaction contains it.
    raiseSerial: prepare((_: object) =>
      db
        .updateTable('meta')
        .set({ v: sql<string>`(v::bigint + 1)::text` })
        .where('k', '=', sql.lit('serial'))
        .returning('v'),
    ),
    hold: prepare((holes: Held & Holding) =>
      own(holes)
        .set({ serial: holes.serial, expires_ms: expiry(holes.leaseMs) })
        .returning('scope'),
    ),
    release: prepare((holes: Held) => own(holes).set({ expires_ms: 0 }).returning('scope')),
    current: prepare(({ scope }: Pick<LeaseTable, 'scope'>) =>
      db.selectFrom('lease').select(['holder', 'epoch', 'serial', 'expires_ms']).where('scope', '=', scope),
    ),
  };
}
