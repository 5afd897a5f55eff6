import { type Claim, type Leases, releaseLease, renewLease, takeLease } from '../../support/lease-rows.ts';
import type { LeaseRules, Rate, Timing } from './rules.ts';
import { type Process, standby, type State, type Statement } from './state.ts';

/** Ticks after which a clock of another rate has lost or gained one. */
const PERIOD = 8;

export interface Setting {
  readonly timing: Timing;
  readonly rules: LeaseRules;
  /** Of each process. */
  readonly rates: readonly Rate[];
  /** What the wall clock of each process shows more than that of the database. Production reads none of them. */
  readonly wallOffsets: readonly number[];
  /** Statements of one process that nobody waits for, and that the database may carry out late, at most. */
  readonly ghostsMax: number;
}

export interface Step {
  readonly label: string;
  readonly next: State;
  /** The invariant that it breaks. */
  readonly violation: string | undefined;
}

const SCOPE = 'platform:default';
/** Of the database: times count from it, and its 0 is long over. */
const NOW = 1;
const CHANNELS = ['control', 'transaction'] as const;

export function beginning(processes: number): State {
  return {
    phase: 0,
    row: { holder: -1, epoch: 0, expires: -1 },
    intents: [],
    requests: [],
    processes: Array.from({ length: processes }, () => standby),
  };
}

/** Everything that can come next. That a process is paused means that others move, and that time passes. */
export function stepsOf(state: State, setting: Setting): Step[] {
  return new Moment(state, setting).steps();
}

/** One state, and what can come after it. */
class Moment {
  readonly #state: State;
  readonly #setting: Setting;
  readonly #rules: LeaseRules;
  readonly #timing: Timing;
  readonly #steps: Step[] = [];

  constructor(state: State, setting: Setting) {
    this.#state = state;
    this.#setting = setting;
    this.#rules = setting.rules;
    this.#timing = setting.timing;
  }

  steps(): Step[] {
    const { processes, requests } = this.#state;
    for (const [number, self] of processes.entries()) {
      this.#database(number, self);
      this.#hears(number, self);
      this.#cut(number, self);
      if (self.lead !== undefined) this.#leads(number, self, self.lead);
      else if (self.control === undefined && self.work.at === 'none')
        this.#becomes(`p${number} asks for the lease`, number, { ...self, control: sent('take', 0) });
      if (self.work.at === 'leaving') this.#leaves(number, self, self.work.epoch);
    }
    for (const [at, { epoch }] of requests.entries()) this.#answers(at, epoch);
    if (mayPass(this.#state, this.#timing)) this.#take('a tick passes', this.#ticked());
    return this.#steps;
  }

  #take(label: string, next: State, violation?: string): void {
    const tidied = tidy(next, this.#setting);
    this.#steps.push({ label, next: tidied, violation: violation ?? senders(tidied, this.#setting) });
  }

  #becomes(label: string, number: number, next: Process, state = this.#state, violation?: string): void {
    this.#take(label, withProcess(state, number, next), violation);
  }

  /** The database carries out what was asked of it, at any time. */
  #database(number: number, self: Process): void {
    for (const channel of CHANNELS) {
      const statement = self[channel];
      if (statement?.at !== 'sent') continue;
      const { next, isTaken, epoch, violation } = this.#carriedOut(number, statement);
      const isHeard = isTaken ? statement.type !== 'release' : statement.type !== 'take';
      const answered: Statement = { ...statement, epoch, at: isTaken ? 'yes' : 'no' };
      const label = `the database carries out ${statement.type} of p${number}: ${answered.at}`;
      this.#becomes(label, number, { ...self, [channel]: isHeard ? answered : undefined }, next, violation);
    }
    for (const [at, ghost] of self.ghosts.entries()) {
      const { next, violation } = this.#carriedOut(number, ghost);
      const ghosts = self.ghosts.filter((_, other) => other !== at);
      const label = `the database carries out ${ghost.type} of p${number} late`;
      this.#becomes(label, number, { ...self, ghosts }, next, violation);
    }
  }

