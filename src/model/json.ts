/** Plain JSON: what plans, ledger rows and requests are made of. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/**
 * JSON text with the keys of every object sorted and `undefined` members left out, so that equal values give equal
 * text: the input of every hash and digest (RFC 8785 without its number formatting, which `JSON.stringify` shares).
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
 * A copy of a value that is JSON but for members that are `undefined`, which are left out as in the text. For values
 * whose names are our own: one that is called `__proto__` would be lost.
 */
export function plainJson(value: unknown): Json {
  if (typeof value !== 'object' || value === null) return value as Json;
  if (Array.isArray(value)) return value.map(plainJson);
  const members = value as Readonly<Record<string, unknown>>;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(members)) if (members[key] !== undefined) copy[key] = plainJson(members[key]);
  return copy;
}

/** Deep equality of JSON values; an absent member equals an `undefined` one. */
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

/** An absent member is no null. */
function sameMember(left: Json | undefined, right: Json | undefined): boolean {
  return (left === undefined) === (right === undefined) && sameJson(left, right);
}

function sameItems(left: Json, right: Json): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((item: Json, index) => sameJson(item, right[index] as Json));
}
