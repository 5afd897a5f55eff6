import type { Chance } from '../chance.ts';
import { readFaults, writeFaults } from '../faults.ts';
import { type Effect, faultsFor, kindOf } from '../perturbations.ts';
import { type EditName, editNames } from './estate.ts';

/** What an operator does through the API of a daemon. */
const humans = ['approve', 'approve-late', 'suspend', 'resume', 'sync', 'reload', 'poke'] as const;
export type HumanAct = (typeof humans)[number];

/** An hour's worth of windows and ages, and what a machine without a battery, or with a mistyped year, makes of it. */
const JUMPS_MS = [-400 * 86_400_000, -11 * 60_000, 11 * 60_000, 3_600_000, 40 * 365 * 86_400_000] as const;

const strangers = ['edit-port', 'delete-rule', 'edit-rule', 'maintenance', 'region-back', 'token-expires'] as const;
export type Stranger = (typeof strangers)[number];

/** One thing that happens, or goes wrong, at one step. `a` seeds whatever it still has to choose. */
export type DriverPerturbation =
  | {
      readonly type: 'crash';
      readonly when: 'before' | 'during' | 'after';
      readonly downMs: number;
      readonly a: number;
    }
  | { readonly type: 'write' | 'read'; readonly fault: string; readonly a: number }
  | { readonly type: 'full'; readonly commits: number }
  | { readonly type: 'takeover' }
  | { readonly type: 'stop'; readonly downMs: number }
  /** Of the wall clock alone: time goes on as it did. */
  | { readonly type: 'clock'; readonly jumpMs: number }
  | { readonly type: 'git'; readonly edit: EditName; readonly a: number }
  | { readonly type: 'rewind' }
  | { readonly type: 'source'; readonly awayMs: number }
  | { readonly type: 'human'; readonly act: HumanAct; readonly a: number }
  | { readonly type: 'stranger'; readonly act: Stranger; readonly a: number }
  | ReplicaPerturbation;

/** What befalls one of several controllers, or the database that they share. */
export type ReplicaPerturbation =
  /** The process does nothing, and hears nothing until then. */
  | { readonly type: 'freeze'; readonly ms: number }
  /** Its requests to the database, the answers to them, its requests to the platform, or those to git are lost. */
  | { readonly type: 'cut'; readonly link: 'requests' | 'answers' | 'platform' | 'git'; readonly ms: number }
  /** The database is out of reach for all. */
  | { readonly type: 'outage'; readonly ms: number };

export type DriverScript = readonly (readonly [step: number, perturbation: DriverPerturbation])[];

export interface DriverPlan {
  at(step: number, effect: Effect): DriverPerturbation | undefined;
}

export const nothingHappens: DriverPlan = { at: () => undefined };

/** The steps of a script and no others: a replay. */
export function scriptedDrivers(script: DriverScript): DriverPlan {
  const byStep = new Map(script);
  return {
    at(step, effect) {
      const found = byStep.get(step);
      if (found === undefined) return undefined;
      const fits = found.type !== 'read' && found.type !== 'write' ? true : found.type === effect.kind;
      return fits && (found.type !== 'full' || effect.kind === 'commit') ? found : undefined;
    },
  };
}

/** How often each of several controllers hangs, is cut off, joins or leaves, and the database is out of reach. */
export type ReplicaRates = Readonly<Record<'freeze' | 'cut' | 'outage' | 'join' | 'leave', number>>;

/** How often what happens: each schedule has its own mix, so that rare things meet each other somewhere. */
export interface DriverSwarm {
  readonly steps: number;
  readonly rates: Readonly<
    Record<
      | 'crash'
      | 'write'
      | 'read'
      | 'full'
      | 'takeover'
      | 'stop'
      | 'git'
      | 'rewind'
      | 'source'
      | 'human'
      | 'stranger'
      | 'clock',
      number
    >
  >;
  readonly faults: ReadonlySet<string>;
  readonly edits: readonly EditName[];
  readonly humans: readonly HumanAct[];
  readonly strangers: readonly Stranger[];
  /** Where there are several controllers. */
  readonly replicas?: ReplicaRates;
  /** How much longer or shorter everything is that lasts; 1 by default. */
  readonly pace?: number;
}

