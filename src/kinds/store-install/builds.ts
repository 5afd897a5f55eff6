import { eventLog, listBuilds } from './readings.ts';
import { PortolanError } from '../../model/errors.ts';
import type { BuildEvent } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { InstalledComponent } from '../component/identity.ts';
import type { ScopeReader } from '../reconciled.ts';

/** The latest build of a component of a managed install. */
export interface ComponentBuild {
  readonly component: string;
  readonly event: BuildEvent;
  /** The last lines of a build that failed. */
  readonly lines: readonly string[];
}

/**
 * The member of `remoteAux` with the start of a build by an install or upgrade. It is removed when all builds are observed done.
 * If the end is never observed, it stays and is ignored after `WATCH_MS`, because time alone does not cause a ledger write.
 */
const BUILD_SINCE = 'buildSinceMs';
/** Builds that take longer are not observed. */
const WATCH_MS = 60 * 60_000;
/** Only the first components of a model are read, to limit requests. */
const COMPONENTS_MAX = 5;
const LOGS_MAX = 2;
/** Tolerance for the difference between two clocks. */
const CLOCKS_APART_MS = 2 * 60_000;

export function buildMark(builds: boolean, nowMs: number): { readonly [BUILD_SINCE]?: number } {
  return builds ? { [BUILD_SINCE]: nowMs } : {};
}

export function withoutBuildMark({
  [BUILD_SINCE]: _since,
  ...aux
}: OwnedObject['remoteAux']): OwnedObject['remoteAux'] {
  return aux;
}

/** Returns whether the builds of an install are worth a request. */
export function isBuilding({ remoteAux }: OwnedObject, nowMs: number): boolean {
  const sinceMs = remoteAux[BUILD_SINCE];
  return typeof sinceMs === 'number' && nowMs >= sinceMs && nowMs - sinceMs <= WATCH_MS;
}

/** Returns whether all builds are done. */
export function isBuilt(builds: readonly ComponentBuild[]): boolean {
  return builds.length > 0 && builds.every(({ event }) => event.state === 'done');
}

/** Returns the latest builds since the install or upgrade. Failed reads are left out, because reconciling does not need them. */
export async function readBuilds(mine: OwnedObject, reader: ScopeReader): Promise<readonly ComponentBuild[]> {
  const components = (mine.remoteAux['components'] ?? []) as readonly InstalledComponent[];
  const sinceMs = Number(mine.remoteAux[BUILD_SINCE]) - CLOCKS_APART_MS;
  const latest = await Promise.all(
    components.slice(0, COMPONENTS_MAX).map(async ({ serviceId, displayName, serviceKey }) => {
      const listed = await orNothing(() => reader.readFresh(listBuilds(serviceId)));
      if (listed?.readable !== true) return [];
      const event = listed.value
        .filter(({ startedMs }) => startedMs === null || startedMs >= sinceMs)
        .reduce<BuildEvent | undefined>(
          (newest, one) => (newest === undefined || (one.startedMs ?? 0) > (newest.startedMs ?? 0) ? one : newest),
          undefined,
        );
      return event === undefined ? [] : [{ component: displayName ?? serviceKey, event }];
    }),
  );
  let logs = 0;
  return await Promise.all(
    latest.flat().map(async (build) => {
      const isShown = build.event.state === 'failed' && (logs += 1) <= LOGS_MAX;
      const log = isShown ? await orNothing(() => reader.readFresh(eventLog(build.event.id))) : undefined;
      return { ...build, lines: log?.readable === true ? log.value : [] };
    }),
  );
}

async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof PortolanError) || error.code === 'platform/stopped') throw error;
    return undefined;
  }
}

/** Returns `mysql is being built, redis is built`; empty if no build is known. */
export function progressOf(builds: readonly ComponentBuild[]): string {
  const words = { running: 'is being built', done: 'is built', failed: 'could not be built' };
  return builds.map(({ component, event }) => `${component} ${words[event.state]}`).join(', ');
}

/** Returns message and remedy for failed builds; undefined: none failed. */
export function failureOf(
  resource: string,
  builds: readonly ComponentBuild[],
): { readonly message: string; readonly remedy: string } | undefined {
  const failed = builds.filter(({ event }) => event.state === 'failed');
  const [first] = failed;
  if (first === undefined) return undefined;
  const messages = failed.map(({ component, event: { id, message }, lines }) => {
    const why = message === '' ? '' : `: ${message}`;
    return `the build of component ${component} of ${resource} failed (event ${id})${why}${lines.length === 0 ? '' : `; its last lines: ${lines.join(' | ')}`}`;
  });
  return {
    message: messages.join('; '),
    remedy: `Correct the cause, then build ${failed.map(({ component }) => component).join(' and ')} again in the console. The next run observes the result.`,
  };
}
