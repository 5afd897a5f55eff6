import type { JsonObject } from '../../model/json.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { EpochMs } from '../../model/time.ts';
import { type Difference, recordedAs, type Recording } from '../reconciled.ts';
import type { ObservedContext } from './live.ts';
import { portKey } from './steps.ts';

/** Minimum time between two readings that do not show an object, before its row is removed: one may be old or empty. */
const MISSING_APART_MS = 2_000;
/** Members of `remoteAux`: time of the first reading that did not show the port, and of a later one that showed it. */
const [MISSING, AGAIN] = ['missingSinceMs', 'shownAgainMs'];

interface VanishedPorts {
  /** Natural keys of rows that are removed from the ledger. */
  readonly forget: readonly string[];
  /** Rows of ports that only this reading does not show. */
  readonly missing: readonly Recording[];
  readonly waits: Difference['waits'];
}

/**
 * Decides about recorded ports that neither the manifest nor the platform has. Without its row, a port that exists after all
 * would stay as it is for ever, so two readings must show that it is gone.
 */
export function vanishedPorts(context: ObservedContext): VanishedPorts {
  const { ledgerView, source, resource, nowMs } = context;
  const { serviceId, ports } = context.live;
  const prefix = portKey(serviceId, 0).slice(0, -1);
  const there = new Set([...ports, ...resource.spec.ports].map(({ port }) => portKey(serviceId, port)));
  const forget: string[] = [];
  const missing: Recording[] = [];
  const waits: Difference['waits'][number][] = [];
  for (const object of ledgerView.objects) {
    const isPort = object.kind === 'Component' && object.source === source && object.naturalKey.startsWith(prefix);
    if (!isPort || there.has(object.naturalKey)) continue;
    const absence = absenceOf(object, nowMs);
    if (absence.type === 'proven') {
      forget.push(object.naturalKey);
      continue;
    }
    missing.push(absence.recording);
    const [, , port] = object.naturalKey.split('/');
    waits.push({
      message: `port ${port} of ${object.resource} is not listed; a second reading confirms that`,
      untilMs: absence.untilMs,
    });
  }
  return { forget, missing, waits };
}

/** Whether it is proved that a recorded object is absent. An unproven absence is recorded, and read again at a later time. */
type Absence =
  | { readonly type: 'proven' }
  | { readonly type: 'unproven'; readonly recording: Recording; readonly untilMs: EpochMs };

/** Returns what a reading that does not show a recorded port or component proves. */
export function absenceOf(object: OwnedObject, nowMs: EpochMs): Absence {
  const sinceMs = Math.min(Number(object.remoteAux[MISSING] ?? nowMs), nowMs);
  const untilMs = sinceMs + MISSING_APART_MS;
  if (object.state !== 'present' || nowMs >= untilMs) return { type: 'proven' };
  const recording = recordedAs(object, { remoteAux: { ...object.remoteAux, [MISSING]: sinceMs } });
  return { type: 'unproven', recording, untilMs };
}

/** Returns the row of a component that a reading shows again; undefined: no earlier one lacked it. */
export function componentAgain(object: OwnedObject): Recording | undefined {
  return object.remoteAux[MISSING] === undefined
    ? undefined
    : recordedAs(object, { remoteAux: withoutMissing(object.remoteAux) });
}

/** Returns the row of an unlisted port that this reading shows, and the one before did not; undefined: that one did. */
export function shownAgain(object: OwnedObject | undefined, { nowMs }: ObservedContext): Recording | undefined {
  if (object?.remoteAux[MISSING] === undefined) return undefined;
  return recordedAs(object, { remoteAux: { ...withoutMissing(object.remoteAux), [AGAIN]: nowMs } });
}

/**
 * Returns whether a reading did not show the port after a manifest had listed it: a person may have deleted it and created
 * another port.
 */
export function wasMissing({ remoteAux }: OwnedObject): boolean {
  return remoteAux[MISSING] !== undefined || remoteAux[AGAIN] !== undefined;
}

/** Returns the facts without the marks of a port that was missing: a manifest that lists the port ends the question whose it is. */
export function withoutMissing({ [MISSING]: _missing, [AGAIN]: _again, ...aux }: JsonObject): JsonObject {
  return aux;
}
