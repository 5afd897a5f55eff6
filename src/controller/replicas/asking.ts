import type { LeaseUnit } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { ScopeKey } from '../../model/ids.ts';
import type { Json } from '../../model/json.ts';
import { formatDuration } from '../../model/duration.ts';
import { nameOf } from './command-errors.ts';
import type { Commands } from './commands.ts';
import type { Replicas } from './group.ts';
import type { DatabaseContact } from './shared-events.ts';

/** A question or an order to the leader of a unit. */
export interface Question {
  readonly unit: LeaseUnit;
  readonly method: string;
  readonly args: readonly unknown[];
  /** The scope of the application, by which its user was permitted; undefined: the method is about no application. */
  readonly scope?: ScopeKey | null | undefined;
  /** `takeovers` of the application, as far as this replica knows; undefined: the order does not depend on it. */
  readonly takeovers?: number | undefined;
  readonly by: string;
  /** It changes nothing. */
  readonly isRead: boolean;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

interface Around {
  readonly commands: Pick<Commands, 'add' | 'resultOf'>;
  readonly replicas: Pick<Replicas, 'leaderOf'>;
  readonly contact: () => DatabaseContact;
}

export type Asking = ReturnType<typeof createAsking>;

/** Returns how a replica asks the leader of a unit. */
export function createAsking({ commands, replicas, contact }: Around) {
  /**
   * Records an order. The leader carries it out later.
   * @returns its id. @throws PortolanError `controller/database-away`, and those of the ledger. Nothing was recorded then.
   */
  const order = async ({
    unit,
    method,
    args,
    scope,
    takeovers,
    by,
  }: Omit<Question, 'isRead' | 'patienceMs' | 'signal'>) => {
    const { isReachable, ageMs } = contact();
    if (!isReachable) throw databaseAway(ageMs);
    const ordered = {
      args: args as readonly Json[],
      ...(scope === undefined ? {} : { scope }),
      ...(takeovers === undefined ? {} : { takeovers }),
    };
    return commands.add({ unit, method, args: ordered, by });
  };
  return {
    order,
    /**
     * Asks the leader, and waits for its answer.
     * @throws PortolanError as `order`; what the leader refuses; `controller/leader-silent` for a read, and
     * `controller/command-pending` for a command, which will still be carried out. The reason of the signal, when nothing is
     * recorded, or for a read.
     */
    ask: async (question: Question): Promise<unknown> => {
      const { unit, patienceMs, signal, isRead } = question;
      signal.throwIfAborted();
      const id = await order(question);
      const answer = await commands.resultOf(id, patienceMs, signal).catch((error: unknown) => {
        // The leader carries it out all the same.
        throw !isRead && signal.aborted && error === signal.reason ? unseen(stoppedWaiting(unit), id) : error;
      });
      if (answer !== undefined) return answer.value;
      const { isReachable, ageMs } = contact();
      if (!isRead && !isReachable) throw unseen(unread(ageMs), id);
      const leader = await replicas.leaderOf(unit);
      throw isRead ? silent(unit, leader, patienceMs) : pending(unit, leader, { id, patienceMs });
    },
  };
}

function reasonOf(unit: LeaseUnit, leader: string | undefined, patienceMs: number): string {
  return leader === undefined
    ? `No controller is known to lead ${nameOf(unit)} at this moment.`
    : `The controller ${leader}, which leads ${nameOf(unit)}, did not answer within ${formatDuration(patienceMs)}.`;
}

function silent(unit: LeaseUnit, leader: string | undefined, patienceMs: number): PortolanError {
  return new PortolanError({
    code: 'controller/leader-silent',
    disposition: 'retry',
    message: `${reasonOf(unit, leader, patienceMs)} Nothing was changed.`,
    remedy: 'Retry in a few seconds; portolan replicas shows the leaders.',
  });
}

function pending(
  unit: LeaseUnit,
  leader: string | undefined,
  { id, patienceMs }: { readonly id: string; readonly patienceMs: number },
): PortolanError {
  return new PortolanError({
    code: 'controller/command-pending',
    disposition: 'retry',
    message: `${reasonOf(unit, leader, patienceMs)} The command ${id} is recorded, and the next leader carries it out or refuses it.`,
    remedy:
      'Do not repeat it: portolan events and portolan history show when it was carried out, or why it was refused.',
  });
}

function stoppedWaiting(unit: LeaseUnit): string {
  return `This controller stopped waiting for the leader of ${nameOf(unit)}, because it is stopping or the request took too long.`;
}

/** Returns the error for a recorded command whose end this replica cannot see. No event shows a refusal that came in time. */
function unseen(reason: string, id: string): PortolanError {
  return new PortolanError({
    code: 'controller/command-pending',
    disposition: 'retry',
    message: `${reason} The command ${id} is recorded, and the leader carries it out or refuses it.`,
    remedy: 'Do not repeat it before you have seen in portolan history and portolan status whether it was carried out.',
  });
}

/** The database may be away, or refuse this controller: the log of this controller says which. */
function unread(ageMs: number): string {
  return `This controller could not read the database of the ledger for ${formatDuration(ageMs)}.`;
}

/** Returns the error for a command that cannot be recorded. */
export function databaseAway(ageMs: number): PortolanError {
  return new PortolanError({
    code: 'controller/database-away',
    disposition: 'retry',
    message: `${unread(ageMs)} Nothing was done.`,
    remedy:
      'Retry when it can be read: the log of this controller names the reason. Until then, it shows the last state that it read.',
  });
}
