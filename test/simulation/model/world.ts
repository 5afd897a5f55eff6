import { Command } from '../drivers/command.ts';
import { Daemon, idOf } from '../drivers/daemon.ts';
import type { Sender } from '../drivers/surroundings.ts';
import { PortolanError } from '../../../src/model/errors.ts';
import { whenDrained } from './agenda.ts';
import { ModelGround } from './ground.ts';
import { isIndependent } from './independence.ts';
import type { Offer } from './offers.ts';
import type { Role } from './scenario.ts';

/** One thing that may happen next. */
export interface Choice {
  readonly label: string;
  readonly run: () => void;
  /** Everybody is dead then, or can do no more, and this one begins. */
  readonly begins?: Role;
  /** What was under way is overtaken by whoever begins; else its process died, which is a fault. */
  readonly overtakes?: boolean;
}

/** Nothing is written for so long once all is at rest: longer than any settle window, and than two looks at drift. */
const QUIET_MS = 7 * 60_000;
/** Nothing that is due may come later than this. */
const REST_WITHIN_MS = 2 * 3_600_000;

/** Two controllers that take turns or overtake one another; every step is chosen. */
export class ModelWorld extends ModelGround {
  #ledgerText = '';
  /** The command during which git was last asked to move. */
  #hasMissed: Command | undefined;
  /** It is worth asking whether this moment was seen before. */
  #isNew = false;

