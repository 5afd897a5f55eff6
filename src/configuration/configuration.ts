import type { Declarations, Foresight } from '../kinds/kind.ts';
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

/** The operator's configuration with its defaults. Secrets in it are references that are not read yet. */
export interface Configuration {
  readonly platforms: ReadonlyMap<string, PlatformSettings>;
  readonly stores: ReadonlyMap<string, StoreSpec>;
  readonly settings: Settings;
}

/** Returns the settings for a file without a document of `kind: Settings`. */
export function defaultSettings(): Settings {
  const document = { apiVersion: API_VERSION, kind: 'Settings', spec: {} };
  validateDocument(settingsDeclaration, document);
  return load(settingsSchema, document.spec as SettingsSpec);
}

/**
 * Reads the operator's configuration file. Variables `${NAME}` are not replaced in it, and its secrets are references. Pure,
 * and never throws.
 * @param kinds all kinds, so that a message about a manifest in the file can name its kind.
 * @param overrides values of flags and variables that replace those of the file. The same rules apply to them.
 * @returns the configuration, which has the defaults without platforms and stores if there is a problem.
 */
export function loadConfiguration(
  kinds: Declarations,
  content: string | Uint8Array,
  file: string,
  overrides: readonly Override[] = [],
): { readonly configuration: Configuration; readonly problems: readonly Problem[] } {
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

/** Returns the facts that decide what a plan refuses. */
export function foresightOf({ platforms, settings }: Configuration): Foresight {
  return {
    allowedScopes: settings.scopes.allow,
    isDocumented: (platform) => platforms.get(platform)?.dialect === 'documented',
  };
}

/** Returns the names that manifests may refer to. */
export function operatorNames({ platforms, stores }: Configuration): OperatorNames {
  return { platforms: new Set(platforms.keys()), stores: new Set(stores.keys()) };
}
