import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

/** A check of one JSON schema, compiled at its first use: sentences with the path in the value, or none. */
export function schemaCheck(schema: object): (value: unknown) => readonly string[] {
  let validate: ReturnType<Ajv2020['compile']> | undefined;
  return (value) => {
    validate ??= new Ajv2020({ allErrors: true, discriminator: true, allowUnionTypes: true }).compile(schema);
    if (validate(value)) return [];
    return (validate.errors ?? []).filter((error) => error.keyword !== 'if').map(sentence);
  };
}

function sentence(error: ErrorObject): string {
  const place = pathOf(error.instancePath);
  const { allowedValues, additionalProperty } = error.params as {
    allowedValues?: unknown[];
    additionalProperty?: string;
  };
  if (additionalProperty !== undefined) return `${place}: unknown field "${additionalProperty}"`;
  if (allowedValues !== undefined) return `${place}: must be one of ${allowedValues.map(String).join(', ')}`;
  return `${place}: ${error.message ?? 'is not valid'}`;
}

/** `/regions/0/status` → `regions[0].status` */
function pathOf(pointer: string): string {
  if (pointer === '') return 'the document';
  const segments = pointer.slice(1).split('/');
  return segments
    .map((segment, index) => (/^\d+$/.test(segment) ? `[${segment}]` : `${index === 0 ? '' : '.'}${segment}`))
    .join('');
}