  /**
   * Everything from here on is what `pick` chooses.
   * @param isSeen asked where something has moved and only one thing can come next: whether all that follows is known.
   * @returns false: it broke off.
   */
  async play(
    first: Role,
    pick: (choices: readonly Choice[]) => Choice | undefined,
    isSeen: () => boolean = () => false,
  ): Promise<boolean> {
    this.start(first);
    for (;;) {
      await whenDrained();
      if (this.violation !== undefined) return true;
      if (this.timeline.isDue) {
        this.timeline.runNext();
        continue;
      }
      const choices = this.#choices();
      if (this.#isNew && choices.length < 2 && isSeen()) return false;
      if (choices.length === 0) {
        if (this.#isOver()) return true;
        const beforeMs = this.timeline.nowMs;
        if (!this.timeline.runNext()) this.violate('BUG', 'everybody waits for something that never comes');
        this.hasTimePassed ||= this.timeline.nowMs > beforeMs;
        continue;
      }
      const chosen = choices.length === 1 ? choices[0] : pick(choices);
      if (chosen === undefined) return false;
      this.note(`-- ${chosen.label}`);
      chosen.run();
    }
  }

  #choices(): Choice[] {
    const holder = this.holder;
    for (const process of this.processes) {
      if (process === holder || !process.alive) continue;
      const last = this.offers.of(process)[0];
      if (last !== undefined) return [this.#asChoice(last)];
    }
    const next = holder === undefined ? undefined : this.offers.of(holder)[0];
    if (this.mayHaveMoved) {
      this.mayHaveMoved = false;
      const text = this.state.ledger();
      this.isMoved ||= text !== this.#ledgerText;
      this.#ledgerText = text;
    }
    if (next !== undefined && this.hasTimePassed) {
      this.hasTimePassed = false;
      this.isMoved ||= this.isWaiting;
    }
    const choices: Choice[] = [];
    if (next !== undefined) choices.push(...this.#outcomes(next));
    if (next !== undefined && this.#meets(next))
      for (const late of this.offers.late) choices.push({ label: `late ${late.label}`, run: () => this.arrives(late) });
    this.#isNew = false;
    if (this.isMoved) {
      const ambient = this.#ambient(holder);
      if (ambient.length > 0 && choices.length === 0) choices.push({ label: 'time passes', run: () => {} });
      for (const choice of choices.splice(0))
        choices.push({ ...choice, run: () => ((this.isMoved = false), choice.run()) });
      choices.push(...ambient);
      if (choices.length === 0) this.isMoved = false;
      this.#isNew = true;
    }
    return choices;
  }

  /** Whether a write of others makes a difference to what comes next. A request that leaves is only met where it acts. */
  #meets({ kind, request }: Offer): boolean {
    if (request === undefined || kind === 'send') return false;
    const writes = this.offers.late.map(({ sent }) => sent.request);
    return !isIndependent(this.server, this.timeline.nowMs, request, writes);
  }

  /** What may happen beside what is under way. */
  #ambient(holder: Sender | undefined): Choice[] {
    const [first, second] = this.pair;
    const roles = first === second ? [first] : [first, second];
    const choices: Choice[] = [];
    if (holder !== undefined && this.faultsLeft > 0)
      for (const role of roles)
        choices.push({
          label: `p${holder.number} dies, ${role} begins`,
          run: () => this.#dies(holder, role),
          begins: role,
        });
    if (holder !== undefined && !this.hasOvertaken)
      for (const role of roles.slice(-1)) choices.push(...this.#overtakings(holder, role));
    // A command reads git once, when it begins: whenever git moves while it works, it is as if at the first moment of that.
    const hears = !(holder instanceof Command) || holder !== this.#hasMissed;
    if (holder instanceof Command) this.#hasMissed = holder;
    if (this.commitsLeft > 0 && hears) choices.push({ label: 'git moves', run: () => this.#gitMoves() });
    if (this.approvalsLeft > 0 && holder instanceof Daemon && this.#offered(holder) !== undefined)
      choices.push({ label: 'a person approves', run: () => this.#approves(holder) });
    return choices;
  }

  #offered(daemon: Daemon): string | undefined {
    const digest = daemon.api?.application(idOf('one'))?.approval?.digest;
    return digest === undefined || this.approved.get('one') === digest ? undefined : digest;
  }

  #asChoice({ label, run }: Offer): Choice {
    return { label, run };
  }

  /** How a step may end: as it should, or with its answer lost. */
  #outcomes(offer: Offer): Choice[] {
    const choices = [this.#asChoice(offer)];
    if (this.faultsLeft === 0) return choices;
    for (const { label, run } of offer.losses)
      choices.push({ label: `${offer.label}, ${label}`, run: () => ((this.faultsLeft -= 1), run()) });
    return choices;
  }

  /**
   * A controller is overtaken with a write under way. The write acts at any time, as that of a dead one does. The controller
   * itself can do no more: each further send needs a commit first, which the ledger refuses. That is seen by letting it live
   * until it is at its end, which it comes to at once.
   */
  #overtakings(process: Sender, role: Role): Choice[] {
    const [offer] = this.offers.of(process);
    if (offer?.kind !== 'send' && offer?.kind !== 'act') return [];
    const label = `${role} overtakes p${process.number}`;
    const begin = (): void => {
      this.hasOvertaken = true;
      this.moves();
      this.start(role);
    };
    const late: Choice = {
      label,
      run: () => (this.#kill(process), (this.isMoved = false), begin()),
      begins: role,
      overtakes: true,
    };
    return [{ label: `${label}, which lives on`, run: begin }, ...(offer.kind === 'act' ? [late] : [])];
  }

  #dies(process: Sender, successor: Role): void {
    this.faultsLeft -= 1;
    this.#kill(process);
    this.isMoved = false;
    this.movedMs = this.timeline.nowMs;
    this.start(successor);
  }

  #kill(process: Sender): void {
    process.kill();
    for (const offer of this.offers.of(process)) {
      this.offers.take(offer);
      if (offer.sent !== undefined && offer.kind === 'act') this.comesLate(offer.sent);
    }
  }

  #gitMoves(): void {
    const content = this.scenario.commits.at(-this.commitsLeft);
    if (content === undefined) throw new Error('git has nothing more to say');
    this.commitsLeft -= 1;
    this.#hasMissed = undefined;
    this.git.commit(content);
    this.moves();
    for (const process of this.processes) {
      this.state.hears(process, 'git');
      if (process instanceof Daemon) void process.api?.pokeSource('a person');
    }
  }

  #approves(daemon: Daemon): void {
    this.approvalsLeft -= 1;
    this.moves();
    this.state.hears(daemon, 'approval');
    daemon.approve(0, false).catch((error: unknown) => {
      if (!(error instanceof PortolanError)) this.violate('BUG', String(error));
    });
  }

  /** All is at rest for long. What is not as git says then must have been reported. */
  #isOver(): boolean {
    const { nowMs } = this.timeline;
    const isIdle = nowMs - this.movedMs > QUIET_MS;
    const holder = this.holder;
    const faults = this.differences();
    const last = this.processes.at(-1);
    const isHeld =
      holder instanceof Daemon ? this.#isReported(holder) : last instanceof Command && (last.exitCode ?? 0) > 0;
    if (isIdle && this.commitsLeft > 0) {
      this.#gitMoves();
      return false;
    }
    if (isIdle && (faults.length === 0 || isHeld)) return true;
    if (nowMs - this.movedMs < REST_WITHIN_MS) return false;
    this.violate('L-CONV', faults.length > 0 ? faults.join('; ') : 'it never comes to rest');
    return true;
  }

  #isReported(daemon: Daemon): boolean {
    const status = daemon.api?.application(idOf('one'));
    return status?.approval != null || status?.conditions.some(({ reason }) => reason === 'Held') === true;
  }
}
