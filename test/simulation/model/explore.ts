import { hash } from 'node:crypto';
import type { Violation } from '../books.ts';
import { pastOf } from './past.ts';
import type { Role, Scenario } from './scenario.ts';
import type { Beginning } from './beginning.ts';
import { type Choice, ModelWorld } from './world.ts';

export interface Exploration {
  readonly scenario: Scenario;
  readonly pair: readonly [Role, Role];
  /** Crashes and lost answers in one history. */
  readonly faults: number;
}

export interface ExplorationReport {
  readonly executions: number;
  /** Executions that went on until all was at rest; the others met a moment that was seen before, or a crash. */
  readonly whole: number;
  /** Commits and effects on the platform. */
  readonly steps: number;
  /** Distinct moments: ledger, platform, what each process has heard, and what is under way. */
  readonly moments: number;
  /** Distinct contents of ledger and platform. */
  readonly states: number;
  /** Contents of both in which a controller began alone. */
  readonly beginnings: number;
  readonly violation: Violation | undefined;
  /** Choices that lead to it. */
  readonly path: readonly string[];
  readonly seconds: number;
}

/** Of one execution: what could come next, and what did. */
interface Turn {
  readonly labels: readonly string[];
  at: number;
}

/** Where executions begin: at first, and where everybody is dead. */
interface Start {
  readonly from: Beginning | undefined;
  readonly role: Role;
  readonly faults: number;
  readonly path: readonly string[];
}

interface Found {
  readonly violation: Violation;
  readonly path: readonly string[];
}

/** Every order of steps: from each beginning depth first, each execution with the choices of the one before but the last. */
export async function explore(exploration: Exploration): Promise<ExplorationReport> {
  return new Explorer(exploration).run(await pastOf(exploration.scenario));
}

class Explorer {
  readonly #exploration: Exploration;
  /** Moments, each with the most faults that were left in it. */
  readonly #seen = new Map<string, number>();
  readonly #states = new Set<string>();
  /** By the faults that are left. */
  readonly #starts: readonly Start[][];
  #executions = 0;
  #whole = 0;
  #steps = 0;
  #beginnings = 0;

  constructor(exploration: Exploration) {
    this.#exploration = exploration;
    this.#starts = Array.from({ length: exploration.faults + 1 }, () => []);
  }

  async run(past: Beginning | undefined): Promise<ExplorationReport> {
    const startedMs = performance.now();
    const { pair, faults } = this.#exploration;
    this.#starts[faults]?.push({ from: past, role: pair[0], faults, path: [] });
    let found: Found | undefined;
    for (let start = this.#next(); start !== undefined && found === undefined; start = this.#next())
      found = await this.#from(start);
    return {
      executions: this.#executions,
      whole: this.#whole,
      steps: this.#steps,
      moments: this.#seen.size,
      states: this.#states.size,
      beginnings: this.#beginnings,
      violation: found?.violation,
      path: found?.path ?? [],
      seconds: (performance.now() - startedMs) / 1000,
    };
  }

  /** Those with more faults left come first: what they have seen need not be seen again. Others of a kind come last in, first out. */
  #next(): Start | undefined {
    return this.#starts.findLast((starts) => starts.length > 0)?.pop();
  }

  async #from(start: Start): Promise<Found | undefined> {
    this.#beginnings += 1;
    const turns: Turn[] = [];
    for (;;) {
      const world = await this.#execute(start, turns);
      const path = (): string[] => [...start.path, ...turns.map(({ labels, at }) => labels[at] ?? '')];
      if (world.violation !== undefined) return { violation: world.violation, path: path() };
      let last = turns.at(-1);
      for (; last !== undefined && last.at + 1 >= last.labels.length; last = turns.at(-1)) turns.pop();
      if (last === undefined) return undefined;
      last.at += 1;
    }
  }

  /** Whether everything that can follow was seen, with as many faults to come at least. */
  #isSeen(key: string, faultsLeft: number): boolean {
    if ((this.#seen.get(key) ?? -1) >= faultsLeft) return true;
    this.#seen.set(key, faultsLeft);
    return false;
  }

  /** Where everybody is dead another execution begins; what is left can come next in this one. */
  #split(world: ModelWorld, choices: readonly Choice[], path: readonly string[]): Turn {
    for (const { label, begins: role, overtakes = false } of choices) {
      const faults = world.faultsLeft - (overtakes ? 0 : 1);
      if (role !== undefined && !this.#isSeen(world.keyAsDead(role, overtakes), faults))
        this.#starts[faults]?.push({ from: world.beginning(overtakes), role, faults, path: [...path, label] });
    }
    return { labels: choices.filter(({ begins }) => begins === undefined).map(({ label }) => label), at: 0 };
  }

  async #execute({ from, role, faults, path }: Start, turns: Turn[]): Promise<ModelWorld> {
    const { scenario, pair } = this.#exploration;
    const world = new ModelWorld({ scenario, pair, faults, from, tracing: false });
    const repeated = turns.length;
    let depth = 0;
    const isNew = (): boolean => depth >= repeated;
    world.onState = () => {
      this.#steps += 1;
      if (isNew()) this.#states.add(hash('sha1', `${world.state.ledger()}\n${world.state.platform()}`));
    };
    const isWhole = await world.play(
      role,
      (choices) => {
        const turn = turns[depth];
        depth += 1;
        if (turn !== undefined) {
          const wanted = turn.labels[turn.at];
          const found = choices.find(({ label }) => label === wanted);
          if (found === undefined) throw new Error(`a repetition differs: there is no ${wanted}`);
          return found;
        }
        if (this.#isSeen(world.key(), world.faultsLeft)) return undefined;
        const so = [...path, ...turns.map(({ labels, at }) => labels[at] ?? '')];
        const next = this.#split(world, choices, so);
        turns.push(next);
        return choices.find(({ label }) => label === next.labels[0]);
      },
      () => isNew() && this.#isSeen(world.key(), world.faultsLeft),
    );
    world.end();
    this.#executions += 1;
    if (isWhole) this.#whole += 1;
    return world;
  }
}

/** One history with its trace, from the first beginning. */
export async function retrace(
  { scenario, pair, faults }: Exploration,
  path: readonly string[],
): Promise<readonly string[]> {
  const world = new ModelWorld({ scenario, pair, faults, from: await pastOf(scenario), tracing: true });
  let depth = 0;
  await world.play(pair[0], (choices) => {
    const label = path[depth];
    depth += 1;
    return label === undefined ? choices[0] : choices.find((choice) => choice.label === label);
  });
  world.end();
  return world.trace;
}
