import { isScalar } from 'yaml';
import type { SchemaNode } from '../kinds/fields.ts';
import type { FaultWords } from './fault.ts';
import { locate, type Place } from './locate.ts';
import { type Path, pointerSteps } from './paths.ts';
import { readPlainScalar, short } from './scalars.ts';
import { didYouMean } from './suggest.ts';
import { isAddressName, isSecretName, shownAddress, shownAddresses } from './secrets.ts';
import type { SchemaError } from './validate.ts';
import { type DocumentValue, textOfScalar } from './values.ts';

/** A schema whose enums contain only texts, as those of all kinds do. */
type Schema = Omit<SchemaNode, 'enum'> & { readonly enum?: readonly string[] };

/** The parts of a document that messages need. */
export interface Explained {
  readonly contents: unknown;
  readonly offset: number;
  readonly value: DocumentValue;
}

/** Returns the names of the fields of an object schema. */
export function propertiesOf(schema: unknown): readonly string[] {
  return Object.keys((schema as Schema | undefined)?.properties ?? {});
}

/** Returns the names of which exactly one is required, from a `oneOf` error. */
export function alternatives({ schema }: SchemaError): readonly string[] {
  return (schema as readonly { readonly required?: readonly string[] }[]).flatMap(({ required }) => required ?? []);
}

const PROPERTY_PARAMETERS: Readonly<Record<string, string>> = {
  additionalProperties: 'additionalProperty',
  required: 'missingProperty',
  propertyNames: 'propertyName',
};

/** Returns the name of the property that an error is about: unknown, missing or badly named. */
export function propertyOf({ keyword, params }: SchemaError): string | undefined {
  const parameter = PROPERTY_PARAMETERS[keyword];
  return parameter === undefined ? undefined : String(params[parameter]);
}

/** Returns `reference` for a field that refers to a secret, and `name` for the name of one, which may be the secret by mistake. */
export function secretRole({ parentSchema, keyword }: SchemaError): 'reference' | 'name' | undefined {
  const role = (parentSchema as Schema | undefined)?.['x-secret'];
  if (role === 'reference' && keyword !== 'oneOf') return 'reference';
  return role === 'name' ? 'name' : undefined;
}

/** Returns the message, the expected value and the remedy for one error of the validator. */
export function describe(error: SchemaError, path: Path, place: Place, document: Explained): FaultWords {
  const field = fieldName(path);
  const property = propertyOf(error) ?? '';
  if (error.keyword === 'additionalProperties') return unknownField(error, property, fieldName(path.slice(0, -1)));
  if (error.keyword === 'required') return missingField(error, property, field);
  if (error.keyword === 'oneOf') return exactlyOne(error, document);
  if (error.keyword === 'propertyNames') return badName(error, property);
  if (secretRole(error) === 'reference') return inlineSecret(field);
  const schema = error.parentSchema as Schema;
  const expected = expectation(error.keyword, schema);
  const code = `schema/${error.keyword}`;
  if (secretRole(error) === 'name')
    return { code, message: `${field} is not ${error.keyword === 'type' ? 'text' : 'a name'}`, expected };
  const text = isScalar(place.value) ? textOfScalar(place.value) : undefined;
  const substituted = document.value.substituted.get(error.instancePath);
  if (error.data === null || text === '')
    return empty(code, field, expected, error.data === null && text !== '' ? text : undefined);
  const shown = substituted ?? text;
  const origin = substituted === undefined ? '' : ` (from ${short(text ?? '')})`;
  const message = `${field} is ${shownValue(error.data, shown, field)}${origin}`;
  const hint = substituted === undefined || isPlain(error) ? hintFor(error, schema, shown, field) : ONE_VALUE;
  return { code, message, expected, hint };
}

/** Returns whether a variable can provide the value: it cannot be a list or a map. */
function isPlain({ parentSchema }: SchemaError): boolean {
  return !['array', 'object'].includes((parentSchema as Schema).type ?? '');
}

