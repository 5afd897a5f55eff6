/** Records that were durable at a moment: whatever happens after it, they must be there. */
export interface Acknowledged {
  /** Intents with an outcome: state and answer, by id. */
  readonly outcomes: ReadonlyMap<string, string>;
  /** Ids of the commands of users that are recorded. */
  readonly commands: ReadonlySet<string>;
  /** The last line of the history of each scope: its number and hash. */
  readonly heads: ReadonlyMap<string, string>;
  /** Suspensions that the API has confirmed, by their reasons. */
  readonly suspensions: ReadonlySet<string>;
}

/** The records that a database has now. */
export interface Recorded {
  readonly outcomes: ReadonlyMap<string, string>;
  /** Commands of users, and whether they have a result. */
  readonly commands: ReadonlyMap<string, boolean>;
  /** Numbers and hashes of the lines of the history, by scope. */
  readonly lines: ReadonlyMap<string, ReadonlySet<string>>;
  /** Reasons of suspensions in the history. */
  readonly suspensions: ReadonlySet<string>;
}

/** Returns the records that are lost or changed, once everything is in sync again: commands must have a result by then. */
export function lostRecords(before: Acknowledged, now: Recorded): readonly string[] {
  const found: string[] = [];
  for (const [id, outcome] of before.outcomes) {
    const current = now.outcomes.get(id);
    if (current !== outcome) found.push(`the outcome of intent ${id} was ${outcome} and is ${current ?? 'lost'}`);
  }
  for (const id of before.commands) {
    const isFinished = now.commands.get(id);
    if (isFinished !== true)
      found.push(`the confirmed command ${id} ${isFinished === undefined ? 'is lost' : 'has no result'}`);
  }
  for (const [scope, head] of before.heads)
    if (now.lines.get(scope)?.has(head) !== true) found.push(`the history of ${scope} has lost line ${head}`);
  for (const reason of before.suspensions)
    if (!now.suspensions.has(reason)) found.push(`the confirmed suspension "${reason}" is not in the history`);
  return found;
}
