import { recordOf, recordsOf } from './envelope.ts';
import { type Fields, isId, isRecord, withoutKeys } from './fields.ts';

/** The value of a field, by its type in a table. */
interface Values {
  id: string;
  text: string;
  texts: readonly string[];
  integer: number;
  /** An integer, or its decimal text. */
  decimal: number;
  /** A short text, or an integer, which is converted to a text. */
  code: string;
  port: number;
  flag: boolean;
  /** A text or a list in answers; decoded to JSON text. */
  rewrites: string;
}

type StrictType = 'id' | 'text' | 'integer' | 'decimal' | 'code' | 'port' | 'flag';
type LenientType = 'id' | 'text' | 'texts' | 'flag' | 'rewrites';

/** One field of a record in answers. */
export interface RecordField<Value> {
  /** Names in the answer; the first present one counts. */
  readonly wire: readonly [string, ...string[]];
  /**
   * `decides`: a decision depends on the field, so a value of another type is schema drift. `shown`: the field is only displayed, so
   * a value of another type counts as absent.
   */
  readonly need: 'decides' | 'shown';
  readonly type: StrictType | LenientType;
  /** The value of an absent or null field; undefined: the field is required. */
  readonly absent: Value | undefined;
  read(fields: Fields): Value;
}

/** The fields of a record, by their names in Portolan. */
export type RecordTable<Decoded> = { readonly [Name in keyof Decoded]: RecordField<Decoded[Name]> };

/** The type to which a table of fields decodes. */
export type Decoded<Table extends Readonly<Record<string, RecordField<unknown>>>> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]['read']>;
};

/** Returns a field on which a decision depends. Without `absent` it is required. */
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

/** Returns a field that is only displayed: a value of another type counts as absent. */
export function shown<Type extends LenientType, Absent extends Values[Type] | null>(
  wire: string,
  type: Type,
  absent: Absent,
): RecordField<Values[Type] | Absent> {
  const read = (fields: Fields): Values[Type] | Absent =>
    (lenient[type](fields.raw(wire)) as Values[Type] | null) ?? absent;
  return { wire: [wire], need: 'shown', type, absent, read };
}

/** Returns a reader of records by their table. @throws PortolanError `platform/schema-drift` */
export function recordReader<Decoded>(table: RecordTable<Decoded>): (fields: Fields) => Decoded {
  const entries = Object.entries(table) as readonly [string, RecordField<unknown>][];
  return (fields) => {
    const decoded: Record<string, unknown> = {};
    for (const [name, field] of entries) decoded[name] = field.read(fields);
    return decoded as Decoded;
  };
}

/** Returns a decoder of an answer with one record. */
export function recordDecoder<Decoded>(table: RecordTable<Decoded>): (json: unknown, where: string) => Decoded {
  const read = recordReader(table);
  return (json, where) => read(recordOf(json, where));
}

/** Returns a decoder of an answer with a list of records. */
export function listDecoder<Decoded>(
  table: RecordTable<Decoded>,
): (json: unknown, where: string) => readonly Decoded[] {
  const read = recordReader(table);
  return (json, where) => recordsOf(json, where).map(read);
}

/** Returns the name that the record has; otherwise the last one, which is the documented name. */
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

/** Readers of displayed fields; null: the value is absent or of another type. */
const lenient: Readonly<Record<LenientType, (value: unknown) => unknown>> = {
  id: (value) => {
    const text = Number.isSafeInteger(value) ? String(value) : value;
    return typeof text === 'string' && isId(text) ? text : null;
  },
  text: textOf,
  texts: (value) => (Array.isArray(value) ? value.filter((item) => typeof item === 'string').map(withoutKeys) : null),
  flag: (value) => (typeof value === 'boolean' ? value : null),
  rewrites: rewritesOf,
};

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return withoutKeys(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** Returns rewrites as JSON text, without other fields. */
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
