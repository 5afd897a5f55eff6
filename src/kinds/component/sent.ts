import type { Json, JsonObject } from '../../model/json.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Recording } from '../reconciled.ts';

/** Member of `remoteAux`: the fields that a request was to change since the object was last observed as desired. */
const SENT = 'sent';

/** Returns the row before a request that changes the fields leaves. */
export function withSent(row: Recording, fields: readonly string[], listed: JsonObject): Recording {
  const earlier = sentFields(row.remoteAux);
  const news = fields.filter((field) => row.lastApplied[field] === undefined && !earlier.includes(field));
  const sent = [...earlier, ...news];
  return { ...row, remoteAux: { ...row.remoteAux, listed, ...(sent.length === 0 ? {} : { [SENT]: sent }) } };
}

/** Returns whether the value of a field may come from Portolan. */
export function mayBeOurs({ lastApplied, remoteAux }: OwnedObject, field: string): boolean {
  return lastApplied[field] !== undefined || sentFields(remoteAux).includes(field);
}

/** Returns the facts of an object that is as its manifest says: its last applied values say what is ours. */
export function withoutSent({ [SENT]: _sent, ...aux }: JsonObject): JsonObject {
  return aux;
}

/** Returns the part of the facts that `withoutSent` leaves out. */
export function sentOnly({ [SENT]: sent }: JsonObject): JsonObject {
  return sent === undefined ? {} : { [SENT]: sent };
}

function sentFields({ [SENT]: sent }: JsonObject): readonly Json[] {
  return (sent as readonly Json[] | undefined) ?? [];
}