  #carriedOut(number: number, { type, epoch }: Pick<Statement, 'type' | 'epoch'>): CarriedOut {
    const state = this.#state;
    const leases = leasesOf(state);
    const holder = String(number);
    const claim: Claim = { scope: SCOPE, holder, epoch };
    switch (type) {
      case 'take': {
        const taken = takeLease(leases, { scope: SCOPE, holder, leaseMs: this.#timing.lease }, NOW);
        return { next: withLeases(state, taken.leases), isTaken: taken.epoch !== undefined, epoch: taken.epoch ?? 0 };
      }
      case 'renew': {
        const renewed = renewLease(leases, claim, this.#timing.lease, NOW);
        return { next: withLeases(state, renewed ?? leases), isTaken: renewed !== undefined, epoch };
      }
      case 'release':
        return { next: withLeases(state, releaseLease(leases, claim)), isTaken: true, epoch };
      default: {
        if (!this.#rules.accepts(leases, claim)) return { next: state, isTaken: false, epoch };
        const isFenced = state.row.holder !== number || state.row.epoch !== epoch;
        const violation = isFenced
          ? `fenced: p${number} wrote under epoch ${epoch}, and the lease has epoch ${state.row.epoch}`
          : undefined;
        const next = withLeases(state, renewLease(leases, claim, this.#timing.lease, NOW) ?? leases);
        // An outcome decides all that was in doubt. So does an intent: its process has resolved the others before.
        return { next: { ...next, intents: type === 'intent' ? [epoch] : [] }, isTaken: true, epoch, violation };
      }
    }
  }

  /** An answer of the database arrives. */
  #hears(number: number, self: Process): void {
    for (const channel of CHANNELS) {
      const statement = self[channel];
      if (statement === undefined || statement.at === 'sent') continue;
      const { type, at, epoch } = statement;
      const heard: Process = { ...self, [channel]: undefined };
      const label = `p${number} hears ${at} to ${type}`;
      if (type !== 'take' && self.lead?.epoch !== epoch) this.#becomes(`${label}, too late`, number, heard);
      else if (at === 'no') this.#becomes(label, number, ended(heard));
      else this.#becomes(label, number, this.#renewed(number, heard, statement));
    }
  }

  #renewed(number: number, self: Process, { type, age, epoch }: Statement): Process {
    const { row, intents } = this.#state;
    const valid = this.#rules.validUntil(
      {
        formerTicks: self.lead?.valid ?? 0,
        sentTicks: -age,
        answeredTicks: 0,
        expiresTicks: row.expires,
        wallOffsetTicks: this.#setting.wallOffsets[number] ?? 0,
      },
      this.#timing,
    );
    // Whoever takes the lease reads the intents after that.
    const isInDoubt = type === 'take' && intents.length > 0 && !this.#rules.forgetsIntents;
    const settle = self.lead?.settle ?? (isInDoubt ? this.#timing.settle : 0);
    return { ...self, lead: { epoch, settle, valid: Math.max(0, valid) }, work: afterCommit(type, self.work) };
  }

  /** Requests and answers are lost, processes wait no longer, and they die. */
  #cut(number: number, self: Process): void {
    const { ghostsMax } = this.#setting;
    const { control, transaction, ghosts, lead } = self;
    if (control !== undefined) {
      const cut = { ...self, control: undefined };
      this.#becomes(`p${number} loses its connection during ${control.type}: ${control.at}`, number, cut);
      if (control.at === 'sent' && ghosts.length < ghostsMax)
        this.#becomes(`p${number} waits for ${control.type} no more`, number, {
          ...cut,
          ghosts: ghostsOf(self, [control]),
        });
    }
    // After the loss of an answer it asks whether the transaction was recorded, and so hears it.
    if (transaction?.at === 'sent') {
      const cut: Process = { ...self, transaction: undefined, work: { at: 'none' } };
      const isOutcome = transaction.type === 'outcome' && lead !== undefined;
      const next = isOutcome ? { ...cut, lead: { ...lead, settle: this.#timing.settle } } : cut;
      this.#becomes(`p${number} could not record ${transaction.type}`, number, next);
    }
    const left = [control, transaction].filter((statement) => statement?.at === 'sent') as Statement[];
    this.#becomes(`p${number} dies`, number, standby);
    if (left.length > 0 && ghosts.length + left.length <= ghostsMax)
      this.#becomes(`p${number} dies, its statements on the way`, number, { ...standby, ghosts: ghostsOf(self, left) });
  }

  #leads(number: number, self: Process, lead: Lead): void {
    const { control, transaction, work } = self;
    const { epoch } = lead;
    if (control === undefined) this.#becomes(`p${number} renews`, number, { ...self, control: sent('renew', epoch) });
    const isDrained = work.at === 'none' && transaction === undefined;
    if (isDrained && lead.settle === 0) {
      const begun: Process = { ...self, work: { at: 'intent', left: this.#timing.sendWithin } };
      this.#becomes(`p${number} records an intent`, number, { ...begun, transaction: sent('intent', epoch) });
    }
    if (work.at === 'recorded') {
      const isInTime = work.left > 0 && this.#rules.lastSend(lead.valid, this.#timing) > 0;
      const closing: Process = { ...self, work: { at: 'outcome' }, transaction: sent('outcome', epoch) };
      if (isInTime) this.#becomes(`p${number} may send`, number, { ...self, work: { at: 'leaving', epoch, ticks: 0 } });
      else this.#becomes(`p${number} is too late to send`, number, closing);
    }
    if (control === undefined && (isDrained || this.#rules.releasesInFlight)) {
      const isLeft = this.#state.requests.some((request) => request.epoch === epoch) && work.at === 'sent';
      const violation = isLeft ? `handed over: a request of p${number} was in flight` : undefined;
      const next = { ...ended(self), control: sent('release', epoch) };
      this.#becomes(`p${number} releases the lease`, number, next, this.#state, violation);
    }
  }

  /** The first byte leaves. */
  #leaves(number: number, self: Process, epoch: number): void {
    const { row, intents, requests } = this.#state;
    let violation: string | undefined;
    if (row.holder !== number || row.epoch !== epoch)
      violation = `one sender: p${number} sends under epoch ${epoch}, and the lease is p${row.holder}'s under epoch ${row.epoch}`;
    else if (!intents.includes(epoch)) violation = `seen: p${number} sends under epoch ${epoch} without an open intent`;
    else if (requests.length > 0) violation = `one request: p${number} sends while another request may act`;
    const isOver = self.lead?.epoch !== epoch;
    const next = { ...this.#state, requests: [...requests, { epoch, age: 0 }] };
    this.#becomes(`p${number} sends`, number, { ...self, work: { at: isOver ? 'none' : 'sent' } }, next, violation);
  }

  /** The platform has acted, or will not; its answer arrives or is lost. */
  #answers(at: number, epoch: number): void {
    const { processes } = this.#state;
    const done = { ...this.#state, requests: this.#state.requests.filter((_, other) => other !== at) };
    const number = processes.findIndex(({ lead, work }) => work.at === 'sent' && lead?.epoch === epoch);
    const self = processes[number];
    if (self?.lead === undefined) return this.#take(`the platform finishes a request of epoch ${epoch}`, done);
    const answered: Process = { ...self, work: { at: 'outcome' }, transaction: sent('outcome', epoch) };
    this.#becomes(`the platform answers p${number}`, number, answered, done);
    const inDoubt: Process = { ...self, work: { at: 'none' }, lead: { ...self.lead, settle: this.#timing.settle } };
    this.#becomes(`the platform's answer to p${number} is lost`, number, inDoubt, done);
  }

  #ticked(): State {
    const { phase, row, requests, processes } = this.#state;
    const { rates } = this.#setting;
    return {
      ...this.#state,
      phase: rates.every((rate) => rate === 'even') ? 0 : (phase + 1) % PERIOD,
      row: { ...row, expires: row.expires < 0 ? row.expires : Math.max(0, row.expires - 1) },
      requests: requests.map(({ epoch, age }) => ({ epoch, age: age + 1 })),
      processes: processes.map((self, number) => aged(self, pace(rates[number], phase))),
    };
  }
}

type Lead = NonNullable<Process['lead']>;

interface CarriedOut {
  readonly next: State;
  readonly isTaken: boolean;
  readonly epoch: number;
  readonly violation?: string | undefined;
}

/** Whoever may still send has the lease, by the clock of the database. */
function senders({ row, processes }: State, { rules, timing }: Setting): string | undefined {
  for (const [number, { lead }] of processes.entries()) {
    if (lead === undefined || rules.lastSend(lead.valid, timing) <= 0) continue;
    if (row.holder !== number || row.epoch !== lead.epoch || row.expires <= 0)
      return `one sender: p${number} may send under epoch ${lead.epoch}, and the lease is p${row.holder}'s under epoch ${row.epoch}`;
  }
  return undefined;
}

/** The process knows that it does not lead any more: only what it has checked already leaves. */
function ended(self: Process): Process {
  return { ...self, lead: undefined, work: self.work.at === 'leaving' ? self.work : { at: 'none' } };
}

function afterCommit(type: Statement['type'], work: Process['work']): Process['work'] {
  if (type === 'intent' && work.at === 'intent') return { at: 'recorded', left: work.left };
  return type === 'outcome' ? { at: 'none' } : work;
}

function ghostsOf({ ghosts }: Process, more: readonly Statement[]): Process['ghosts'] {
  const order = ({ type, epoch }: Pick<Statement, 'type' | 'epoch'>): string => `${type} ${epoch}`;
  const all = [...ghosts, ...more.map(({ type, epoch }) => ({ type, epoch }))];
  return all.sort((left, right) => (order(left) < order(right) ? -1 : 1));
}

/** Assumptions about time: what was checked leaves soon, and the platform is done with a request soon. */
function mayPass({ requests, processes }: State, timing: Timing): boolean {
  return (
    requests.every(({ age }) => age < timing.platform) &&
    processes.every(({ work }) => work.at !== 'leaving' || work.ticks < timing.leave)
  );
}

function pace(rate: Rate | undefined, phase: number): number {
  if (phase !== 0 || rate === 'even') return 1;
  return rate === 'slow' ? 0 : 2;
}

function aged(self: Process, ticks: number): Process {
  const { lead, work, control, transaction } = self;
  const down = (left: number): number => Math.max(0, left - ticks);
  const older = (statement: Statement | undefined): Statement | undefined =>
    statement && { ...statement, age: statement.age + ticks };
  let next = work;
  if (work.at === 'leaving') next = { ...work, ticks: work.ticks + 1 };
  else if (work.at === 'intent' || work.at === 'recorded') next = { ...work, left: down(work.left) };
  return {
    ...self,
    lead: lead && { ...lead, valid: down(lead.valid), settle: down(lead.settle) },
    work: next,
    control: older(control),
    transaction: older(transaction),
  };
}

/** Forgets what makes no difference any more, each as `reductions` says. */
function tidy(state: State, { rules, timing }: Setting): State {
  const leases = leasesOf(state);
  const processes = state.processes.map((self, number) => {
    const { lead, ghosts, control, transaction } = self;
    const valid = lead === undefined || rules.lastSend(lead.valid, timing) <= 0 ? 0 : lead.valid;
    const mayDo = ({ type, epoch }: Pick<Statement, 'type' | 'epoch'>): boolean =>
      type === 'take' || rules.accepts(leases, { scope: SCOPE, holder: String(number), epoch });
    const still = (statement: Statement | undefined): Statement | undefined => {
      if (statement === undefined) return undefined;
      const { type, at, age } = statement;
      const until = rules.validUntil(
        { formerTicks: 0, sentTicks: -age, answeredTicks: 0, expiresTicks: 99, wallOffsetTicks: 0 },
        timing,
      );
      const isLate =
        at === 'no' || type === 'release' || rules.lastSend(until, timing) <= 0 || (until <= valid && at === 'yes');
      return isLate ? { ...statement, age: timing.lease } : statement;
    };
    return {
      ...self,
      lead: lead && { ...lead, valid },
      ghosts: ghosts.some((ghost) => !mayDo(ghost)) ? ghosts.filter(mayDo) : ghosts,
      control: still(control),
      transaction: still(transaction),
    };
  });
  return { ...state, processes };
}

function leasesOf({ row: { holder, epoch, expires } }: State): Leases {
  return { epoch, rows: new Map([[SCOPE, { holder: String(holder), epoch, sinceMs: 0, expiresMs: NOW + expires }]]) };
}

function withLeases(state: State, { rows }: Leases): State {
  const row = rows.get(SCOPE);
  if (row === undefined) return state;
  return { ...state, row: { holder: Number(row.holder), epoch: row.epoch, expires: row.expiresMs - NOW } };
}

function sent(type: Statement['type'], epoch: number): Statement {
  return { type, epoch, age: 0, at: 'sent' };
}

function withProcess(state: State, number: number, next: Process): State {
  return { ...state, processes: state.processes.map((self, at) => (at === number ? next : self)) };
}
