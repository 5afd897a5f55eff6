import type { LeaseUnit } from '../../ledger/shared.ts';
import type { ResourceId } from '../../model/ids.ts';
import type { ControllerApi } from '../api.ts';
import { type Core, known } from '../core.ts';
import type { MethodName } from './forwarded-methods.ts';
import type { Replicas } from './group.ts';
import { platformUnit, sourceUnit } from './leadership.ts';
import type { DatabaseContact } from './shared-events.ts';

export interface ForwardedParts {
  readonly core: Core;
  /** The controller of this process alone. */
  readonly local: ControllerApi;
  readonly replicas: Replicas;
  readonly contact: () => DatabaseContact;
}

/** Asks the replica that leads the unit of a method. */
export type Send = (method: MethodName, args: readonly unknown[], by: string, signal?: AbortSignal) => Promise<unknown>;

/** Returns the units of this controller: its platforms, and its source. */
export function unitsOf({ configuration, options, records }: Core): readonly LeaseUnit[] {
  const named = [...records.values()].map(({ status }) => status.platform);
  const platforms = new Set([...configuration.operator.platforms, ...named]);
  return [...[...platforms].map(platformUnit), sourceUnit(options.source)];
}

/** Returns whether the configuration has a unit. */
export function isConfigured({ configuration }: Core, unit: LeaseUnit): boolean {
  return !unit.startsWith('platform:') || configuration.operator.platforms.has(unit.slice('platform:'.length));
}

/** Returns applications by their platform. @throws PortolanError when the accepted source does not have one of them. */
export function byPlatform(core: Core, ids: readonly ResourceId[]): ReadonlyMap<string, readonly ResourceId[]> {
  return Map.groupBy(ids, (id) => known(core, id).status.platform);
}
