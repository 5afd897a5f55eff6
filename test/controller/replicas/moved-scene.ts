import { expect, onTestFinished } from 'vitest';
import type { Stored } from '../../../src/controller/ledger-records.ts';
import { demo } from '../../../src/sandbox/seeds/demo.ts';
import { type PortRow, portKey } from '../../../src/sandbox/state.ts';
import { application, Group, type PlatformName, type Replica } from './hand-led.ts';

export const EAST = 'Application/east' as const;
export const ON_EAST = application('east', 'www.example.com');

/** The same application on the other platform. */
export function west(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, text.replace('platform: east', 'platform: west')]),
  );
}

/** On the other platform, and with another rule, so that its new leader has something to write. */
export const ON_WEST = west(application('east', 'new.example.com'));

export interface Scene {
  readonly all: Group;
  /** Leads the platform that the application comes from. */
  readonly one: Replica;
  /** Leads the other platform. */
  readonly two: Replica;
  readonly leader: Replica;
}

/** Two replicas in sync with a commit. @param leaderOfSource the name of the one that leads the source. */
export async function inSync(leaderOfSource: 'one' | 'two'): Promise<Scene> {
  const all = new Group('{ controller: { healthTimeout: 1m } }');
  onTestFinished(() => all.close());
  const [one, two] = [all.open('one'), all.open('two')];
  const leader = leaderOfSource === 'one' ? one : two;
  await leader.leadership.take('source:default');
  await one.leadership.take('platform:east');
  await two.leadership.take('platform:west');
  await all.commit(ON_EAST, [leader]);
  await all.until(() => one.ready(EAST) === 'True InSync' && two.ready(EAST) === 'True InSync', 'it is in sync');
  await all.pass(20_000);
  all.writes.length = 0;
  return { all, one, two, leader };
}

export const stored = (all: Group): Stored => all.fact(`status default ${EAST}`) as Stored;
export const storedOn = (all: Group): string | null | undefined => (stored(all) as Stored | null)?.status.platform;
export const commitOf = (number: number): string => `main@sha1:${number.toString(16).padStart(40, '0')}`;
export const suspendedBy = (replica: Replica): string | undefined => {
  const pause = replica.controller.api.application(EAST)?.pause;
  return pause?.type === 'suspended' ? pause.by : undefined;
};
export const writesTo = (all: Group, platform: PlatformName): readonly string[] =>
  all.writes.filter((sent) => sent.platform === platform).map(({ by, request }) => `${by} ${request.operation}`);
export const bugs = ({ all }: Scene): readonly string[] =>
  all.replicas.flatMap(({ lines }) => lines).filter((line) => line.includes('bug in Portolan'));

/** It reads nothing of what others share, as for up to 3 s behind a pooler. */
export function holdBack(replica: Replica): { readonly goOn: () => void } {
  replica.isLost = (operation) => operation === 'facts';
  return {
    goOn: () => {
      replica.isLost = () => false;
    },
  };
}

/** Holds the statements of a replica for which this is true, until it may continue. */
export function hold(replica: Replica, isMeant: (operation: string) => boolean) {
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  let held = 0;
  replica.beforeStatement = async (operation) => {
    if (!isMeant(operation)) return;
    held += 1;
    await gate.promise;
  };
  return {
    isHeld: () => held > 0,
    goOn: () => {
      replica.beforeStatement = async () => {};
      gate.resolve();
    },
  };
}

/** Lets time pass, and everything run that is due. */
export async function pass(all: Group, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    await all.pass(500);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Asserts that a suspension is in force everywhere, and that the application was left alone on a platform. */
export function expectSuspended(scene: Scene, by: string, platform: PlatformName): void {
  const { all } = scene;
  expect(stored(all)).toMatchObject({ status: { platform }, kept: { suspended: { by } } });
  expect(all.replicas.map(suspendedBy)).toEqual(all.replicas.map(() => by));
  expect(writesTo(all, platform)).toEqual([]);
  expect(bugs(scene)).toEqual([]);
}

/** A person changes a port, which each pass corrects. */
export function drift(all: Group): void {
  const port = all.platforms.east.ports.get(portKey(demo.webServiceId, 8080)) as PortRow;
  all.platforms.east.ports.put({ ...port, inner: false });
}