export function anyDriverSwarm(chance: Chance): DriverSwarm {
  const rate = (...choices: readonly number[]): number => chance.pick(choices);
  const share = chance.pick([0.3, 0.6, 1]);
  const some = <T>(from: readonly T[]): T[] => from.filter(() => chance.happens(share));
  return {
    steps: chance.pick([80, 150, 300]),
    rates: {
      crash: rate(0, 0, 0.005, 0.02),
      write: rate(0, 0.1, 0.3),
      read: rate(0, 0, 0.01, 0.03),
      full: rate(0, 0, 0, 0.02),
      takeover: rate(0, 0, 0, 0.01),
      stop: rate(0, 0, 0.01),
      git: rate(0.02, 0.05, 0.1),
      rewind: rate(0, 0, 0.01),
      source: rate(0, 0, 0.01),
      human: rate(0, 0.03, 0.1),
      stranger: rate(0, 0, 0.02),
      clock: rate(0, 0, 0.01),
    },
    faults: new Set(some([...writeFaults, ...readFaults]).map(({ name }) => name)),
    edits: [...some(editNames), 'removeRule'],
    humans: some(humans),
    strangers: some(strangers),
  };
}

/** Draws from a swarm, and keeps what it drew: the script that replays it. */
export class RandomDriverPlan implements DriverPlan {
  readonly script: (readonly [number, DriverPerturbation])[] = [];
  readonly #chance: Chance;
  readonly #swarm: DriverSwarm;

  constructor(chance: Chance, swarm: DriverSwarm) {
    this.#chance = chance;
    this.#swarm = swarm;
  }

  at(step: number, effect: Effect): DriverPerturbation | undefined {
    if (step > this.#swarm.steps) return undefined;
    const drawn = this.#drawReplica() ?? this.#draw(effect);
    if (drawn !== undefined) this.script.push([step, drawn]);
    return drawn;
  }

  #drawReplica(): DriverPerturbation | undefined {
    const { replicas: rates } = this.#swarm;
    if (rates === undefined) return undefined;
    const chance = this.#chance;
    // Shorter and longer than a lease of 15 s, and twice as long.
    const ms = this.#lasting(chance.pick([3_000, 12_000, 16_000, 30_000, 45_000]));
    if (chance.happens(rates.freeze)) return { type: 'freeze', ms };
    if (chance.happens(rates.cut))
      return { type: 'cut', link: chance.pick(['requests', 'answers', 'platform', 'git']), ms };
    if (chance.happens(rates.outage)) return { type: 'outage', ms };
    if (chance.happens(rates.join)) return { type: 'takeover' };
    return chance.happens(rates.leave)
      ? { type: 'stop', downMs: this.#lasting(chance.pick([0, 1_000, 30_000])) }
      : undefined;
  }

  #lasting(ms: number): number {
    return ms * (this.#swarm.pace ?? 1);
  }

  #draw(effect: Effect): DriverPerturbation | undefined {
    const chance = this.#chance;
    const { rates, edits, humans: acts, strangers: others } = this.#swarm;
    const downMs = (): number => this.#lasting(chance.pick([0, 1_000, 60_000, 700_000]));
    const a = chance.int(0x7fffffff);
    if (chance.happens(rates.crash))
      return { type: 'crash', when: chance.pick(['before', 'during', 'after']), downMs: downMs(), a };
    if (chance.happens(rates.stop)) return { type: 'stop', downMs: downMs() };
    if (chance.happens(rates.takeover)) return { type: 'takeover' };
    if (edits.length > 0 && chance.happens(rates.git)) return { type: 'git', edit: chance.pick(edits), a };
    if (chance.happens(rates.rewind)) return { type: 'rewind' };
    if (chance.happens(rates.clock)) return { type: 'clock', jumpMs: chance.pick(JUMPS_MS) };
    if (chance.happens(rates.source))
      return { type: 'source', awayMs: this.#lasting(chance.pick([1_000, 60_000, 900_000])) };
    if (acts.length > 0 && chance.happens(rates.human)) return { type: 'human', act: chance.pick(acts), a };
    if (others.length > 0 && chance.happens(rates.stranger)) return { type: 'stranger', act: chance.pick(others), a };
    if (effect.kind === 'commit')
      return chance.happens(rates.full) ? { type: 'full', commits: chance.between(1, 4) } : undefined;
    if (effect.kind !== 'read' && effect.kind !== 'write') return undefined;
    if (!chance.happens(rates[effect.kind])) return undefined;
    const enabled = faultsFor(effect).filter((name) => this.#swarm.faults.has(name));
    return enabled.length === 0 ? undefined : { type: effect.kind, fault: chance.pick(enabled), a };
  }
}

/** The name under which it is counted. */
export function driverKindOf(perturbation: DriverPerturbation): string {
  switch (perturbation.type) {
    case 'human':
      return `human-${perturbation.act}`;
    case 'stranger':
      return `actor-${perturbation.act}`;
    case 'cut':
      return `cut-${perturbation.link}`;
    case 'rewind':
    case 'source':
    case 'freeze':
    case 'outage':
      return perturbation.type;
    default:
      return kindOf(perturbation);
  }
}

export function driverInWords(perturbation: DriverPerturbation): string {
  return JSON.stringify(perturbation);
}
