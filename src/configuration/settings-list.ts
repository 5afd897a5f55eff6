import type { JsonObject } from '../model/json.ts';

/** One value of an operator's document, by its path: `spec.prune.maxShare`. */
export interface SettingField {
  readonly path: readonly string[];
  readonly schema: JsonObject;
  /** Whether it is a member of a reference to a secret (`env`, `file`): one of these replaces the other. */
  readonly isOfSecret: boolean;
}

/** Returns every value that a schema of `spec` allows. A list or a map with free keys is one value. */
export function settingFields(specSchema: JsonObject): readonly SettingField[] {
  return fieldsOf(specSchema, ['spec'], false);
}

function fieldsOf(schema: JsonObject, path: readonly string[], isOfSecret: boolean): readonly SettingField[] {
  const properties = schema['properties'] as Readonly<Record<string, JsonObject>> | undefined;
  if (schema['type'] !== 'object' || properties === undefined) return [{ path, schema, isOfSecret }];
  const isSecret = schema['x-secret'] === 'reference';
  return Object.entries(properties).flatMap(([name, field]) => fieldsOf(field, [...path, name], isSecret));
}

/** Returns the spelling of a variable: `controller.resyncInterval` → `CONTROLLER_RESYNC_INTERVAL`. */
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
