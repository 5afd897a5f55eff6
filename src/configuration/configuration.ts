import type { Declarations } from '../kinds/kind.ts';
import { settingsDeclaration } from './settings/declaration.ts';
import { load } from './loaded.ts';
import { type PlatformSettings, type PlatformSpec, platformSchema } from './platform/spec.ts';
import { API_VERSION } from '../kinds/schema.ts';
import { type Settings, type SettingsSpec, settingsSchema } from './settings/spec.ts';
import type { StoreSpec } from './store/spec.ts';
import type { Problem } from '../model/problem.ts';
import { sortProblems } from '../manifest/fault.ts';
import { FileCache } from '../manifest/file-cache.ts';
import { readFile } from '../manifest/file.ts';
import { combine } from '../manifest/load.ts';
import { type Override, Overriding } from './overrides.ts';
import type { OperatorNames } from '../manifest/relations.ts';
import { validateDocument } from '../manifest/validate.ts';

/** The operator's configuration file, defaults filled in. Secrets in it are references, not yet read. */
export interface Configuration {
  readonly platforms: ReadonlyMap<string, PlatformSettings>;
  readonly stores: ReadonlyMap<string, StoreSpec>;
  readonly settings: Settings;
}

export interface LoadedConfiguration {
  /** Everything at its default and nothing named as soon as there is one problem. */
  readonly configuration: Configuration;
  readonly problems: readonly Problem[];
}

/** The settings of a file that has no `kind: Settings`. */
export function defaultSettings(): Settings {
  const document = { apiVersion: API_VERSION, kind: 'Settings', spec: {} };
  validateDocument(settingsDeclaration, document);
  return load(settingsSchema, document.spec as SettingsSpec);
}

/**
 * Reads the operator's configuration file. `${NAME}` means nothing in it: values come from the file, secrets from
 * where its references say. Pure, and never throws.
 * @param kinds all kinds, so that a manifest in the file is called by its name.
 * @param overrides what flags and variables say in place of the file; it is held to the same rules.
 */
export function loadConfiguration(
  kinds: Declarations,
  content: string | Uint8Array,
  file: string,
  overrides: readonly Override[] = [],
): LoadedConfiguration {
  const overriding = new Overriding(overrides);
  const reading = readFile(content, { trust: 'operator', kinds }, (documents) => overriding.amend(documents));
  const { set, problems } = combine([{ path: file, content }], [reading], {
    kinds,
    trust: 'operator',
    cache: new FileCache(),
  });
  if (problems.length > 0) {
    const configuration = { platforms: new Map(), stores: new Map(), settings: defaultSettings() };
    return { configuration, problems: sortProblems(problems.map((problem) => overriding.place(problem))) };
  }
  const platforms = new Map<string, PlatformSettings>();
  const stores = new Map<string, StoreSpec>();
  let settings: Settings | undefined;
  for (const { kind, name, spec } of set.values()) {
    if (kind === 'Platform') platforms.set(name, load(platformSchema, spec as PlatformSpec));
    if (kind === 'Store') stores.set(name, spec as StoreSpec);
    if (kind === 'Settings') settings = load(settingsSchema, spec as SettingsSpec);
  }
  return { configuration: { platforms, stores, settings: settings ?? defaultSettings() }, problems: [] };
}

/** What manifests may refer to. */
export function operatorNames({ platforms, stores }: Configuration): OperatorNames {
  return { platforms: new Set(platforms.keys()), stores: new Set(stores.keys()) };
}
