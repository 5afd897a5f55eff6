import { isAlias, isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Fault, FaultWords } from './fault.ts';
import { LIMITS } from './limits.ts';
import { formatPath, formatPointer, type Path } from './paths.ts';
import { readPlainScalar, short } from './scalars.ts';
import { isExactReference, substitute, type Variables } from './substitute.ts';
import { REPLACEMENT, unsafeCharacter } from './text.ts';

/** A value of a document: JSON whose maps have no prototype. */
export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

/**
 * A map without a prototype. Unlike the result of `Object.create(null)`, V8 stores it as a plain object, which has half the
 * size and is faster to read.
 */
const BareMap = function () {} as unknown as new () => object;
BareMap.prototype = Object.freeze(Object.create(null) as object);

/** A map without entries. All share it, because most manifests have neither labels nor annotations. */
export const EMPTY_MAP = Object.freeze(new BareMap()) as { readonly [key: string]: never };

/** Returns a JSON value with maps without a prototype. It must not be changed. */
export function bareValue(value: Value): Value {
  if (typeof value === 'string') return sharedText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => sharedItem(bareValue(item)));
  const keys = Object.keys(value);
  if (keys.length === 0) return EMPTY_MAP;
  const result = new BareMap() as { [key: string]: Value };
  for (const key of keys) result[key] = bareValue(value[key] as Value);
  return result;
}

/** Short texts that were read last. Texts such as `http` and the name of an application occur again and again. */
const lastTexts = new Map<string, string>();
const LAST_TEXTS_MAX = 4_096;
const SHORT_LENGTH = 32;

/** Returns the same text, as one that was read before if possible: equal texts then take the memory of one. */
export function sharedText(text: string): string {
  if (text.length > SHORT_LENGTH) return text;
  const known = lastTexts.get(text);
  if (known !== undefined) return known;
  if (lastTexts.size >= LAST_TEXTS_MAX) lastTexts.clear();
  lastTexts.set(text, text);
  return text;
}

/** Small items of lists that were read last, by their JSON. Ports such as `{ port: 8080, protocol: http }` occur again and again. */
const lastItems = new Map<string, Value>();
const LAST_ITEMS_MAX = 4_096;
const ITEM_LENGTH_MAX = 256;

/** Returns the same item of a list, as one that was read before if possible. It is frozen, because other documents may have it, too. */
function sharedItem(item: Value): Value {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  for (const value of Object.values(item)) if (typeof value === 'object' && value !== null) return item;
  const key = JSON.stringify(item);
  if (key.length > ITEM_LENGTH_MAX) return item;
  const known = lastItems.get(key);
  if (known !== undefined) return known;
  if (lastItems.size >= LAST_ITEMS_MAX) lastItems.clear();
  lastItems.set(key, Object.freeze(item));
  return item;
}

/** Lets the lists of a value share small items with other documents. The value must not be changed any more. */
export function shareItems(value: Value | undefined): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) {
    for (const member of Object.values(value)) shareItems(member);
    return;
  }
  for (const [index, item] of value.entries()) {
    shareItems(item);
    value[index] = sharedItem(item);
  }
}

/** The value of one document, and the parts of it that are unreliable. */
export interface DocumentValue {
  readonly value: Value;
  readonly faults: readonly Fault[];
  /** JSON pointers of values that have a fault already, so that schema errors about them are ignored. */
  readonly poisoned: ReadonlySet<string>;
  /** JSON pointers of values that were exactly one `${NAME}`, with the variable's text. */
  readonly substituted: ReadonlyMap<string, string>;
}

const NONE: ReadonlyMap<string, string> = new Map();
/** Most texts: safe, and in composed form. */
const PRINTABLE_ASCII = /^[ -~]*$/;
const FORBIDDEN_KEYS = new Set(['__proto__', 'prototype', 'constructor']);

/**
 * Converts the nodes of one document to plain values. The nodes come from the failsafe schema of YAML, in which every scalar
 * is text; `readPlainScalar` decides its type.
 * @param variables `undefined`: `${NAME}` is not replaced.
 * @param damaged whether unsafe characters of the file were reported and replaced by U+FFFD.
 */
