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
        /** Maximum time that dependent steps wait for the application to run. */
        readonly waitMs?: number;
      }
    | {
        readonly type: 'upgrade';
        readonly name: string;
        readonly modelId: string;
        readonly modelVersion: string;
        /** The platform's name of the store, if it is known. */
        readonly marketName: string | null;
        readonly waitMs?: number;
      }
  );

export const installKey = (name: string): string => `install/${name}`;
export const installDone = (name: string): string => `install ${name}`;
