import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { DriverMutant } from './mutants.ts';

/** From now on this process loads one file of production with one piece replaced. */
export function loadMutated({
  name,
  file,
  find,
  replace,
}: Pick<DriverMutant, 'name' | 'file' | 'find' | 'replace'>): void {
  const changed = new URL(`../../../src/${file}`, import.meta.url);
  const parts = readFileSync(changed, 'utf8').split(find);
  if (parts.length !== 2) throw new Error(`${name}: found ${parts.length - 1} times in ${file}`);
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      return url === changed.href ? { ...loaded, source: parts.join(replace) } : loaded;
    },
  });
}
