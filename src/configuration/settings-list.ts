import type { JsonObject } from '../model/json.ts';

/** One value that an operator's document may say, by its path in the document: `spec.prune.maxShare`. */
export interface SettingField {
  readonly path: readonly string[];
  readonly schema: JsonObject;
  /** The reference that it is a part of (`env`, `file`): one of these replaces the other. */
  readonly isOfSecret: boolean;
}

/** Every value that a schema of `spec` has a place for; lists and free maps are one value each. */
export function settingFields(specSchema: JsonObject): readonly SettingField[] {
  return fieldsOf(specSchema, ['spec'], false);
}

function fieldsOf(schema: JsonObject, path: readonly string[], isOfSecret: boolean): readonly SettingField[] {
  const properties = schema['properties'] as Readonly<Record<string, JsonObject>> | undefined;
  if (schema['type'] !== 'object' || properties === undefined) return [{ path, schema, isOfSecret }];
  const isSecret = schema['x-secret'] === 'reference';
  return Object.entries(properties).flatMap(([name, field]) => fieldsOf(field, [...path, name], isSecret));
}

/** `controller.resyncInterval` → `CONTROLLER_RESYNC_INTERVAL`: how a variable spells it. */
export function variableWords(words: readonly string[]): string {
  return words
    .map((word) =>
      word
        .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
        .replace(/[^A-Za-z0-9]+/g, '_')
        .toUpperCase(),
    )
    .join('_');
}
