import { sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { WatchPlan } from './watch-plan.ts';

export interface Watcher {
  /** Stops watching, and resolves when that is done. */
  close(): Promise<void>;
}

export interface WatchListener {
  /** Called when something may have changed, and once when watching has begun. */
  changed(): void;
  /** Called when the watcher misses changes. */
  failed(error: Error): void;
}

/** Watches a part of the disk. Events are hints: some come late, some twice, some never. */
export type Watch = (plan: WatchPlan, listener: WatchListener) => Watcher;

/** Watches files with the means of the operating system. */
export const watchFiles: Watch = (plan, { changed, failed }) => {
  let watcher: FSWatcher | undefined = watch([...plan.folders], {
    ignored: (path) => !isRelevant(path, plan),
    ignoreInitial: true,
    followSymlinks: false,
    // Git replaces a ref by renaming. The event must not be delayed to wait for more.
    atomic: false,
    ignorePermissionErrors: true,
  });
  let hasFailed = false;
  watcher.on('all', changed);
  watcher.on('ready', changed);
  watcher.on('error', (error) => {
    if (!hasFailed) failed(error instanceof Error ? error : new Error(String(error)));
    hasFailed = true;
  });
  return {
    async close() {
      const open = watcher;
      watcher = undefined;
      await open?.close();
    },
  };
};

function isRelevant(path: string, { folders, names, trees, isPlain }: WatchPlan): boolean {
  if (names.includes(path) || folders.includes(path)) return true;
  const tree = trees.find((one) => path.startsWith(`${one}${sep}`));
  if (tree === undefined) return false;
  if (!isPlain) return !path.endsWith('.lock');
  return !path.slice(tree.length).split(sep).some(isHidden);
}

/** Returns whether a name is hidden. `..data` is not: a mounted ConfigMap switches that link, and changes nothing else. */
function isHidden(name: string): boolean {
  return name.startsWith('.') && name !== '..data';
}
