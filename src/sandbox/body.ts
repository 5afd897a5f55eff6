import { type FieldErrors, frameworkError, invalidBody } from './answers.ts';
import type { Answer, SandboxRequest } from './wire.ts';

/** A body that could be read, or the answer that says why not. */
export type ParsedBody = { readonly fields: Readonly<Record<string, unknown>> } | { readonly answer: Answer };

/** Reads a JSON or form body. No body at all is an empty one; what is missing then is for the field checks to say. */
export function parseBody(request: SandboxRequest): ParsedBody {
  if (request.body === '') return { fields: {} };
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') {
    return { fields: Object.fromEntries(new URLSearchParams(request.body)) };
  }
  if (type !== 'application/json') {
    return { answer: frameworkError(415, `不支持请求中的媒体类型 “${type}”。`, 'UnsupportedMediaType') };
  }
  try {
    const value: unknown = JSON.parse(request.body);
    if (isRecord(value)) return { fields: value };
    return {
      answer: invalidBody({ non_field_errors: [`无效数据。期待为字典类型，得到的是 ${pythonType(value)} 。`] }),
    };
  } catch (error) {
    return { answer: frameworkError(400, parseMessage(request.body, error), 'ParseError') };
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseMessage(text: string, error: unknown): string {
  const found = /position (\d+)/.exec(error instanceof Error ? error.message : '');
  const at = found?.[1] === undefined ? text.length : Number(found[1]);
  const before = text.slice(0, at).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return `JSON parse error - Expecting value: line ${before.length} column ${column} (char ${at})`;
}

function pythonType(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'number' ? 'int' : 'NoneType';
}

/** The check of one field, with the messages of the server's own validators. */
export interface FieldRule {
  readonly type: 'text' | 'integer' | 'boolean' | 'choice' | 'list' | 'record';
  readonly required?: boolean;
  readonly nullable?: boolean;
  readonly blank?: boolean;
  /** Characters. */
  readonly maxLength?: number;
  readonly choices?: readonly string[];
  /** Fields of the record, or of the records of the list. */
  readonly fields?: Readonly<Record<string, FieldRule>>;
}

type Checked = { readonly value: unknown } | { readonly errors: readonly string[] };

/** Values that passed. A field that was not sent is absent. */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#values, name);
  }

  /** It was sent as null. */
  isNull(name: string): boolean {
    return this.#values[name] === null;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  integer(name: string): number | undefined {
    const value = this.#values[name];
    return typeof value === 'number' ? value : undefined;
  }

  flag(name: string): boolean | undefined {
    const value = this.#values[name];
    return typeof value === 'boolean' ? value : undefined;
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.#values[name];
    return Array.isArray(value) ? value : undefined;
  }

  record(name: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.#values[name];
    return isRecord(value) ? value : undefined;
  }
}

/** Checks every field and reports all faults at once; fields without a rule are ignored. */
export function checkFields(
  body: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, FieldRule>>,
): { readonly fields: Fields } | { readonly answer: Answer } {
  const { values, errors } = checkRecord(body, rules);
  return Object.keys(errors).length > 0 ? { answer: invalidBody(errors) } : { fields: new Fields(values) };
}

function checkRecord(body: Readonly<Record<string, unknown>>, rules: Readonly<Record<string, FieldRule>>) {
  const values: Record<string, unknown> = {};
  const errors: Record<string, readonly string[]> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const sent = Object.hasOwn(body, name) ? body[name] : undefined;
    if (sent === undefined) {
      if (rule.required) errors[name] = ['该字段是必填项。'];
      continue;
    }
    const checked = sent === null ? checkNull(rule) : checkers[rule.type](sent, rule);
    if ('errors' in checked) errors[name] = checked.errors;
    else values[name] = checked.value;
  }
  return { values, errors: errors as FieldErrors };
}

function checkNull(rule: FieldRule): Checked {
  return rule.nullable ? { value: null } : { errors: ['该字段不能为 null。'] };
}

const checkers: Readonly<Record<FieldRule['type'], (value: unknown, rule: FieldRule) => Checked>> = {
  text: (value, rule) => {
    if (typeof value !== 'string' && typeof value !== 'number') return { errors: ['不是有效的字符串。'] };
    const text = String(value).trim();
    if (text === '' && !rule.blank) return { errors: ['该字段不能为空。'] };
    if (rule.maxLength !== undefined && text.length > rule.maxLength) {
      return { errors: [`请确保这个字段不能超过 ${rule.maxLength} 个字符。`] };
    }
    return { value: text };
  },
  integer: (value) => {
    const number = typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : value;
    return Number.isSafeInteger(number) ? { value: number } : { errors: ['请填写合法的整数值。'] };
  },
  boolean: (value) => {
    if (value === true || value === 1 || isOneOf(value, trueWords)) return { value: true };
    if (value === false || value === 0 || isOneOf(value, falseWords)) return { value: false };
    return { errors: ['必须是有效的布尔值。'] };
  },
  choice: (value, rule) =>
    isOneOf(value, rule.choices ?? []) ? { value } : { errors: [`“${String(value)}” 不是合法选项。`] },
  list: (value, rule) => {
    if (!Array.isArray(value)) return { errors: [`期望为一个 “list” ，得到类型为 “${pythonType(value)}” 。`] };
    if (rule.fields === undefined) return { value };
    const items = value.map((item) => checkRecord(isRecord(item) ? item : {}, rule.fields ?? {}));
    const wrong = items.flatMap(({ errors }) => described(errors));
    return wrong.length > 0 ? { errors: wrong } : { value: items.map((item) => item.values) };
  },
  record: (value, rule) => {
    if (!isRecord(value)) return { errors: [`无效数据。期待为字典类型，得到的是 ${pythonType(value)} 。`] };
    if (rule.fields === undefined) return { value };
    const { values, errors } = checkRecord(value, rule.fields);
    const wrong = described(errors);
    return wrong.length > 0 ? { errors: wrong } : { value: values };
  },
};

function described(errors: FieldErrors): string[] {
  return Object.entries(errors).map(([name, messages]) => `${name}: ${messages.join(' ')}`);
}

const trueWords = ['true', 'True', 'TRUE', 't', 'y', 'yes', 'on', '1'];
const falseWords = ['false', 'False', 'FALSE', 'f', 'n', 'no', 'off', '0'];

function isOneOf(value: unknown, words: readonly string[]): value is string {
  return typeof value === 'string' && words.includes(value);
}
