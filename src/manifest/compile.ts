import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { KindDeclaration } from '../kinds/kind.ts';
import { documentSchema } from '../kinds/schema.ts';
import { compiler } from './compiler.ts';

/**
 * Returns the function that validates a document of a kind. In the built package, `.config/validators.ts` replaces this file by
 * the compiled functions, because compiling them takes longer than the rest of a plan.
 */
export function compileSchema(declaration: KindDeclaration<unknown>): ValidateFunction {
  return compiler().compile(documentSchema(declaration));
}
