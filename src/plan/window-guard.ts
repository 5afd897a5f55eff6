import type { Scope } from '../model/ids.ts';
import type { ScopePlan } from '../model/plan.ts';
import type { EpochMs } from '../model/time.ts';
import type { Refusal } from './refusal.ts';

/** Whether an application may be changed. */
export type WindowState =
  | { readonly type: 'open' }
  | {
      readonly type: 'closed';
      /** `denied`: a deny window lasts. `not-allowed`: no allow window lasts, `window` is the one that comes next. */
      readonly why: 'denied' | 'not-allowed';
      readonly window: string;
      /** When it may be changed again; null: not in any time that is worth waiting for. */
      readonly untilMs: EpochMs | null;
    };

/** The operator's windows, as a command has them: the daemon waits in place of refusing. */
export interface Windows {
  at(scope: Scope, labels: Readonly<Record<string, string>>): WindowState;
  /** Why a person goes on outside of them; undefined: nobody does. */
  readonly ignoredBecause: string | undefined;
}

/** Returns the window that keeps an application from being changed now; undefined: none does, or they are ignored. */
export function closedWindow(
  windows: Windows | undefined,
  scope: Scope,
  labels: Readonly<Record<string, string>>,
): Extract<WindowState, { type: 'closed' }> | undefined {
  const state = windows?.ignoredBecause === undefined ? windows?.at(scope, labels) : undefined;
  return state?.type === 'closed' ? state : undefined;
}

/** Looking is always allowed: only what would be changed is refused. */
export function guardWindow(
  plan: Pick<ScopePlan, 'application' | 'actions' | 'deferred'>,
  state: WindowState,
): Refusal | undefined {
  if (state.type === 'open' || plan.actions.length + plan.deferred.length === 0) return undefined;
  const why = {
    denied: `the window "${state.window}" keeps ${plan.application} from being changed`,
    'not-allowed': `${plan.application} is changed only within its windows, of which "${state.window}" comes next`,
  }[state.why];
  const until = state.untilMs === null ? '' : `, until ${new Date(state.untilMs).toISOString()}`;
  return {
    code: 'guard/window',
    message: `${why}${until}; nothing was sent`,
    override: '--ignore-windows --reason "…"',
  };
}