export function readValue(contents: unknown, variables: Variables | undefined, damaged = false): DocumentValue {
  const reader = new Reader(variables, damaged);
  const value = reader.node(contents, []);
  return { value, faults: reader.faults, poisoned: reader.poisoned, substituted: reader.substituted ?? NONE };
}

class Reader {
  readonly faults: Fault[] = [];
  readonly poisoned = new Set<string>();
  substituted: Map<string, string> | undefined;
  readonly #variables: Variables | undefined;
  readonly #damaged: boolean;
  #substitutedLength = 0;

  constructor(variables: Variables | undefined, damaged: boolean) {
    this.#variables = variables;
    this.#damaged = damaged;
  }

  /** Reads a node recursively. `readTokens` has limited the depth. */
  node(node: unknown, path: (string | number)[]): Value {
    if (isScalar(node)) return this.#scalar(node, path);
    if (isMap(node)) return this.#map(node, path);
    if (isSeq(node)) return this.#list(node, path);
    // An alias has a fault already, and its value is unknown. A missing node is an empty value.
    if (isAlias(node)) this.poisoned.add(formatPointer(path));
    return null;
  }

  #list(list: YAMLSeq, path: (string | number)[]): Value {
    return list.items.map((item, index) => {
      path.push(index);
      const value = this.node(item, path);
      path.pop();
      return value;
    });
  }

  #map(map: YAMLMap, path: (string | number)[]): Value {
    const result = new BareMap() as { [key: string]: Value };
    if (map.items.length > LIMITS.keysPerMap) {
      this.#poison(map, path, {
        code: 'limit/keys',
        message: `this map has ${map.items.length} keys; none of them was read`,
        expected: `at most ${LIMITS.keysPerMap}`,
      });
      return result;
    }
    for (const pair of map.items) {
      const key = this.#key(pair, path);
      if (key === undefined) continue;
      path.push(key);
      if (key in result) {
        this.#fault(pair.key, path, {
          code: 'yaml/duplicate-key',
          message: `the key ${JSON.stringify(short(key))} is used twice in this map`,
          expected: 'each key once',
          hint: 'delete one of the two',
        });
      } else result[key] = this.node(pair.value, path);
      path.pop();
    }
    return result;
  }

  /** Returns the text of a key; `undefined` (with a fault) if a map may not have it. */
  #key(pair: Pair, path: Path): string | undefined {
    const { key } = pair;
    if (!isScalar(key)) {
      const what = isAlias(key) ? 'an alias' : isMap(key) ? 'a map' : isSeq(key) ? 'a list' : 'empty';
      if (!isAlias(key)) this.#fault(key ?? pair.value, path, { ...KEY_FAULT, message: `the key is ${what}` });
      return undefined;
    }
    const text = textOfScalar(key);
    if (key.type === 'PLAIN' || key.type === undefined) {
      const plain = readPlainScalar(text);
      if (!plain.ok || typeof plain.value !== 'string')
        return this.#fault(key, path, keyFault(text, plain.ok && plain.value === null));
    }
    if (text === '<<') {
      return this.#fault(key, path, {
        code: 'yaml/merge-key',
        message: 'the merge key << is not allowed',
        expected: 'each value written where it is used',
      });
    }
    if (FORBIDDEN_KEYS.has(text)) {
      return this.#fault(key, path, {
        code: 'yaml/forbidden-key',
        message: `the key ${text} is not allowed: programs written in JavaScript treat it specially`,
        expected: 'another name',
      });
    }
    return this.#safe(key, text, path) === undefined ? undefined : text.normalize('NFC');
  }

  #scalar(node: Scalar, path: Path): Value {
    const raw = textOfScalar(node);
    const text = this.#variables !== undefined && raw.includes('${') ? this.#substitute(node, raw, path) : raw;
    if (text === undefined) return null;
    if (text.length > LIMITS.scalarLength) {
      const expected = `at most ${LIMITS.scalarLength} (64 Ki)`;
      const message = `this value has ${text.length} characters`;
      return this.#poison(node, path, { code: 'limit/scalar', message, expected }) ?? null;
    }
    const substituted = text !== raw || this.#isSubstituted(path);
    const plain = substituted ? this.#isSubstituted(path) : node.type === 'PLAIN' || node.type === undefined;
    if (!plain) return this.#safe(node, text, path) ?? null;
    const scalar = readPlainScalar(text);
    if (scalar.ok) return typeof scalar.value === 'string' ? (this.#safe(node, text, path) ?? null) : scalar.value;
    if (substituted) return text; // A variable cannot have quotes; the field decides whether it is text.
    return this.#poison(node, path, { ...scalar, hint: numberHint(text) }) ?? null;
  }

  #isSubstituted(path: Path): boolean {
    return this.substituted?.has(formatPointer(path)) ?? false;
  }

  #substitute(node: Scalar, raw: string, path: Path): string | undefined {
    const { text, faults } = substitute(raw, this.#variables ?? NONE);
    for (const fault of faults) this.#poison(node, path, fault);
    if (faults.length > 0) return undefined;
    this.#substitutedLength += text.length;
    if (this.#substitutedLength > LIMITS.substitutedLength) {
      return this.#poison(node, path, {
        code: 'limit/substituted',
        message: 'with this value, the values with variables have too many characters',
        expected: `at most ${LIMITS.substitutedLength} (1 Mi) in one document`,
      });
    }
    if (isExactReference(raw)) {
      this.substituted ??= new Map();
      this.substituted.set(formatPointer(path), text);
    }
    return text;
  }

  /** Returns the text in composed form; `undefined` (with a fault) if a character of it must not reach the platform. */
  #safe(node: Scalar, text: string, path: Path): string | undefined {
    if (PRINTABLE_ASCII.test(text)) return sharedText(text);
    const unsafe = unsafeCharacter(text);
    if (this.#damaged && text.includes(REPLACEMENT)) {
      this.poisoned.add(formatPointer(path)); // The fault was reported with the file.
      return undefined;
    }
    if (unsafe === undefined) return text.normalize('NFC');
    return this.#poison(node, path, {
      code: 'yaml/unsafe-character',
      message: `the value contains ${unsafe}`,
      expected: 'printable text, line breaks and tabs',
    });
  }

  /** Reports a fault of a value, which is then unknown. */
  #poison(node: unknown, path: Path, what: FaultWords): undefined {
    this.poisoned.add(formatPointer(path));
    return this.#fault(node, path, what);
  }

  #fault(node: unknown, path: Path, { code, message, expected, hint }: FaultWords): undefined {
    this.faults.push({ code, message, expected, hint, ...spanOf(node), path: formatPath(path) });
  }
}

function numberHint(text: string): string {
  const quoted = `"${short(text)}"`;
  const value = Number(text);
  return Number.isSafeInteger(value)
    ? `write ${value} if it is a number, ${quoted} if it is text`
    : `write ${quoted} if it is text`;
}

const KEY_FAULT = { code: 'yaml/key', expected: 'text' } as const;

function keyFault(text: string, isNull: boolean): FaultWords {
  if (isNull && text === '') return { ...KEY_FAULT, message: 'a key is missing before the colon' };
  if (isNull) return { ...KEY_FAULT, message: `the key ${text} is read as null` };
  return { ...KEY_FAULT, message: `the key ${short(text)} is not text`, hint: `write "${short(text)}" in quotes` };
}

/** Returns the text of a scalar without quotes and escapes. Failsafe nodes contain only text. */
export function textOfScalar({ value }: Scalar): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the position of a node in the text. */
export function spanOf(node: unknown): { readonly offset: number; readonly length: number } {
  const range = (node as { range?: readonly [number, number, number] | null } | null | undefined)?.range;
  if (range === null || range === undefined) return { offset: 0, length: 1 };
  return { offset: range[0], length: Math.max(1, range[1] - range[0]) };
}