const ONE_VALUE = 'a variable has one value; it cannot be a list or a map';

function fieldName(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return 'the document';
  return typeof last === 'number' ? `${fieldName(path.slice(0, -1))}[${last}]` : last;
}

function unknownField({ parentSchema }: SchemaError, name: string, field: string): FaultWords {
  const known = propertiesOf(parentSchema);
  if ((parentSchema as Schema)['x-secret'] === 'reference') {
    return {
      ...inlineSecret(field),
      code: 'schema/unknown-field',
      message: `${JSON.stringify(short(name))} is not a reference to a secret`,
    };
  }
  const first = /^[A-Za-z]+(?=[\s{[])/.exec(name)?.[0] ?? '';
  const hint = known.includes(first) ? `put a colon and a space after ${first}` : didYouMean(name, known);
  return {
    code: 'schema/unknown-field',
    message: `there is no field ${JSON.stringify(short(name))} here`,
    expected: oneOfWords(known),
    hint: isSecretName(name) ? SECRET_HINT : hint,
  };
}

const SECRET_HINT =
  "secrets belong to the operator's configuration, by reference; if this file was ever committed or shared, replace the secret";

function missingField({ parentSchema }: SchemaError, name: string, field: string): FaultWords {
  const schema = (parentSchema as Schema).properties?.[name];
  return {
    code: 'schema/missing-field',
    message: `${name} is missing${field === 'the document' ? '' : ` in ${field}`}`,
    expected: `${name}: ${schema?.['x-expected'] ?? schema?.description ?? 'a value'}`,
  };
}

function exactlyOne(error: SchemaError, { contents }: Explained): FaultWords {
  const names = alternatives(error);
  const present = names.filter((name) => locate(contents, [...pointerSteps(error.instancePath), name]).complete);
  const listed = (some: readonly string[]): string => `${some.slice(0, -1).join(', ')} and ${some.at(-1)}`;
  const all = listed(names);
  return {
    code: 'schema/exactly-one',
    message:
      present.length === 0
        ? `one of ${all} is missing`
        : `${listed(present)} are ${present.length === 2 ? 'both' : 'all'} set`,
    expected: `exactly one of ${all}`,
  };
}

function badName({ schema }: SchemaError, name: string): FaultWords {
  if (!name.startsWith('portolan/')) {
    return {
      code: 'schema/key',
      message: `${JSON.stringify(short(name))} is not a name for a label or an annotation`,
      expected: 'letters, digits, ., _, / and -, a letter or digit at both ends, at most 253',
    };
  }
  const branches = (schema as { readonly anyOf?: readonly { readonly enum?: readonly string[] }[] }).anyOf ?? [];
  const known = branches.flatMap((branch) => branch.enum ?? []);
  return {
    code: 'schema/unknown-annotation',
    message: `there is no annotation ${short(name)}`,
    expected: oneOfWords(known),
    hint: didYouMean(name, known),
  };
}

function inlineSecret(field: string): FaultWords {
  return {
    code: 'schema/inline-secret',
    message: `${field} must not contain the secret itself`,
    expected: 'a reference: { env: NAME } for an environment variable, or { file: PATH }',
    hint: `write ${field}: { env: NAME } and put the secret into that variable; if this file was ever committed or shared, replace the secret`,
  };
}

function empty(code: string, field: string, expected: string, text: string | undefined): FaultWords {
  return {
    code,
    message: text === undefined ? `${field} is empty` : `${field} is ${text}`,
    expected,
    hint: 'to leave a field unmanaged, remove it',
  };
}

function shownValue(data: unknown, text: string | undefined, field: string): string {
  if (Array.isArray(data)) return 'a list';
  if (typeof data === 'object') return 'a map';
  if (typeof data === 'string') return JSON.stringify(short(shownIn(field, data)));
  return `the ${typeof data} ${short(text ?? JSON.stringify(data))}`;
}

/** Returns a text without the parts that must not be shown. */
function shownIn(field: string, text: string): string {
  return isAddressName(field) ? shownAddress(text) : shownAddresses(text);
}

function oneOfWords(words: readonly string[]): string {
  const shown = words.map((word) => {
    const plain = readPlainScalar(word);
    return plain.ok && typeof plain.value === 'string' ? word : `"${word}" in quotes`;
  });
  return shown.length === 1 ? String(shown[0]) : `one of ${shown.join(', ')}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list, each entry after a -',
  object: 'a map, its fields indented below',
};

function expectation(keyword: string, schema: Schema): string {
  const note = schema['x-expected'];
  if (schema.enum !== undefined) return oneOfWords(schema.enum);
  if (note !== undefined && keyword !== 'type') return note;
  const { minimum, maximum, minLength = 0, maxLength, minItems = 0, maxItems, type = '' } = schema;
  if (keyword === 'minItems' || keyword === 'maxItems') return `${minItems} to ${maxItems} entries`;
  if (keyword === 'maxLength' || keyword === 'minLength') return `${minLength} to ${maxLength} characters`;
  const name = TYPE_NAMES[type] ?? 'another value';
  return minimum === undefined || maximum === undefined ? name : `${name} from ${minimum} to ${maximum}`;
}

function hintFor(
  { keyword, data }: SchemaError,
  schema: Schema,
  text: string | undefined,
  field: string,
): string | undefined {
  const options = schema.enum;
  if (keyword === 'enum' && options !== undefined) {
    return options.length > 1 ? didYouMean(String(data), options) : undefined;
  }
  if (keyword === 'type') {
    if (options === undefined || typeof data !== 'boolean') return typeHint(schema.type ?? '', data, text);
    const word = options.find((option) => (data ? ['on', 'true'] : ['off']).includes(option));
    return word === undefined ? undefined : `write "${word}" in quotes`;
  }
  if (keyword !== 'pattern' || typeof data !== 'string' || schema.pattern === undefined) return undefined;
  const pattern = new RegExp(schema.pattern, 'u');
  const fixed = corrections(data).find((text) => text !== '' && text.length <= 253 && pattern.test(text));
  // A correction is suggested only if all of it may be shown.
  return fixed === undefined || shownIn(field, fixed) !== fixed ? undefined : `did you mean ${short(fixed)}?`;
}

/** Returns possible corrections of a text that breaks a rule about characters. */
function corrections(text: string): readonly string[] {
  const lower = text.toLowerCase();
  const upper = text.toUpperCase();
  const dashed = text.trim().replace(/[_ ]/g, '-');
  const address = [text, `http://${text}`].find((candidate) => URL.canParse(candidate));
  // A domain written as an address, or with letters that are not ASCII.
  const host = address === undefined || !text.includes('.') ? [] : [new URL(address).hostname];
  return [
    text.trim(),
    dashed,
    lower,
    upper,
    dashed.toLowerCase(),
    dashed.toUpperCase().replaceAll('-', '_'),
    `/${text}`,
    ...host,
  ];
}

function typeHint(type: string, data: unknown, text: string | undefined): string | undefined {
  if (type === 'string' && (typeof data === 'number' || typeof data === 'boolean'))
    return `write "${short(text ?? String(data))}" in quotes`;
  if (type === 'boolean' && typeof data === 'string') {
    if (/^(?:yes|on|y|true)$/i.test(data)) return 'write true';
    if (/^(?:no|off|n|false)$/i.test(data)) return 'write false';
  }
  if ((type === 'integer' || type === 'number') && typeof data === 'string') {
    const plain = readPlainScalar(data.trim());
    if (plain.ok && typeof plain.value === 'number') return `write ${plain.value} without quotes`;
  }
  if (type === 'array' && typeof data === 'object') return 'put a - before each entry';
  return undefined;
}
