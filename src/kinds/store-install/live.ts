import type { ComponentRecord } from '../component/wire.ts';
import type { Readable } from '../../model/reading.ts';
import type { ApplicationState, DiffContext } from '../reconciled.ts';
import type { InstalledModel } from './wire.ts';
import type { ComponentBuild } from './builds.ts';
import type { StoreInstallSpec } from './spec.ts';

/** The observation of an install. A recorded install that matches its manifest costs no request. */
export interface InstallLive {
  readonly installed: Readable<readonly InstalledModel[]> | 'not-asked';
  readonly components: Readable<readonly ComponentRecord[]> | 'not-asked';
  readonly application: ApplicationState | 'not-asked';
  readonly canUpgrade: boolean;
  /** Builds of a recorded install or upgrade that may still run. */
  readonly builds: readonly ComponentBuild[];
}

/** The input of an install's diff. */
export type InstallContext = DiffContext<StoreInstallSpec, InstallLive>;

/** Returns whether a reading was requested and is available. */
export function asked<T>(answer: Readable<T> | 'not-asked'): answer is { readonly readable: true; readonly value: T } {
  return answer !== 'not-asked' && answer.readable;
}

/** Returns the number of installed copies of a model. */
export function copiesOf(live: InstallLive, modelId: string): number {
  return asked(live.installed) ? live.installed.value.filter((copy) => copy.modelId === modelId).length : 0;
}
