import { eventLog, listBuilds } from './readings.ts';
import { PortolanError } from '../../model/errors.ts';
import type { BuildEvent } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { InstalledComponent } from '../component/identity.ts';
import type { ScopeReader } from '../reconciled.ts';

/** How the latest build of a component of ours stands. */
export interface ComponentBuild {
  readonly component: string;
  readonly event: BuildEvent;
  /** The last lines of a build that failed. */
  readonly lines: readonly string[];
}

/**
 * Name in `remoteAux` of when an install or upgrade of ours began to build; gone when all of it was seen built. The mark
 * of a build that was not seen to end stays, and means nothing after `WATCH_MS`: time alone writes nothing.
 */
const BUILD_SINCE = 'buildSinceMs';
/** A build that takes longer is looked after by nobody here. */
const WATCH_MS = 60 * 60_000;
/** Requests are scarce: of a model with many components, the first ones are asked. */
const COMPONENTS_MAX = 5;
const LOGS_MAX = 2;
/** The clocks of two machines. */
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

/** Whether builds of an install of ours are worth a request. */
export function isBuilding({ remoteAux }: OwnedObject, nowMs: number): boolean {
  const sinceMs = remoteAux[BUILD_SINCE];
  return typeof sinceMs === 'number' && nowMs >= sinceMs && nowMs - sinceMs <= WATCH_MS;
}

/** Whether all builds were seen done, so that nothing more is to be expected of them. */
export function isBuilt(builds: readonly ComponentBuild[]): boolean {
  return builds.length > 0 && builds.every(({ event }) => event.state === 'done');
}

/** The latest builds since the install or upgrade. Whatever fails is left out: no reconcile depends on it. */
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

/** `mysql is being built, redis is built`; empty where nothing is known. */
export function progressOf(builds: readonly ComponentBuild[]): string {
  const words = { running: 'is being built', done: 'is built', failed: 'could not be built' };
  return builds.map(({ component, event }) => `${component} ${words[event.state]}`).join(', ');
}

/** What a build that failed says, and what to do; undefined: none failed. */
export function failureOf(
  resource: string,
  builds: readonly ComponentBuild[],
): { readonly message: string; readonly remedy: string } | undefined {
  const failed = builds.filter(({ event }) => event.state === 'failed');
  const [first] = failed;
  if (first === undefined) return undefined;
  const told = failed.map(({ component, event: { id, message }, lines }) => {
    const why = message === '' ? '' : `: ${message}`;
    return `the build of component ${component} of ${resource} failed (event ${id})${why}${lines.length === 0 ? '' : `; its last lines: ${lines.join(' | ')}`}`;
  });
  return {
    message: told.join('; '),
    remedy: `Correct the cause, then build ${failed.map(({ component }) => component).join(' and ')} again in the console; it is seen on the next run.`,
  };
}
