import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { KindDeclaration } from '../kinds/kind.ts';
import { compileSchema } from './compile.ts';

/** One error of the validator, with the schema it comes from. */
export type SchemaError = ErrorObject<string, Record<string, unknown>>;

const validators = new WeakMap<KindDeclaration<unknown>, ValidateFunction>();

/**
 * Checks a whole document against the schema of its kind and fills in defaults, in place.
 * A kind's schema is compiled when its first document comes, and kept.
 */
export function validateDocument(declaration: KindDeclaration<unknown>, value: unknown): readonly SchemaError[] {
  const validator = validators.get(declaration) ?? compileSchema(declaration);
  validators.set(declaration, validator);
  return validator(value) ? [] : ((validator.errors ?? []) as readonly SchemaError[]);
}
