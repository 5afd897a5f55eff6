import { systemClock } from '../../src/runtime/clock.ts';
import { type FleetSize, fleetApplications, fleetManifests, fleetSeed, serviceId } from '../bench/fleet.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';

/** Twelve applications of three teams, each with an owner. */
export const SIZE: FleetSize = { applications: 12, teams: 3, rulesPerApplication: 0 };

export interface FleetWorld extends World {
  readonly files: ReadonlyMap<string, string>;
  /** The path of the manifest of the first component of an application, counted from 1. */
  componentFile(application: number): string;
  /** Changes the alias of the first port of an application on the platform, as somebody in the console would. */
  changeByHand(application: number, alias: string): void;
  /** Waits until the controller has so many applications in these states. */
  until(isSo: (counts: Readonly<Record<string, number>>) => boolean): Promise<void>;
}

/** @param changed files that replace or complete those of the fleet. */
export async function openFleetWorld(
  changed: (files: ReadonlyMap<string, string>) => Readonly<Record<string, string>> = () => ({}),
  options: WorldOptions = {},
): Promise<FleetWorld> {
  const files = new Map(fleetManifests(SIZE));
  for (const { name, team } of fleetApplications(SIZE)) {
    const path = `${team}/${name}/application-${name}.yaml`;
    const text = files.get(path) ?? '';
    const owner = `metadata:\n  name: "${name}"\n  labels:\n    owner: "${team}-people"\n`;
    files.set(path, text.replace(`metadata:\n  name: "${name}"\n`, owner));
  }
  for (const [path, text] of Object.entries(changed(files))) files.set(path, text);
  const world = await openWorld({
    ...options,
    manifests: Object.fromEntries(files),
    sandbox: { seed: { ...fleetSeed(SIZE, { withRules: true }), stores: [] }, ...options.sandbox },
  });
  const until: FleetWorld['until'] = (isSo) =>
    eventually(async () => {
      const { counts } = await world.api<{ readonly counts: Readonly<Record<string, number>> }>(
        '/api/v1/applications?view=row&limit=1',
      );
      return isSo(counts);
    });
  return {
    ...world,
    files,
    componentFile: (application) => {
      const { team, name } = fleetApplications(SIZE)[application - 1] ?? { team: '', name: '' };
      return `${team}/${name}/component-${name}-c0.yaml`;
    },
    changeByHand: (application, alias) => {
      const id = serviceId(application, 0);
      world.sandbox.alter((state) => {
        const row = [...state.ports.all()].find((one) => one.serviceId === id && one.port === 8080);
        if (row === undefined) throw new Error('there is no such port');
        state.ports.put({ ...row, alias });
      });
    },
    until,
  };
}

/** Waits until it is so. The test's own limit ends it. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await systemClock.sleep(50);
}
