import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../../model/json.ts';
import { planSchemas } from '../../../plan/schema.ts';
import { arrayOf, count, nullable, objectOf, ref, text, textMap, trueOrFalse } from '../../../model/schema-words.ts';

const resource = objectOf('A manifest, checked, with its values filled in.', {
  id: { type: 'string', pattern: '^[^/]+/[^/]+$' },
  kind: text,
  name: text,
  labels: textMap,
  annotations: textMap,
  spec: { type: 'object' },
  position: objectOf('Where it stood.', { file: text, line: count, column: count }),
});

const allowed = objectOf('What it was made with.', {
  prune: trueOrFalse,
  adopt: { anyOf: [{ type: 'string', const: 'all' }, arrayOf(text)] },
  targets: nullable(arrayOf(text)),
  maxShare: nullable({ type: 'number', minimum: 0, maximum: 1 }),
  maxPrunes: nullable(count),
  allowEmpty: trueOrFalse,
  allowShrunk: trueOrFalse,
  allowRewind: trueOrFalse,
  'firstInstall?': arrayOf(text),
});

const savedPlan = objectOf('A plan in a file.', {
  format: text,
  formatVersion: count,
  savedMs: count,
  savedBy: text,
  plan: ref('Plan'),
  desired: arrayOf(resource),
  commit: nullable(objectOf('Of the manifests.', { id: text, name: text })),
  basis: nullable(
    objectOf('What was applied before.', {
      snapshot: text,
      commit: text,
      descent: nullable({ type: 'string', enum: ['descends', 'does-not-descend', 'unknown'] }),
    }),
  ),
  ledger: nullable(objectOf('The durable memory.', { lineage: text })),
  platforms: arrayOf(objectOf('A platform.', { name: text, url: text })),
  stores: arrayOf(objectOf('A store.', { name: text, url: text, domain: text, type: text })),
  allowed,
  command: arrayOf(text),
});

/** Whether a value has every part of a saved plan, and nothing else: whoever wrote it, nothing in it surprises. */
export function isSavedPlan(value: unknown): boolean {
  const ajv = new Ajv2020({ strict: true, keywords: ['components'], validateSchema: false });
  const schema: JsonObject = { ...savedPlan, components: { schemas: planSchemas } };
  return ajv.validate(schema, value);
}
