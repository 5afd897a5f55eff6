import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configurationFor, writeFiles } from './fleet.ts';
import { git } from './processes.ts';

/** What a daemon is started with. */
export interface Checkout {
  readonly source: string;
  readonly config: string;
  readonly ledger: string;
  /** `-f`, `--config` and `--ledger`. */
  readonly flags: readonly string[];
}

/**
 * A checkout with one commit of these manifests, and the configuration beside it; the ledger is not there yet.
 * @param settings YAML of the spec of Settings.
 */
export function checkout(
  folder: string,
  manifests: ReadonlyMap<string, string>,
  platforms: Parameters<typeof configurationFor>[0],
  settings: string,
): Checkout {
  const source = join(folder, 'source');
  mkdirSync(source);
  git(source, 'init', '-q', '-b', 'main');
  writeFiles(source, manifests);
  git(source, 'add', '-A');
  git(source, 'commit', '-q', '-m', 'first');
  const config = join(folder, 'portolan.yaml');
  writeFileSync(config, configurationFor(platforms, settings));
  const ledger = join(folder, 'portolan.db');
  return { source, config, ledger, flags: ['-f', source, '--config', config, '--ledger', ledger] };
}
