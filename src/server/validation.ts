import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Route } from './route.ts';

interface RouteValidator {
  (data: unknown): boolean;
  /** Errors of the last call. */
  errors?: NonNullable<ValidateFunction['errors']> | null;
}

/**
 * Returns a validator that compiles its schema at the first request. Compiling all routes takes longer than the rest of a
 * start, and most processes serve few of them.
 */
export function compileAtFirstUse(ajv: Ajv2020, schema: object): RouteValidator {
  let compiled: ValidateFunction | undefined;
  const validate: RouteValidator = (data) => {
    compiled ??= ajv.compile(schema);
    const isValid = compiled(data);
    validate.errors = compiled.errors ?? null;
    return isValid;
  };
  return validate;
}

/**
 * Returns the validators of parameters and of bodies. Parameters are text and are converted to the type in their schema; bodies
 * are not converted. Tests check the schemas themselves, a start does not.
 */
export function createValidators({ validateSchema = false } = {}) {
  const common = { allErrors: false, useDefaults: true, strict: true, strictRequired: false, validateSchema } as const;
  return {
    text: new Ajv2020({ ...common, coerceTypes: 'array' }),
    body: new Ajv2020({ ...common, coerceTypes: false, keywords: ['x-expected'] }),
  };
}

/** Returns the schema of the query parameters. Any other parameter is an error, unless a third party chooses them. */
export function queryOf({ query = {}, anyQuery = false }: Route): object {
  return anyQuery ? { type: 'object' } : { type: 'object', additionalProperties: false, properties: query };
}
