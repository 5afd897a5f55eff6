import type { ComponentRecord } from '../component/wire.ts';
import type { Readable } from '../../model/reading.ts';
import type { ApplicationState, DiffContext } from '../reconciled.ts';
import type { InstalledModel } from './wire.ts';
import type { ComponentBuild } from './builds.ts';
import type { StoreInstallSpec } from './spec.ts';

/** Read only where something may have to be done: an install on record that wants nothing costs no request. */
export interface InstallLive {
  readonly installed: Readable<readonly InstalledModel[]> | 'not-asked';
  readonly components: Readable<readonly ComponentRecord[]> | 'not-asked';
  readonly application: ApplicationState | 'not-asked';
  readonly canUpgrade: boolean;
  /** Of an install or upgrade of ours that may still build. */
  readonly builds: readonly ComponentBuild[];
}

/** What the diff of an install looks at. */
export type InstallContext = DiffContext<StoreInstallSpec, InstallLive>;

/** An answer that was asked for, and that the server could give. */
export function asked<T>(answer: Readable<T> | 'not-asked'): answer is { readonly readable: true; readonly value: T } {
  return answer !== 'not-asked' && answer.readable;
}

/** How often the server says that the model is installed. */
export function copiesOf(live: InstallLive, modelId: string): number {
  return asked(live.installed) ? live.installed.value.filter((copy) => copy.modelId === modelId).length : 0;
}
