import { YAMLMap } from 'yaml';
import { settingsDeclaration } from './settings/declaration.ts';
import { loadedValue } from './loaded.ts';
import { type SettingField } from './settings-list.ts';
import type { JsonObject } from '../model/json.ts';
import type { Position } from '../model/problem.ts';
import type { Configuration } from './configuration.ts';
import { parseDocuments } from '../manifest/documents.ts';
import { FileText } from '../manifest/fault.ts';
import { locate, spanOfPlace } from '../manifest/locate.ts';
import {
  isMeant,
  type Override,
  Overriding,
  textAt,
  settingName,
  settingsOfKind,
  settingVariable,
} from './overrides.ts';
import { formatPath } from '../manifest/paths.ts';
import { decode } from '../manifest/text.ts';

/** The origin of the value of a setting. `absent`: it is not set and has no default. */
export type Origin =
  | { readonly type: 'option'; readonly option: string }
  | { readonly type: 'file'; readonly position: Position }
  | { readonly type: 'default' }
  | { readonly type: 'absent' };

/** One setting of the operator's configuration with its effective value. */
export interface SettingInForce {
  readonly kind: string;
  /** `metadata.name` of its document. */
  readonly document: string;
  /** The path without `spec.`: `prune.maxShare`. */
  readonly name: string;
  /** The environment variable that sets it. */
  readonly variable: string;
  /** undefined: it has no value. */
  readonly value: unknown;
  readonly origin: Origin;
  readonly schema: JsonObject;
}

/**
 * Returns every setting of a valid configuration with the origin of its value. The reference to a secret has only the
 * members that are set.
 */
export function settingsInForce(
  configuration: Configuration,
  source: { readonly file: string; readonly content: string | Uint8Array; readonly overrides: readonly Override[] },
): readonly SettingInForce[] {
  const origins = originsIn(source);
  const documents: readonly (readonly [kind: string, name: string, spec: unknown])[] = [
    ['Settings', origins.nameOfSettings(), configuration.settings],
    ...[...configuration.platforms].map(([name, spec]) => ['Platform', name, spec] as const),
    ...[...configuration.stores].map(([name, spec]) => ['Store', name, spec] as const),
  ];
  return documents.flatMap(([kind, document, spec]) =>
    [...settingsOfKind(kind).values()].flatMap((field) => {
      const value = loadedValue(spec, field.path.slice(1), field.schema);
      if (value === undefined && field.isOfSecret) return [];
      return {
        kind,
        document,
        name: settingName(field),
        variable: settingVariable(kind, document, field),
        value,
        origin: value === undefined ? ({ type: 'absent' } as const) : origins.of(kind, document, field),
        schema: field.schema,
      };
    }),
  );
}

/** Finds the origins of values in the nodes of the file with its overrides. */
function originsIn({ file, content, overrides }: Parameters<typeof settingsInForce>[1]) {
  const text = new FileText(file, decode(content).text ?? '');
  const overriding = new Overriding(overrides);
  const documents = overriding.amend(parseDocuments(text.text).documents);
  return {
    nameOfSettings(): string {
      const document = documents.find(({ contents }) => textAt(contents, ['kind']) === 'Settings');
      const fallback = settingsDeclaration.defaultName ?? 'default';
      return textAt(document?.contents, ['metadata', 'name']) ?? fallback;
    },
    of(kind: string, name: string, { path }: SettingField): Origin {
      const meant = { kind, name: kind === 'Settings' ? undefined : { exact: name } };
      const { place, complete } = locate(documents.find((document) => isMeant(document, meant))?.contents, path);
      if (!complete || place.value instanceof YAMLMap) return { type: 'default' };
      const cause = overriding.cause(`${kind}/${name}`, formatPath(path));
      if (cause !== undefined && formatPath(cause.field.path) === formatPath(path))
        return { type: 'option', option: cause.origin };
      return { type: 'file', position: text.position(spanOfPlace(place).offset) };
    },
  };
}
