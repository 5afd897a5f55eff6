import type { Fault, Mask } from './fault.ts';
import { locate, type Place, spanOfPlace, typedPath } from './locate.ts';
import { formatPath, type Path, pointerSteps } from './paths.ts';
import { alternatives, describe, type Explained, propertiesOf, propertyOf, secretRole } from './sentences.ts';
import { nearest } from './suggest.ts';
import type { SchemaError } from './validate.ts';
import { spanOf } from './values.ts';

/** Keywords by precedence: of several errors at one place, only the first one is reported. */
const RANK = ['type', 'enum', 'maxLength', 'minLength', 'pattern', 'minimum', 'maximum', 'minItems', 'maxItems'];

/**
 * Converts the errors of the validator to one fault for each mistake, at its position.
 * @returns the faults, and the parts of the text that must not be shown.
 */
export function explain(errors: readonly SchemaError[], document: Explained): { faults: Fault[]; masks: Mask[] } {
  const masks: Mask[] = [];
  const faults: Fault[] = [];
  for (const error of relevant(errors, document.value.poisoned)) {
    const path = pathOf(error, document.contents);
    const { place, complete } = locate(document.contents, path);
    const what = describe(error, path, place, document);
    const secret = secretRole(error);
    if (secret !== undefined || error.keyword === 'additionalProperties') masks.push(maskOf(place));
    const span = path.length === 0 ? { offset: document.offset, length: 1 } : spanFor(error, place);
    faults.push({ ...what, ...(complete ? span : { ...span, length: 1 }), path: formatPath(path) });
  }
  return { faults, masks };
}

function spanFor(error: SchemaError, place: Place): { readonly offset: number; readonly length: number } {
  const key = place.key !== undefined && place.key !== null ? spanOf(place.key) : undefined;
  const atKey = KEY_KEYWORDS.has(error.keyword);
  return atKey && key !== undefined ? key : spanOfPlace(place);
}

const KEY_KEYWORDS: ReadonlySet<string> = new Set(['additionalProperties', 'propertyNames', 'required', 'oneOf']);

function maskOf({ value, key }: Place): Mask {
  const { offset, length } = spanOf(value ?? key);
  return [offset, offset + length];
}

function relevant(errors: readonly SchemaError[], poisoned: ReadonlySet<string>): readonly SchemaError[] {
  const unknown = new Map<string, string[]>();
  for (const error of errors) {
    const { keyword, instancePath, parentSchema } = error;
    if (keyword !== 'additionalProperties') continue;
    const near = nearest(String(propertyOf(error)), propertiesOf(parentSchema));
    if (near !== undefined) unknown.set(instancePath, [...(unknown.get(instancePath) ?? []), near]);
  }
  const best = new Map<string, SchemaError>();
  for (const error of errors) {
    if (isEcho(error, unknown, poisoned)) continue;
    const key = `${error.instancePath} ${subjectOf(error)}`;
    const rival = best.get(key);
    if (rival === undefined || RANK.indexOf(error.keyword) < RANK.indexOf(rival.keyword)) best.set(key, error);
  }
  return [...best.values()];
}

/** Returns whether an error only repeats another one: in a branch of `oneOf`, beside a misspelt name, in a bad value. */
function isEcho(
  error: SchemaError,
  misspelt: ReadonlyMap<string, readonly string[]>,
  poisoned: ReadonlySet<string>,
): boolean {
  if (/\/(?:oneOf|anyOf|propertyNames)\//.test(error.schemaPath) || 'propertyName' in error) return true;
  if (poisoned.has(error.instancePath)) return true;
  const wanted = misspelt.get(error.instancePath) ?? [];
  if (error.keyword === 'required') {
    const missing = String(propertyOf(error));
    return wanted.includes(missing) || poisoned.has(`${error.instancePath}/${missing}`);
  }
  if (error.keyword === 'oneOf') return isPointless(error) || alternatives(error).some((name) => wanted.includes(name));
  return false;
}

/** Returns whether a `oneOf` error adds nothing: the value is not a map, or a reference to a secret has an unknown field. */
function isPointless({ data, parentSchema }: SchemaError): boolean {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return true;
  const known = propertiesOf(parentSchema);
  return parentSchema?.['x-secret'] === 'reference' && Object.keys(data).some((name) => !known.includes(name));
}

/** Returns the property that distinguishes two errors at one place. */
function subjectOf(error: SchemaError): string {
  if (error.keyword === 'oneOf') return '|';
  const property = propertyOf(error);
  return property === undefined ? '' : `${error.keyword} ${property}`;
}

function pathOf(error: SchemaError, contents: unknown): Path {
  const path = typedPath(contents, pointerSteps(error.instancePath));
  const property = error.keyword === 'required' ? undefined : propertyOf(error);
  return property === undefined ? path : [...path, property];
}
