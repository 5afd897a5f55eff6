import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../model/json.ts';
import { compiler } from './compiler.ts';

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
