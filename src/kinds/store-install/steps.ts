import type { Step } from '../reconciled.ts';

export type InstallStep = Step &
  (
    | {
        readonly type: 'install';
        readonly name: string;
        readonly store: string;
        readonly modelId: string;
        readonly modelVersion: string;
        readonly build: boolean;
        /** Its dependants wait until the application runs, at most this long. */
        readonly waitMs?: number;
      }
    | {
        readonly type: 'upgrade';
        readonly name: string;
        readonly modelId: string;
        readonly modelVersion: string;
        /** The store as the platform names it, where it says so. */
        readonly marketName: string | null;
        readonly waitMs?: number;
      }
  );

export const installKey = (name: string): string => `install/${name}`;
export const installDone = (name: string): string => `install ${name}`;
