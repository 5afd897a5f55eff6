import type { EmptyFlags } from './empty-input.ts';
import type { OutputOptions } from './outputs.ts';
import type { ServerFlags } from '../server/options.ts';
import type { SessionOptions } from './session.ts';

/** Options of `plan`, here and on a server. */
export interface PlanOptions extends SessionOptions, OutputOptions, EmptyFlags, ServerFlags {
  readonly detailedExitcode?: boolean | undefined;
  /** Digest of the one plan that is expected. */
  readonly expect?: string | undefined;
  readonly save?: string | undefined;
}
