import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { KindDeclaration } from '../kinds/kind.ts';
import { documentSchema } from '../kinds/schema.ts';
import type { Json, JsonObject } from '../model/json.ts';

/** One error of the validator, with the schema it comes from. */
export type SchemaError = ErrorObject<string, Record<string, unknown>>;

/** Keywords of our own: notes for `explain.ts`, without effect on what is valid. */
const NOTES = ['x-expected', 'x-secret'];

let ajv: Ajv2020 | undefined;
const validators = new WeakMap<KindDeclaration<unknown>, ValidateFunction>();

/**
 * Checks a whole document against the schema of its kind and fills in defaults, in place.
 * A kind's schema is compiled when its first document comes, and kept.
 */
export function validateDocument(declaration: KindDeclaration<unknown>, value: unknown): readonly SchemaError[] {
  let validator = validators.get(declaration);
  if (validator === undefined) {
    validator = compile(declaration);
    validators.set(declaration, validator);
  }
  return validator(value) ? [] : ((validator.errors ?? []) as readonly SchemaError[]);
}

const fields = new WeakMap<JsonObject, ValidateFunction>();

/** Whether one field of a kind may have this value. @param schema a part of the kind's own, always the same object. */
export function isValidField(schema: JsonObject, value: Json): boolean {
  let validator = fields.get(schema);
  if (validator === undefined) {
    // Within an object, where a default is allowed.
    validator = compiler().compile({ type: 'object', properties: { field: schema } });
    fields.set(schema, validator);
  }
  return validator({ field: value });
}

function compile(declaration: KindDeclaration<unknown>): ValidateFunction {
  return compiler().compile(documentSchema(declaration));
}

function compiler(): Ajv2020 {
  ajv ??= new Ajv2020({
    allErrors: true,
    strict: true,
    strictRequired: false, // `oneOf` of two `required` names fields that the object around it declares.
    useDefaults: true,
    verbose: true,
    messages: false,
    validateSchema: false, // They are ours; a test checks them once.
    $data: false,
    keywords: NOTES,
  });
  return ajv;
}
