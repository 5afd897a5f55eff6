import { PortolanError } from '../model/errors.ts';

/** Returns the error for an answer of an undocumented form. */
export function schemaDrift(where: string, path: string, expected: string, got: unknown): PortolanError {
  return new PortolanError({
    code: 'platform/schema-drift',
    disposition: 'give-up',
    message: `${where}: the answer is not of the documented form: ${path === '' ? 'expected' : `${path}: expected`} ${expected}, got ${kindOf(got)}; nothing was concluded from it`,
    remedy:
      'Compare the platform’s version with the documented API; if the platform changed, report the field to the maintainers.',
  });
}

/** Returns the kind of a JSON value in words, without the value: it may contain keys. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value === '') return 'an empty string';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const ID = /^[\w-]{1,64}$/;
const DECIMAL = /^(?:0|[1-9]\d{0,14})$/;
const PEM = '-----BEGIN';

export function isId(text: string): boolean {
  return ID.test(text);
}

/** Returns the text; if it contains a key, a replacement, so that no key reaches a ledger, a log or a screen. */
export function withoutKeys(text: string): string {
  return text.includes(PEM) ? '[removed: it looks like a certificate or key]' : text;
}

/**
 * Reads one record of an answer field by field, so that other fields never leave it. Absent and null are equal. Every method
 * throws `platform/schema-drift` with the field's path for a value of another type.
 */
export class Fields {
  readonly #record: Readonly<Record<string, unknown>>;
  readonly #where: string;
  readonly #path: string;

  /** `where` names the request, `path` the record in its answer, for messages. */
  constructor(value: unknown, where: string, path: string) {
    if (!isRecord(value)) throw schemaDrift(where, path, 'an object', value);
    this.#record = value;
    this.#where = where;
    this.#path = path;
  }

  /** Returns the path of a field in the answer: `[3].container_port`. */
  path(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  raw(name: string): unknown {
    return Object.hasOwn(this.#record, name) ? this.#record[name] : undefined;
  }

  drift(name: string, expected: string): PortolanError {
    return schemaDrift(this.#where, this.path(name), expected, this.raw(name));
  }

  /** Returns an identifier for paths and ledger keys: `[\w-]{1,64}`; null for an empty one. */
  idOrNull(name: string): string | null {
    const value = this.raw(name);
    if (value === undefined || value === null || value === '') return null;
    if (typeof value !== 'string' || !isId(value)) throw this.drift(name, 'an identifier of letters, digits, _ and -');
    return value;
  }

  textOrNull(name: string): string | null {
    const value = this.raw(name);
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string') throw this.drift(name, 'a string');
    return withoutKeys(value);
  }

  integerOrNull(name: string): number | null {
    const value = this.raw(name);
    if (value === undefined || value === null) return null;
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw this.drift(name, 'an integer');
    return value;
  }

  /** Returns an integer of 0 or more, which may be written as a text. */
  decimalOrNull(name: string): number | null {
    const value = this.raw(name);
    return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : this.integerOrNull(name);
  }

  /** Returns a text; an integer is converted to a text. */
  codeOrNull(name: string): string | null {
    const value = this.raw(name);
    return Number.isSafeInteger(value) ? String(value) : this.textOrNull(name);
  }

  portOrNull(name: string): number | null {
    const value = this.integerOrNull(name);
    if (value !== null && (value < 1 || value > 65_535)) throw this.drift(name, 'a port from 1 to 65535');
    return value;
  }

  flagOrNull(name: string): boolean | null {
    const value = this.raw(name);
    if (value === undefined || value === null) return null;
    if (typeof value !== 'boolean') throw this.drift(name, 'true or false');
    return value;
  }

  /** Returns the records of a list field, each with its own path; absent and null are an empty list. */
  records(name: string): readonly Fields[] {
    const value = this.raw(name) ?? [];
    if (!Array.isArray(value)) throw this.drift(name, 'a list');
    return value.map((item, index) => new Fields(item, this.#where, `${this.path(name)}[${index}]`));
  }

  record(name: string): Fields {
    return new Fields(this.raw(name), this.#where, this.path(name));
  }
}
