import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../src/runtime/random.ts';
import { canMountDisks } from '../../support/postgres.ts';
import { type Estate, ROLE } from './estate.ts';
import type { Expected } from './oracles/expected.ts';
import { Replica } from './replica.ts';

/** Everything that a fault may change. */
export interface Scene {
  readonly estate: Estate;
  readonly replicas: Replica[];
  readonly random: Random;
  readonly leaseMs: number;
  /** Number of replicas that there should be after the fault. */
  readonly wanted: number;
  /** Called at the moment of the fault with the processes that lose what they lead. */
  struck(...victims: readonly Replica[]): Promise<void>;
  /** The process of a unit's leader. */
  leader(): Promise<Replica>;
  violation(text: string): void;
}

type Fault = (scene: Scene) => Promise<void>;

/** The time for which a replica is away: others take over what it leads. */
const awayMs = ({ leaseMs }: Scene): number => 2 * leaseMs;

function silence(...directions: readonly ('requests' | 'answers')[]): Fault {
  return async (scene) => {
    const victim = await scene.leader();
    await scene.struck(victim);
    victim.proxy.silence(...directions);
    await sleep(awayMs(scene));
    victim.proxy.heal();
  };
}

function databaseEnds(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Fault {
  return async ({ estate, random, leaseMs }) => {
    await estate.postgres.stop(signal);
    await sleep(random.next() * 1.5 * leaseMs);
    await startDatabase(estate);
  };
}

/** After SIGKILL, the other processes of the server need a moment to end. */
async function startDatabase(estate: Estate): Promise<void> {
  for (let attempt = 0; ; attempt += 1)
    try {
      await estate.postgres.start();
      return;
    } catch (error) {
      if (attempt === 20) throw error;
      await sleep(250);
    }
}

async function kill(scene: Scene): Promise<void> {
  const victim = await scene.leader();
  await scene.struck(victim);
  await victim.end('SIGKILL');
  await sleep(scene.random.next() * awayMs(scene));
  victim.start();
}

async function pause(scene: Scene): Promise<void> {
  const victim = await scene.leader();
  await scene.struck(victim);
  victim.signal('SIGSTOP');
  await sleep(awayMs(scene));
  victim.signal('SIGCONT');
}

async function suspend(scene: Scene): Promise<void> {
  const victim = await scene.leader();
  await scene.struck(victim);
  victim.suspend();
  await sleep(awayMs(scene));
  await victim.wake();
}

/** Every process of the group dies at once, as when its cluster loses power. */
async function groupKilled(scene: Scene): Promise<void> {
  const { replicas, random, leaseMs } = scene;
  await scene.struck(...replicas);
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  await sleep(random.next() * leaseMs);
  for (const replica of replicas) replica.start();
}

/** Every process of the group ends and starts at once, as in an update that replaces all of them. */
async function groupRestarted(scene: Scene): Promise<void> {
  const { replicas, random, leaseMs } = scene;
  await scene.struck(...replicas);
  await Promise.all(replicas.map((replica) => endWell(scene, replica)));
  await sleep(random.next() * leaseMs);
  for (const replica of replicas) replica.start();
}

/** The database and every process die at once, and all of them start at once. */
async function everythingKilled(scene: Scene): Promise<void> {
  const { estate, replicas } = scene;
  await scene.struck(...replicas);
  await Promise.all([estate.postgres.stop('SIGKILL'), ...replicas.map((replica) => replica.end('SIGKILL'))]);
  for (const replica of replicas) replica.start();
  await startDatabase(estate);
}

async function terminate(scene: Scene): Promise<void> {
  const victim = await scene.leader();
  await scene.struck(victim);
  await endWell(scene, victim);
  await sleep(scene.random.next() * scene.leaseMs);
  victim.start();
}

async function endWell({ violation }: Scene, replica: Replica): Promise<void> {
  const code = await replica.end('SIGTERM');
  if (code !== 0) violation(`${replica.name} ended with ${code} after SIGTERM:\n${lastLines(replica.said)}`);
}

/** Where an error is thrown, Node shows a line of the program, which may be long. */
function lastLines(text: string): string {
  const lines = text.split('\n').map((line) => line.slice(0, 500));
  return lines.slice(-30).join('\n');
}

async function cut(scene: Scene): Promise<void> {
  const victim = await scene.leader();
  for (let n = 0; n < 5; n += 1) {
    victim.proxy.cut();
    await sleep(scene.random.next() * 300);
  }
}

async function slowDatabase({ replicas, leaseMs }: Scene): Promise<void> {
  for (const { proxy } of replicas) proxy.delayMs = 200;
  await sleep(3 * leaseMs);
  for (const { proxy } of replicas) proxy.heal();
}

/** No replica gets more than two connections. */
async function poolExhausted(scene: Scene): Promise<void> {
  const { postgres } = scene.estate;
  const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`;
  await postgres.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT 2; ${ended}`);
  await sleep(awayMs(scene));
  await postgres.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`);
}

/** The server may end, and not start again before there is space. */
async function diskFull(scene: Scene): Promise<void> {
  const { estate, random } = scene;
  const free = estate.postgres.fillDisk();
  await sleep((0.5 + random.next()) * awayMs(scene));
  free();
  for (;;) {
    if (!estate.postgres.isRunning) {
      await estate.postgres.stop();
      await startDatabase(estate);
    }
    const answers = await estate.postgres.query('SELECT 1').catch(() => undefined);
    if (answers !== undefined) return;
    await sleep(50);
  }
}

/** The network fails for moments, each shorter than a lease: nobody may lose what it leads. */
async function flickers({ replicas, random, leaseMs, struck }: Scene): Promise<void> {
  await struck(...replicas);
  for (let n = 0; n < 5; n += 1) {
    for (const { proxy } of replicas) proxy.cut();
    for (const { proxy } of replicas) proxy.silence('requests', 'answers');
    await sleep(random.next() * (leaseMs / 5));
    for (const { proxy } of replicas) proxy.heal();
    await sleep(leaseMs / 2);
  }
}

/** A session of a person has locked what every transaction needs. */
async function locked({ estate, leaseMs }: Scene): Promise<void> {
  const hold = `BEGIN; UPDATE portolan.meta SET v = v WHERE k = 'serial'; SELECT pg_sleep(${leaseMs / 1_000}); COMMIT`;
  await estate.postgres.query(hold);
}

async function replaced(scene: Scene): Promise<void> {
  const { estate, replicas, random } = scene;
  const added = await Replica.start(`replica-${replicas.length + 1}-${Math.floor(random.next() * 1e6)}`, estate);
  replicas.push(added);
  await sleep(random.next() * awayMs(scene));
  const removed = await scene.leader();
  await scene.struck(removed);
  await endWell(scene, removed);
  replicas.splice(replicas.indexOf(removed), 1);
  await removed.remove();
}

async function clockAhead(scene: Scene): Promise<void> {
  const victim = await scene.leader();
  await scene.struck(victim);
  await endWell(scene, victim);
  victim.clockAheadMs = victim.clockAheadMs === 0 ? 1 : 0;
  victim.start();
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  kill,
  pause,
  'machine suspended': suspend,
  terminate,
  'group killed': groupKilled,
  'group restarted': groupRestarted,
  'everything killed': everythingKilled,
  'requests lost': silence('requests'),
  'answers lost': silence('answers'),
  'no network': silence('requests', 'answers'),
  'connections cut': cut,
  'database stopped': databaseEnds('SIGINT'),
  'database crashed': databaseEnds('SIGQUIT'),
  'database killed': databaseEnds('SIGKILL'),
  'database slow': slowDatabase,
  'connections exhausted': poolExhausted,
  'database locked': locked,
  'database flickers': flickers,
  'replica replaced': replaced,
  'clock ahead': clockAhead,
  // An ordinary user cannot make a disk of its own.
  ...(canMountDisks() ? { 'disk full': diskFull } : {}),
};

/** The effect of faults on the leaderships that they strike. That of the others depends on the moment. */
export const EXPECTED: Readonly<Record<string, Expected>> = {
  kill: 'ends',
  pause: 'ends',
  'machine suspended': 'ends',
  terminate: 'ends',
  'group killed': 'ends',
  'group restarted': 'ends',
  'everything killed': 'ends',
  'requests lost': 'ends',
  'answers lost': 'ends',
  'no network': 'ends',
  'database flickers': 'stays',
  'replica replaced': 'ends',
  'clock ahead': 'ends',
};
