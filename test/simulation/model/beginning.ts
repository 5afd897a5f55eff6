import type { MemoryStore } from '../../support/memory-ledger.ts';
import type { SandboxState } from '../../../src/sandbox/state.ts';
import type { Books } from '../books.ts';
import type { AppName } from '../drivers/estate.ts';
import type { Permissions } from '../drivers/permissions.ts';
import type { Sends } from '../drivers/sends.ts';
import type { Effects } from './effects.ts';
import type { Role, Scenario } from './scenario.ts';

export interface ModelSettings {
  readonly scenario: Scenario;
  readonly pair: readonly [Role, Role];
  /** Crashes and lost answers, together. */
  readonly faults: number;
  /** undefined: nobody was there before. */
  readonly from: Beginning | undefined;
  readonly tracing: boolean;
}

/** All that there is while nobody is at work: a controller begins from it. */
export interface Beginning {
  readonly store: MemoryStore;
  readonly platform: SandboxState;
  readonly ids: number;
  readonly books: Books;
  readonly permissions: Permissions;
  readonly sends: Sends;
  readonly roles: readonly Role[];
  readonly late: readonly { readonly at: number; readonly untilMs: number }[];
  readonly nowMs: number;
  readonly movedMs: number;
  readonly approved: ReadonlyMap<AppName, string>;
  readonly commits: number;
  readonly approvalsLeft: number;
  readonly hasOvertaken: boolean;
  readonly effects: Effects;
}
