/** What one process has asked the database, and what became of it. */
export interface Statement {
  readonly type: 'take' | 'renew' | 'intent' | 'outcome' | 'release';
  /** The lease that it claims; 0: none yet. */
  readonly epoch: number;
  /** Ticks of the process's own clock since it was sent. */
  readonly age: number;
  /** `sent`: the database has not carried it out. Then its answer, which the process has not heard. */
  readonly at: 'sent' | 'yes' | 'no';
}

/** The one write that a process is at. */
export type Work =
  | { readonly at: 'none' }
  /** Its intent is being recorded. Ticks of its own clock until the request must have left. */
  | { readonly at: 'intent'; readonly left: number }
  | { readonly at: 'recorded'; readonly left: number }
  /** The deadline was checked so many ticks ago; the first byte leaves next. */
  | { readonly at: 'leaving'; readonly epoch: number; readonly ticks: number }
  | { readonly at: 'sent' }
  | { readonly at: 'outcome' };

/** A process. It never ends: one that dies starts again as a standby that knows nothing. */
export interface Process {
  /** undefined: a standby. In ticks of its own clock: how long the lease is valid, and until it may write. */
  readonly lead: { readonly epoch: number; readonly valid: number; readonly settle: number } | undefined;
  readonly work: Work;
  /** Over the connection for leases, and over that for transactions. */
  readonly control: Statement | undefined;
  readonly transaction: Statement | undefined;
  /** Statements that it waits for no more, and that the database may still carry out. */
  readonly ghosts: readonly Pick<Statement, 'type' | 'epoch'>[];
}

/** A request at the platform. */
export interface Request {
  readonly epoch: number;
  readonly age: number;
}

/** One moment. All times are relative to it; all that is over is 0. */
export interface State {
  /** Of clocks that run at another rate, modulo their period. */
  readonly phase: number;
  /** The row of the lease; the holder is the number of a process, -1: none. It expires in so many ticks; -1: it was given up. */
  readonly row: { readonly holder: number; readonly epoch: number; readonly expires: number };
  /** Epochs of the intents without an outcome, oldest first. */
  readonly intents: readonly number[];
  readonly requests: readonly Request[];
  readonly processes: readonly Process[];
}

export const standby: Process = {
  lead: undefined,
  work: { at: 'none' },
  control: undefined,
  transaction: undefined,
  ghosts: [],
};

const STATEMENTS = ['take', 'renew', 'intent', 'outcome', 'release'] as const;
const ANSWERS = ['sent', 'yes', 'no'] as const;
const WORKS = ['none', 'intent', 'recorded', 'leaving', 'sent', 'outcome'] as const;

/**
 * Equal texts have the same futures: epochs are renamed by their order, because they are only compared.
 * @param isSymmetric all processes are of one kind, so that their order is of no matter.
 */
export function keyOf(state: State, isSymmetric: boolean): string {
  const names = new Map(epochsOf(state).map((epoch, at) => [epoch, at + 1]));
  const name = (epoch: number): number => names.get(epoch) ?? 0;
  const { phase, row, intents, requests } = state;
  const codes: number[] = [phase, name(row.epoch), row.expires, intents.length];
  for (const epoch of intents) codes.push(name(epoch));
  codes.push(requests.length);
  for (const { epoch, age } of requests) codes.push(name(epoch), age);
  const processes = state.processes.map((process, number) => {
    const own = [Number(row.holder === number)];
    codesOf(process, name, own);
    return String.fromCharCode(...own);
  });
  if (isSymmetric) processes.sort();
  return String.fromCharCode(...codes) + processes.join('');
}

function codesOf(process: Process, name: (epoch: number) => number, codes: number[]): void {
  const { lead, work, ghosts } = process;
  if (lead === undefined) codes.push(0);
  else codes.push(name(lead.epoch), lead.valid, lead.settle);
  codes.push(WORKS.indexOf(work.at));
  if (work.at === 'intent' || work.at === 'recorded') codes.push(work.left);
  if (work.at === 'leaving') codes.push(name(work.epoch), work.ticks);
  for (const statement of [process.control, process.transaction]) {
    if (statement === undefined) codes.push(0);
    else {
      const { type, epoch, age, at } = statement;
      codes.push(1 + STATEMENTS.indexOf(type), name(epoch), age, ANSWERS.indexOf(at));
    }
  }
  codes.push(ghosts.length);
  for (const { type, epoch } of ghosts) codes.push(STATEMENTS.indexOf(type), name(epoch));
}

/** The epochs that a state names, in order. */
function epochsOf({ row, intents, requests, processes }: State): number[] {
  const epochs = new Set<number>([row.epoch, ...intents]);
  for (const { epoch } of requests) epochs.add(epoch);
  for (const { lead, work, control, transaction, ghosts } of processes) {
    if (lead !== undefined) epochs.add(lead.epoch);
    if (work.at === 'leaving') epochs.add(work.epoch);
    if (control !== undefined) epochs.add(control.epoch);
    if (transaction !== undefined) epochs.add(transaction.epoch);
    for (const { epoch } of ghosts) epochs.add(epoch);
  }
  epochs.delete(0);
  return [...epochs].sort((left, right) => left - right);
}
