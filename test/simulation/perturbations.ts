import { everyWrite } from '../platform/every-write.ts';
import type { WriteClass } from '../../src/model/owned.ts';
import { type ActorName, actorNames, rareActors } from './actors.ts';
import type { Chance } from './chance.ts';
import { readFaults, writeFaults } from './faults.ts';
import { type EditName, editNames, rareEdits } from './shop.ts';

/** One thing that a controller does to the world outside: the points at which it can die, and be lied to. */
export type EffectKind =
  | 'read'
  | 'write'
  | 'commit'
  | 'sleep'
  /** A step in which a process rests, in place of one of a pass that would only find what the last one found. */
  | 'rest';

export interface Effect {
  readonly kind: EffectKind;
  /** Of a read or write: its name in the table of operations. */
  readonly operation: string;
}

/** One thing that goes otherwise than well, at one step. `a` seeds whatever it still has to choose. */
export type Perturbation =
  /** `during`: a write has left, and acts when nobody waits for its answer any more. */
  | {
      readonly type: 'crash';
      readonly when: 'before' | 'during' | 'after';
      readonly downMs: number;
      readonly a: number;
      readonly reboots: boolean;
    }
  | { readonly type: 'write'; readonly fault: string; readonly a: number }
  | { readonly type: 'read'; readonly fault: string; readonly a: number }
  /** This commit and the next ones find the disk full. */
  | { readonly type: 'full'; readonly commits: number }
  /** The process does not run for a while, after this commit. */
  | { readonly type: 'pause'; readonly ms: number; readonly suspension?: Suspension }
  /** Another process opens the ledger while this one lives. */
  | { readonly type: 'takeover' }
  | { readonly type: 'actor'; readonly actor: ActorName; readonly a: number }
  | { readonly type: 'git'; readonly edit: EditName; readonly a: number }
  /** The wall clock jumps; monotonic time does not. */
  | { readonly type: 'clock'; readonly jumpMs: number }
  /** SIGTERM: what is in flight is finished, nothing new is begun. */
  | { readonly type: 'stop'; readonly downMs: number };

/** Of the whole machine: its monotonic clock stands still, and its wall clock may be wrong when it wakes up. */
export interface Suspension {
  readonly jumpMs: number;
}

export type Script = readonly (readonly [step: number, perturbation: Perturbation])[];

/** What goes wrong, step by step. */
export interface Plan {
  at(step: number, effect: Effect): Perturbation | undefined;
}

/** The steps of a script and no others: a replay. What does not fit the effect it meets is left out. */
export function scripted(script: Script): Plan {
  const byStep = new Map(script);
  return {
    at: (step, effect) => {
      const found = byStep.get(step);
      return found !== undefined && fits(found, effect) ? found : undefined;
    },
  };
}

function fits(perturbation: Perturbation, effect: Effect): boolean {
  switch (perturbation.type) {
    case 'read':
    case 'write':
      return effect.kind === perturbation.type && faultsFor(effect).includes(perturbation.fault);
    case 'full':
    case 'pause':
      return effect.kind === 'commit';
    default:
      return true;
  }
}

const LISTINGS = new Set(['listRegions', 'listPorts', 'listRules', 'listAllRules', 'listComponents', 'listInstalled']);
const byOperation = new Map<string, readonly string[]>();

/** Names of the faults that can befall an effect. */
export function faultsFor({ kind, operation }: Effect): readonly string[] {
  const known = byOperation.get(operation);
  if (known !== undefined) return known;
  const names =
    kind === 'read'
      ? readFaults
          .filter((fault) => fault.lists !== true || LISTINGS.has(operation))
          .filter((fault) => fault.operations?.includes(operation) ?? true)
          .map((fault) => fault.name)
      : writeFaults
          .filter((fault) => fault.operations?.includes(operation) ?? true)
          .filter((fault) => fault.classes?.includes(classOf(operation)) ?? true)
          .map((fault) => fault.name);
  byOperation.set(operation, names);
  return names;
}

