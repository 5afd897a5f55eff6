/** Plain JSON: the values of plans, ledger rows and requests. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/**
 * Returns JSON with the keys of every object sorted and `undefined` members left out, so that equal values give equal
 * text: the input of every hash and digest. It follows RFC 8785, whose number format is that of `JSON.stringify`.
 */
export function canonicalJson(value: Json | undefined): string {
  if (value === undefined || value === null || typeof value !== 'object') return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(',')}]`;
  const object = value as JsonObject;
  let members = '';
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/**
 * Returns a copy of a JSON value without its `undefined` members. Only for values whose member names are defined by
 * Portolan: a member called `__proto__` would be lost.
 */
export function plainJson(value: unknown): Json {
  if (typeof value !== 'object' || value === null) return value as Json;
  if (Array.isArray(value)) return value.map(plainJson);
  const members = value as Readonly<Record<string, unknown>>;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(members)) if (members[key] !== undefined) copy[key] = plainJson(members[key]);
  return copy;
}

/** Returns whether two JSON values are deeply equal. An absent member equals an `undefined` one. */
export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return (left ?? null) === (right ?? null);
  }
  if (Array.isArray(left) || Array.isArray(right)) return sameItems(left, right);
  const mine = left as JsonObject;
  const theirs = right as JsonObject;
  for (const key in mine) if (!sameMember(mine[key], theirs[key])) return false;
  for (const key in theirs) if (theirs[key] !== undefined && mine[key] === undefined) return false;
  return true;
}

/** An absent member does not equal null. */
function sameMember(left: Json | undefined, right: Json | undefined): boolean {
  return (left === undefined) === (right === undefined) && sameJson(left, right);
}

function sameItems(left: Json, right: Json): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((item: Json, index) => sameJson(item, right[index] as Json));
}
