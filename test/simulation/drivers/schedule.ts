import type { RuleRow } from '../../../src/sandbox/state.ts';
import { Chance } from '../chance.ts';
import { type LedgerHost, memoryHost } from '../ledgers.ts';
import type { Violation } from '../books.ts';
import { isPending } from '../books.ts';
import { Daemon, idOf } from './daemon.ts';
import { type AppName, appNames, installsOf, namedIn, rulesOf, siteOf } from './estate.ts';
import { placeOf } from '../places.ts';
import { failed, undecidable } from './person.ts';
import { anyDriverSwarm, type DriverScript, RandomDriverPlan, scriptedDrivers } from './perturbations.ts';
import { permissive } from './settings.ts';
import type { Driving } from './driving.ts';
import { DriversWorld } from './world.ts';

export interface DriversOptions {
  readonly ledgers?: LedgerHost;
  readonly tracing?: boolean;
  /** Replays these in place of those that the seed would draw. */
  readonly script?: DriverScript;
}

export interface DriversResult {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly script: DriverScript;
  readonly trace: readonly string[];
  readonly traceHash: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly writes: number;
  readonly commits: number;
  readonly passes: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly ran: Ran;
}

/** What a schedule was about. */
export interface Ran {
  readonly daemon: boolean;
  readonly command: boolean;
  /** A person let a plan through. */
  readonly approvals: boolean;
  /** Something was read once for several applications. */
  readonly shared: boolean;
  /** An install was sent. */
  readonly installs: boolean;
  /** The source said something else while a process was at work. */
  readonly source: boolean;
  /** Several controllers shared the ledger, and one of them took over from another. */
  readonly replicas: boolean;
  readonly takeovers: boolean;
}

const PEACE_MS = 30 * 60_000;
const CHAOS_MS_MAX = 12 * 3_600_000;
/** The longest backoff of one that fails, which is longer than a resync with its jitter; and a pass after it. */
const DUE_WITHIN_MS = 1_000_000 + 60_000;
/** Longer than any settle window of what is sent here, any backoff, and any circuit. */
const SETTLED_MS = 40 * 60_000;
const ROUNDS_MAX = 12;
const ROUND_MS = 7 * 60_000;

/** One run of the drivers: peace, chaos, calm, and what must be true. The seed decides all of it. */
export async function runDrivers(seed: number, options: DriversOptions = {}): Promise<DriversResult> {
  const chance = new Chance(seed, 10);
  const driving: Driving = chance.pick(['daemon', 'daemon', 'command', 'both']);
  const swarm = anyDriverSwarm(chance);
  const drawn = new RandomDriverPlan(new Chance(seed, 7), swarm);
  const ledgers = options.ledgers ?? memoryHost();
  const world = new DriversWorld({ seed, driving, ledgers, tracing: options.tracing ?? false });
  const isOver = (): boolean => world.violation !== undefined || world.timeline.nowMs > CHAOS_MS_MAX;
  try {
    world.start();
    if (chance.happens(0.7)) await world.letPass(PEACE_MS);
    world.meet(options.script === undefined ? drawn : scriptedDrivers(options.script));
    await world.timeline.drive(() => isOver() || world.hasPassed(swarm.steps));
    if (world.violation === undefined) await settle(world);
    // What nobody waits for any more ends here, and frees its world.
    for (const process of world.processes) process.kill();
  } finally {
    await ledgers.close();
  }
  return resultOf(world, options.script ?? drawn.script);
}

/** What a schedule came to, at its end. */
export function resultOf(world: DriversWorld, script: DriverScript): DriversResult {
  return {
    seed: world.seed,
    violation: world.violation,
    script,
    trace: world.trace.lines,
    traceHash: world.trace.hash,
    steps: world.steps,
    virtualMs: world.timeline.nowMs,
    writes: world.truth.sent.length,
    commits: world.books.commits,
    passes: world.passes,
    counts: world.resolved === 0 ? world.counts : new Map(world.counts).set('human-resolve', world.resolved),
    ran: {
      daemon: world.daemons > 0,
      command: world.commands > 0,
      approvals: world.approvals > 0,
      shared: world.sharedReadings > 0,
      installs: world.truth.sent.some(({ intent }) => intent.operation === 'install'),
      source: world.sourceChanges > 0,
      replicas: false,
      takeovers: false,
    },
  };
}

async function settle(world: DriversWorld): Promise<void> {
  world.calmDown();
  if (world.driving === 'command') await commandsSettle(world);
  else await daemonSettles(world);
  if (world.violation === undefined) await world.books.compare(await world.ledgers.open());
}

