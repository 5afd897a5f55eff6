import { Ajv2020, type Options } from 'ajv/dist/2020.js';

/** Keywords of Portolan for messages, without effect on validation. */
const NOTES = ['x-expected', 'x-secret'];

/** The options of the schema compiler, here and in the build of the package. */
export const COMPILER_OPTIONS: Options = {
  allErrors: true,
  strict: true,
  strictRequired: false, // `oneOf` of two `required` refers to fields of the enclosing object.
  useDefaults: true,
  verbose: true,
  messages: false,
  validateSchema: false, // A test validates the schemas once.
  $data: false,
  keywords: NOTES,
};

let ajv: Ajv2020 | undefined;

export function compiler(): Ajv2020 {
  ajv ??= new Ajv2020(COMPILER_OPTIONS);
  return ajv;
}