export function classOf(operation: string): WriteClass {
  const found = everyWrite.find((write) => write.operation === operation);
  if (found === undefined) throw new Error(`${operation} is not a write`);
  return found.declared.class;
}

const PAUSES: readonly Omit<Extract<Perturbation, { type: 'pause' }>, 'type'>[] = [
  ...[500, 1_999, 2_000, 30_000].map((ms) => ({ ms })),
  ...[0, -600_000, 600_000].map((jumpMs) => ({ ms: 30_000, suspension: { jumpMs } })),
  { ms: 1_999, suspension: { jumpMs: -600_000 } },
];

/** How often what goes wrong: each schedule has its own mix, so that rare things meet each other somewhere. */
export interface Swarm {
  readonly steps: number;
  readonly rates: Readonly<
    Record<'crash' | 'fault' | 'full' | 'pause' | 'takeover' | 'actor' | 'git' | 'clock' | 'stop', number>
  >;
  readonly readRate: number;
  readonly faults: ReadonlySet<string>;
  readonly actors: readonly ActorName[];
  readonly edits: readonly EditName[];
}

export function anySwarm(chance: Chance): Swarm {
  const rate = (...choices: readonly number[]): number => chance.pick(choices);
  const share = chance.pick([0.15, 0.5, 1]);
  const some = <T>(from: readonly T[]): T[] => from.filter(() => chance.happens(share));
  return {
    steps: chance.pick([12, 25, 40, 60, 90]),
    rates: {
      crash: rate(0, 0.01, 0.01, 0.03, 0.1),
      fault: rate(0, 0.15, 0.35, 0.6),
      full: rate(0, 0, 0, 0.02, 0.1),
      pause: rate(0, 0, 0, 0.05),
      takeover: rate(0, 0, 0, 0.01, 0.03),
      actor: rate(0, 0, 0.01, 0.045),
      git: rate(0, 0, 0.015, 0.05),
      clock: rate(0, 0, 0, 0.01),
      stop: rate(0, 0, 0, 0.01),
    },
    readRate: rate(0, 0.02, 0.05, 0.1),
    faults: new Set([...some(writeFaults), ...some(readFaults)].map((fault) => fault.name)),
    actors: some(actorNames),
    edits: some(editNames),
  };
}

/** What befalls a schedule but rarely, from sources that nothing else draws from. */
export class Rarities {
  readonly #chance: Chance;
  readonly #rate: number;
  readonly #edits: Chance;
  readonly #editRate: number;

  constructor(chance: Chance, edits: Chance) {
    this.#chance = chance;
    this.#rate = chance.pick([0, 0, 0, 0, 0.01, 0.03]);
    this.#edits = edits;
    this.#editRate = edits.pick([0, 0, 0, 0.03, 0.1]);
  }

