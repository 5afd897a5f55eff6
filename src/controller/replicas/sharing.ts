import type { ControllerApi } from '../api.ts';
import type { Core } from '../core.ts';
import type { ControllerOptions } from '../options.ts';
import { type Forwarded, forwardedApi } from './forwarded-api.ts';
import { unitsOf } from './forwarded-parts.ts';
import type { LedFacts } from './group.ts';
import { platformUnit } from './leadership.ts';
import { createSharedEventLog, type SharedEventLog } from './shared-events.ts';

/** Time to store the last events when the process ends. */
const LAST_EVENTS_MS = 2_000;

/** Holds the parts that a controller has in common with its replicas. */
export interface Sharing {
  readonly events: SharedEventLog;
  /** Returns the controller of all replicas. */
  forward(core: Core, local: ControllerApi): Forwarded;
}

/** @returns undefined for a controller whose ledger no other process shares. */
export function openSharing(options: ControllerOptions): Sharing | undefined {
  const { replicas, clock, random, log } = options;
  if (replicas === undefined) return undefined;
  const events = createSharedEventLog({ shared: replicas.shared, clock, random, log });
  return {
    events,
    forward(core, local) {
      replicas.facts = () => ledFacts(core);
      replicas.isCurrent = () => core.sharedState?.isCurrent;
      const forwarded = forwardedApi({ core, local, replicas, contact: () => events.contact() });
      return {
        ...forwarded,
        close: async () => {
          await forwarded.close();
          await events.close(LAST_EVENTS_MS);
        },
      };
    },
  };
}

/** Returns what only this process knows, because it leads the platforms. */
function ledFacts(core: Core): LedFacts {
  const { configuration, gates, intake, leadership, queue, sharedState } = core;
  const isOwn = (platform: string): boolean => leadership.of(platformUnit(platform)) !== undefined;
  const platforms = [...configuration.operator.platforms].filter(isOwn);
  return {
    platforms: platforms.map((name) => {
      const client = configuration.client(name);
      return { name, url: client.url, load: client.load() };
    }),
    regions: gates.regionDetails().filter(({ platform }) => isOwn(platform)),
    queued: queue.depth,
    running: queue.running,
    units: unitsOf(core),
    isCurrent: sharedState?.isCurrent,
    read: intake.age?.lastRead,
    confirms: intake.contact.leads && intake.isCurrent,
  };
}
