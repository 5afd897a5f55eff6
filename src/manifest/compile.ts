import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { KindDeclaration } from '../kinds/kind.ts';
import { documentSchema } from '../kinds/schema.ts';
import { compiler } from './compiler.ts';

/**
 * Makes the function that checks a document of a kind. In the built package this file is replaced by the functions
 * themselves (`.config/validators.ts`): to compile them takes longer than everything else that a plan does.
 */
export function compileSchema(declaration: KindDeclaration<unknown>): ValidateFunction {
  return compiler().compile(documentSchema(declaration));
}
