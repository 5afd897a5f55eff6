import type { ReconciledKinds } from '../kinds/define.ts';
import type { Ledger, LedgerOperation } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { type Scope, scopeKey } from '../model/ids.ts';
import { canonicalJson } from '../model/json.ts';
import {
  BUDGET_MS,
  type BudgetLimits,
  type BudgetState,
  type Expense,
  guardBudget,
  NOTHING_SPENT_YET,
  sizesOf,
} from '../plan/budget.ts';
import type { Refusal } from '../model/plan-document.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Outcome, sentOf } from './outcome.ts';

interface BudgetParts extends Omit<SourceLedger, 'ledger'> {
  readonly kinds: ReconciledKinds;
  /** Returns the ledger for the records of a platform. @throws PortolanError when this process may not write them. */
  ledgerOf(platform: string): Ledger;
  limits(): BudgetLimits;
  readonly isDaemon: boolean;
}

/**
 * Limits what a source may remove on each platform in a day of observed time, over all its commits. It is kept in the
 * ledger, so neither a restart nor another name for an application fills it again.
 */
export type RemovalBudget = ReturnType<typeof createRemovalBudget>;

export function createRemovalBudget(parts: BudgetParts) {
  const inTurn = oneAfterAnother();

  return {
    /** Whether there is room for all of these together; nothing is spent. */
    check: async (platform: string, expenses: readonly Expense[]): Promise<readonly Refusal[]> => {
      if (expenses.length === 0) return [];
      const account = accountOf(parts, platform);
      return account.judge(await account.read(), expenses);
    },
    /** Spends, durably. @param by commit, for people. @param isForced whether there is room or not. */
    spend: (platform: string, expenses: readonly Expense[], by: string, isForced: boolean) =>
      inTurn(async (): Promise<readonly Refusal[]> => {
        if (expenses.length === 0) return [];
        const account = accountOf(parts, platform);
        const state = await account.read();
        const refusals = await account.judge(state, expenses);
        if (refusals.length > 0 && !isForced) {
          // From now on the time is measured, after a restart of the machine too.
          await account.write(state);
          return refusals;
        }
        const more = expenses.map((expense) => ({ ...expense, atMs: state.observedMs, by }));
        const detail = { platform, objects: expenses.length, by };
        const lines: LedgerOperation[] =
          refusals.length === 0 ? [] : [{ op: 'record', event: 'budget-overridden', detail }];
        await account.write({ ...state, spent: [...state.spent, ...more] }, lines);
        return [];
      }),
    /** Writes down how much time has passed: a restart of the machine forgets what is not. */
    recordTime: (platform: string) =>
      inTurn(async () => {
        const account = accountOf(parts, platform);
        const state = await account.read();
        if (state.spent.length > 0) await account.write(state);
      }),
    /** Gives back what was spent and not used. */
    giveBack: (platform: string, objects: readonly string[], by: string) =>
      inTurn(async () => {
        if (objects.length === 0) return;
        const account = accountOf(parts, platform);
        const state = await account.read();
        await account.write({ ...state, spent: spentWithout(state.spent, new Set(objects), by) });
      }),
  };
}

/**
 * Returns what reads and writes the budget of a platform, all by one ledger: with the next one, after this process has lost and regained the
 * platform, a write would take back what another process has spent meanwhile.
 */
function accountOf(parts: BudgetParts, platform: string) {
  const { kinds, clock, source, limits, isDaemon } = parts;
  const ledger = parts.ledgerOf(platform);
  const key = `budget ${source} ${platform}`;
  return {
    async read(): Promise<BudgetState> {
      const text = await ledger.fact(key);
      const state = text === undefined ? NOTHING_SPENT_YET : (JSON.parse(text) as BudgetState);
      return onward(state, clock);
    },
    async write(state: BudgetState, lines: readonly LedgerOperation[] = []): Promise<void> {
      const fact = { op: 'set-fact', key, value: canonicalJson(state) } as const;
      await recordOfSource({ ...parts, ledger }, [fact, ...lines]);
    },
    async judge(state: BudgetState, expenses: readonly Expense[]): Promise<readonly Refusal[]> {
      const all = await ledger.objects({ source });
      const owned = all.filter((row) => row.platform === platform && row.state !== 'gone');
      return guardBudget(expenses, { source, platform, state, sizes: sizesOf(kinds, owned), isDaemon }, limits());
    },
  };
}

/** Each object once, and the last one first: what an earlier plan has spent stays spent. */
function spentWithout(spent: BudgetState['spent'], left: Set<string>, by: string): BudgetState['spent'] {
  return spent
    .toReversed()
    .filter((one) => !(one.by === by && left.delete(one.object)))
    .toReversed();
}

/** Several applications ask at once. */
function oneAfterAnother(): <T>(work: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  };
}

/** Objects of what was spent that nothing was sent for. */
export function unusedOf(expenses: readonly Expense[], outcome: Outcome, scope: Scope): readonly string[] {
  const touched = sentOf(outcome).flatMap(({ object, takesAlong = [] }) => [object, ...takesAlong]);
  const used = new Set(touched.map((natural) => `${scopeKey(scope)} ${natural}`));
  return expenses.flatMap(({ object }) => (used.has(object) ? [] : [object]));
}

/** Returns the state as of now. Time counts while the machine is up, whatever its wall clock says. */
function onward(state: BudgetState, clock: Clock): BudgetState {
  const { boot, uptimeMs } = clock.sinceBoot();
  const passedMs = boot !== '' && boot === state.boot ? Math.max(0, uptimeMs - state.uptimeMs) : 0;
  const observedMs = state.observedMs + passedMs;
  const spent = state.spent.filter(({ atMs }) => observedMs - atMs < BUDGET_MS);
  return { observedMs, boot, uptimeMs, spent };
}