/** Everybody who is due gets a pass; once nobody stands in the way, all is as git says; and then nothing is written. */
async function daemonSettles(world: DriversWorld): Promise<void> {
  if (!(world.newest instanceof Daemon)) restart(world);
  await world.letPass(SETTLED_MS);
  const sinceMs = world.timeline.nowMs;
  await world.letPass(DUE_WITHIN_MS);
  let { daemon } = world;
  if (world.violation !== undefined) return;
  if (daemon === undefined) return world.violate('BUG', 'the daemon has ended by itself');
  for (const name of daemon.applications())
    if ((daemon.beganMs.get(name) ?? -1) < sinceMs)
      world.violate('L-DUE', `${name} was not looked at for ${DUE_WITHIN_MS} ms`);
  daemon.reload((world.settings = permissive()));
  for (const name of appNames) await world.whileDriving(daemon.resume(name));
  await followsAtOnce(world, daemon);
  for (let round = 0; round < ROUNDS_MAX && world.violation === undefined; round += 1) {
    await world.letPass(ROUND_MS);
    while (await world.whileDriving(daemon.approve(0, false))) await world.letPass(60_000);
    if (differences(world, daemon).length === 0) break;
    if (!(await peopleDecide(world))) continue;
    ({ daemon } = restart(world));
    if (daemon === undefined) return world.violate('BUG', 'no daemon began');
  }
  if (world.violation !== undefined) return;
  for (const fault of differences(world, daemon)) world.violate('L-CONV', fault);
  // Whatever comes of the last writes has come.
  await world.letPass(ROUND_MS);
  const writes = world.truth.sent.length;
  await world.letPass(2 * ROUND_MS);
  if (world.truth.sent.length > writes) world.violate('L-QUIET', 'something was written after convergence');
}

function restart(world: DriversWorld): DriversWorld {
  for (const process of world.processes) process.kill();
  world.start();
  return world;
}

/** @returns whether there was anything that only a person could decide; nobody else is at the ledger then. */
export async function peopleDecide(world: DriversWorld): Promise<boolean> {
  if (undecidable(world).length + failed(world).length === 0) return false;
  for (const process of world.processes) process.kill();
  const person = world.startPerson();
  await world.timeline.drive(() => world.violation !== undefined || !person.alive);
  return true;
}

/** What is asked for while it is worked on is worked on once more. */
async function followsAtOnce(world: DriversWorld, daemon: Daemon): Promise<void> {
  const chance = new Chance(world.seed, 12);
  for (let count = 0; count < 6 && world.violation === undefined; count += 1) {
    void daemon.api?.sync('all', 'a person');
    await world.letPass(chance.int(60));
    void daemon.api?.sync('all', 'a person');
    const askedMs = world.timeline.nowMs;
    await world.letPass(ASKED_WITHIN_MS);
    for (const name of daemon.applications())
      if ((daemon.beganMs.get(name) ?? -1) < askedMs)
        world.violate('L-DUE', `${name} was asked for and not looked at for ${ASKED_WITHIN_MS} ms`);
  }
}

/** Longer than three passes after one another. */
const ASKED_WITHIN_MS = 30_000;

async function commandsSettle(world: DriversWorld): Promise<void> {
  for (const process of world.processes) process.kill();
  await world.letPass(SETTLED_MS);
  for (let round = 0; round < ROUNDS_MAX && world.violation === undefined; round += 1) {
    const process = world.start();
    await world.timeline.drive(() => world.violation !== undefined || !process.alive);
    await world.letPass(ROUND_MS);
    if (differences(world, undefined).length === 0) break;
    await peopleDecide(world);
  }
  if (world.violation === undefined) for (const fault of differences(world, undefined)) world.violate('L-CONV', fault);
}

/**
 * What is wrong, from the branch and the platform's own rows.
 * @param leftOut applications that nobody looks after any more.
 */
export function differences(
  world: DriversWorld,
  daemon: Pick<Daemon, 'api'> | undefined,
  leftOut: ReadonlySet<AppName> = new Set(),
): string[] {
  const faults: string[] = [];
  const held = new Set(leftOut);
  // Without a listing nobody can know what was done to a rule by hand.
  const isHidden = (key: string): boolean =>
    world.server.dialect === 'documented' && world.byHand.rules.has(key.slice('rule/'.length));
  for (const intent of world.books.intents.values()) {
    // What git names no more is not looked after.
    const name = namedIn(world.git.head.content, intent.scope);
    if (isPending(intent) && name !== undefined && !leftOut.has(name)) faults.push(`${intent.id} is still in doubt`);
  }
  for (const name of appNames) {
    if (!world.git.head.content.apps.has(name) || leftOut.has(name)) continue;
    const status = daemon?.api?.application(idOf(name));
    // What git names no more has no resource of its own to be held.
    if (status?.conditions.some(({ reason }) => reason === 'Held') === true) held.add(name);
    if (held.has(name)) continue;
    const installs = [
      ...world.server.state.installs.in('application', String(siteOf(world.git.head.content, name).appId)),
    ];
    for (const model of installsOf(world.git.head.content, name))
      if (!installs.some(({ modelId }) => modelId === model)) faults.push(`${model} is not installed into ${name}`);
    const wanted = rulesOf(world.git.head.content, name);
    const live = new Map<string, RuleRow>();
    for (const row of world.server.state.rules.all()) live.set(`rule/${placeOf(row)}`, row);
    for (const [key, weight] of wanted) {
      const row = live.get(key);
      if (row === undefined) {
        if (!isHidden(key)) faults.push(`${key} of ${name} is missing`);
      } else if (row.weight !== weight && world.server.dialect === 'extended')
        faults.push(`${key} of ${name} has weight ${row.weight}, wanted ${weight}`);
    }
  }
  for (const { kind, naturalKey, scope } of world.books.objects.values()) {
    const name = namedIn(world.git.head.content, scope);
    if (kind !== 'HttpGatewayRule' || name === undefined || held.has(name)) continue;
    // The documented API has no way to remove a rule.
    const isRemovable = world.server.dialect === 'extended';
    if (isRemovable && !rulesOf(world.git.head.content, name).has(naturalKey))
      faults.push(`${naturalKey} of ${name} was not removed`);
  }
  return faults;
}