  draw(): Perturbation | undefined {
    const chance = this.#chance;
    if (this.#rate > 0 && chance.happens(this.#rate))
      return { type: 'actor', actor: chance.pick(rareActors), a: chance.int(0x7fffffff) };
    const edits = this.#edits;
    if (this.#editRate === 0 || !edits.happens(this.#editRate)) return undefined;
    return { type: 'git', edit: edits.pick(rareEdits), a: edits.int(0x7fffffff) };
  }
}

/** Draws from a swarm, and keeps what it drew: the script that replays it. */
export class RandomPlan implements Plan {
  readonly script: (readonly [number, Perturbation])[] = [];
  readonly #chance: Chance;
  readonly #swarm: Swarm;
  readonly #rarities: Rarities;

  constructor(chance: Chance, swarm: Swarm, rarities: Rarities) {
    this.#chance = chance;
    this.#swarm = swarm;
    this.#rarities = rarities;
  }

  at(step: number, effect: Effect): Perturbation | undefined {
    if (step > this.#swarm.steps) return undefined;
    const drawn = this.#draw(effect) ?? this.#rarities.draw();
    if (drawn !== undefined) this.script.push([step, drawn]);
    return drawn;
  }

  #draw(effect: Effect): Perturbation | undefined {
    const chance = this.#chance;
    const { rates, readRate, actors, edits } = this.#swarm;
    const downMs = (): number => chance.pick([0, 1_000, 60_000, 400_000]);
    const a = (): number => chance.int(0x7fffffff);
    if (chance.happens(rates.crash)) {
      return {
        type: 'crash',
        when: chance.pick(['before', 'during', 'after']),
        downMs: downMs(),
        a: a(),
        reboots: chance.happens(0.2),
      };
    }
    if (actors.length > 0 && chance.happens(rates.actor)) return { type: 'actor', actor: chance.pick(actors), a: a() };
    if (edits.length > 0 && chance.happens(rates.git)) return { type: 'git', edit: chance.pick(edits), a: a() };
    if (chance.happens(rates.takeover)) return { type: 'takeover' };
    if (chance.happens(rates.stop)) return { type: 'stop', downMs: downMs() };
    if (chance.happens(rates.clock)) {
      return {
        type: 'clock',
        jumpMs: chance.pick([-365 * 86_400_000, -600_000, 600_000, 3_600_000, 365 * 86_400_000]),
      };
    }
    switch (effect.kind) {
      case 'commit':
        if (chance.happens(rates.full)) return { type: 'full', commits: chance.between(1, 6) };
        return chance.happens(rates.pause) ? { type: 'pause', ...chance.pick(PAUSES) } : undefined;
      case 'sleep':
      case 'rest':
        return undefined;
      case 'read':
        return chance.happens(readRate) ? this.#fault('read', effect) : undefined;
      case 'write':
        return chance.happens(rates.fault) ? this.#fault('write', effect) : undefined;
    }
  }

  #fault(type: 'read' | 'write', effect: Effect): Perturbation | undefined {
    const enabled = faultsFor(effect).filter((name) => this.#swarm.faults.has(name));
    if (enabled.length === 0) return undefined;
    return { type, fault: this.#chance.pick(enabled), a: this.#chance.int(0x7fffffff) };
  }
}

export function inWords(perturbation: Perturbation): string {
  switch (perturbation.type) {
    case 'crash':
      return `crash ${perturbation.when} the effect, next process after ${perturbation.downMs} ms`;
    case 'read':
    case 'write':
      return perturbation.fault;
    case 'full':
      return `ledger full for ${perturbation.commits} commits`;
    case 'pause':
      return perturbation.suspension === undefined
        ? `process paused for ${perturbation.ms} ms after its commit`
        : `machine suspended for ${perturbation.ms} ms after the commit, wall clock off by ${perturbation.suspension.jumpMs} ms`;
    case 'takeover':
      return 'another process opens the ledger';
    case 'actor':
      return `somebody: ${perturbation.actor}`;
    case 'git':
      return `git: ${perturbation.edit}`;
    case 'clock':
      return `wall clock jumps by ${perturbation.jumpMs} ms`;
    case 'stop':
      return 'SIGTERM';
  }
}

/** What is counted of a perturbation, whoever meets it. */
type Named =
  | { readonly type: 'crash'; readonly when: string }
  | { readonly type: 'read' | 'write'; readonly fault: string }
  | { readonly type: 'actor'; readonly actor: string }
  | { readonly type: 'git'; readonly edit: string }
  | { readonly type: 'clock'; readonly jumpMs: number }
  | { readonly type: 'pause'; readonly suspension?: Suspension }
  | { readonly type: 'full' | 'takeover' | 'stop' };

/** The name under which it is counted. */
export function kindOf(perturbation: Named): string {
  switch (perturbation.type) {
    case 'crash':
      return `crash-${perturbation.when}`;
    case 'read':
    case 'write':
      return perturbation.fault;
    case 'actor':
      return `actor-${perturbation.actor}`;
    case 'git':
      return `git-${perturbation.edit}`;
    case 'full':
      return 'ledger-full';
    case 'pause':
      return perturbation.suspension === undefined ? 'pause' : 'suspension';
    case 'clock':
      return perturbation.jumpMs > 0 ? 'clock-forward' : 'clock-back';
    default:
      return perturbation.type;
  }
}
