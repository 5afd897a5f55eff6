import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { KindDeclaration } from '../kinds/kind.ts';
import { compileSchema } from './compile.ts';

/** One error of the validator, with its schema. */
export type SchemaError = ErrorObject<string, Record<string, unknown>>;

const validators = new WeakMap<KindDeclaration<unknown>, ValidateFunction>();

/**
 * Validates a document against the schema of its kind, and inserts defaults into it. The schema of a kind is compiled at its
 * first document.
 */
export function validateDocument(declaration: KindDeclaration<unknown>, value: unknown): readonly SchemaError[] {
  const validator = validators.get(declaration) ?? compileSchema(declaration);
  validators.set(declaration, validator);
  return validator(value) ? [] : ((validator.errors ?? []) as readonly SchemaError[]);
}
