import { sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { WatchPlan } from './watch-plan.ts';

export interface Watcher {
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

export interface WatchListener {
  /** Something may have changed; also said once, when listening has begun. */
  changed(): void;
  /** It does not hear everything, or nothing. */
  failed(error: Error): void;
}

/** Listens at a part of the disk. Events are hints: some come late, some twice, some never. */
export type Watch = (plan: WatchPlan, listener: WatchListener) => Watcher;

/** By the system's own means. */
export const watchFiles: Watch = (plan, { changed, failed }) => {
  let watcher: FSWatcher | undefined = watch([...plan.folders], {
    ignored: (path) => !matters(path, plan),
    ignoreInitial: true,
    followSymlinks: false,
    // Git replaces a ref by renaming: what comes with that must not wait for more of it.
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

function matters(path: string, { folders, names, trees, isPlain }: WatchPlan): boolean {
  if (names.includes(path) || folders.includes(path)) return true;
  const tree = trees.find((one) => path.startsWith(`${one}${sep}`));
  if (tree === undefined) return false;
  if (!isPlain) return !path.endsWith('.lock');
  return !path.slice(tree.length).split(sep).some(isHidden);
}

/** A mounted ConfigMap flips its link `..data`, and nothing else of it changes. */
function isHidden(name: string): boolean {
  return name.startsWith('.') && name !== '..data';
}
