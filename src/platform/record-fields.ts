import { recordOf, recordsOf } from './envelope.ts';
import type { WireJson, WireObject } from './transport.ts';
import { type Fields, isId, isRecord, withoutKeys } from './fields.ts';

/** The values of a field, by the type that a table of records gives it. */
interface Values {
  id: string;
  text: string;
  texts: readonly string[];
  integer: number;
  /** An integer, or its decimal text: one number in both spellings. */
  decimal: number;
  /** A short text, or an integer that stands for it. */
  code: string;
  port: number;
  flag: boolean;
  /** Fractions too. */
  number: number;
  /** A text in one answer and a list in the next; JSON text here. */
  rewrites: string;
}

type StrictType = 'id' | 'text' | 'integer' | 'decimal' | 'code' | 'port' | 'flag';
type LenientType = 'id' | 'text' | 'texts' | 'number' | 'flag' | 'rewrites';

/** One field of a record: where an answer has it, and what a value of another type means. */
export interface RecordField<Value> {
  /** Names in the answer; the first that is present counts. */
  readonly wire: readonly [string, ...string[]];
  /**
   * `decides`: a decision depends on the field, so another type is schema drift. `shown`: people read it at most, so
   * another type counts as absent.
   */
  readonly need: 'decides' | 'shown';
  readonly type: StrictType | LenientType;
  /** The value of a field that is absent or null; undefined: the field must be there. */
  readonly absent: Value | undefined;
  read(fields: Fields): Value;
}

/** How an answer's record is read, by the names of ours. */
export type RecordTable<Decoded> = { readonly [Name in keyof Decoded]: RecordField<Decoded[Name]> };

/** What a table of fields decodes to. */
export type Decoded<Table extends Readonly<Record<string, RecordField<unknown>>>> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]['read']>;
};

/** A field that a decision depends on. Without `absent` it must be there. */
export function decides<Type extends StrictType, Absent extends Values[Type] | null = Values[Type]>(
  wire: string | readonly [string, ...string[]],
  type: Type,
  absent?: Absent,
): RecordField<Values[Type] | Absent> {
  const names = typeof wire === 'string' ? ([wire] as const) : wire;
  return {
    wire: names,
    need: 'decides',
    type,
    absent,
    read: (fields) => {
      const name = presentName(fields, names);
      const value = (fields[`${type}OrNull`](name) as Values[Type] | null) ?? absent;
      if (value === undefined) throw fields.drift(name, words[type]);
      return value;
    },
  };
}

/** A field that is shown at most: a value of another type counts as absent. */
export function shown<Type extends LenientType, Absent extends Values[Type] | null>(
  wire: string,
  type: Type,
  absent: Absent,
): RecordField<Values[Type] | Absent> {
  const read = (fields: Fields): Values[Type] | Absent =>
    (lenient[type](fields.raw(wire)) as Values[Type] | null) ?? absent;
  return { wire: [wire], need: 'shown', type, absent, read };
}

/** A reader of records by their table. @throws PortolanError `platform/schema-drift` */
export function recordReader<Decoded>(table: RecordTable<Decoded>): (fields: Fields) => Decoded {
  const entries = Object.entries(table) as readonly [string, RecordField<unknown>][];
  return (fields) => {
    const decoded: Record<string, unknown> = {};
    for (const [name, field] of entries) decoded[name] = field.read(fields);
    return decoded as Decoded;
  };
}

/** A decoder of an answer with one such record. */
export function recordDecoder<Decoded>(table: RecordTable<Decoded>): (json: unknown, where: string) => Decoded {
  const read = recordReader(table);
  return (json, where) => read(recordOf(json, where));
}

/** A decoder of an answer with a list of such records. */
export function listDecoder<Decoded>(
  table: RecordTable<Decoded>,
): (json: unknown, where: string) => readonly Decoded[] {
  const read = recordReader(table);
  return (json, where) => recordsOf(json, where).map(read);
}

/** A body with the values of these fields, by the table that answers are read by: under the documented name of each. */
export function recordBody<Decoded>(
  table: RecordTable<Decoded>,
  values: Partial<Decoded & Readonly<Record<string, WireJson>>>,
): WireObject {
  const entries = Object.entries(table) as readonly [string, RecordField<unknown>][];
  const given = values as Readonly<Record<string, WireJson | undefined>>;
  return Object.fromEntries(
    entries.flatMap(([name, { wire }]) => (given[name] === undefined ? [] : [[wire.at(-1) ?? name, given[name]]])),
  );
}

/** Returns the name that the record has; the last one, which is the documented name, where it has none. */
function presentName(fields: Fields, names: readonly [string, ...string[]]): string {
  if (names.length === 1) return names[0];
  return names.find((name) => (fields.raw(name) ?? null) !== null) ?? names.at(-1) ?? names[0];
}

const words: Readonly<Record<StrictType, string>> = {
  id: 'an identifier',
  text: 'a string',
  integer: 'an integer',
  decimal: 'an integer',
  code: 'a string',
  port: 'an integer',
  flag: 'true or false',
};

const DECIMAL = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** null: not there, or not to be understood. */
const lenient: Readonly<Record<LenientType, (value: unknown) => unknown>> = {
  id: (value) => {
    const text = Number.isSafeInteger(value) ? String(value) : value;
    return typeof text === 'string' && isId(text) ? text : null;
  },
  text: textOf,
  texts: (value) => (Array.isArray(value) ? value.filter((item) => typeof item === 'string').map(withoutKeys) : null),
  number: (value) => {
    if (typeof value === 'string' && DECIMAL.test(value)) return Number(value);
    return typeof value === 'number' && Number.isFinite(value) ? value : null;
  },
  flag: (value) => (typeof value === 'boolean' ? value : null),
  rewrites: rewritesOf,
};

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return withoutKeys(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** What is not of a rewrite's own fields stays out. */
function rewritesOf(value: unknown): string | null {
  if (!Array.isArray(value)) return textOf(value);
  const rewrites = value.flatMap((rewrite) =>
    isRecord(rewrite)
      ? [
          {
            regex: textOf(rewrite['regex']),
            replacement: textOf(rewrite['replacement']),
            flag: textOf(rewrite['flag']),
          },
        ]
      : [],
  );
  return JSON.stringify(rewrites);
}
