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
  const { kinds, ledgerOf, clock, source, limits, isDaemon } = parts;
  const inTurn = oneAfterAnother();
  const keyOf = (platform: string): string => `budget ${source} ${platform}`;

  // Each method uses one ledger for all that it reads and writes: with the next one, after this process has lost and regained the platform,
  // a write would take back what another process has spent meanwhile.
  async function read(ledger: Ledger, platform: string): Promise<BudgetState> {
    const text = await ledger.fact(keyOf(platform));
    const state = text === undefined ? NOTHING_SPENT_YET : (JSON.parse(text) as BudgetState);
    return onward(state, clock);
  }

  async function write(ledger: Ledger, platform: string, state: BudgetState, lines: readonly LedgerOperation[] = []) {
    const fact = { op: 'set-fact', key: keyOf(platform), value: canonicalJson(state) } as const;
    await recordOfSource({ ...parts, ledger }, [fact, ...lines]);
  }

  async function judge(ledger: Ledger, platform: string, state: BudgetState, expenses: readonly Expense[]) {
    const all = await ledger.objects({ source });
    const owned = all.filter((row) => row.platform === platform && row.state !== 'gone');
    return guardBudget(expenses, { source, platform, state, sizes: sizesOf(kinds, owned), isDaemon }, limits());
  }

  return {
    /** Whether there is room for all of these together; nothing is spent. */
    check: async (platform: string, expenses: readonly Expense[]): Promise<readonly Refusal[]> => {
      if (expenses.length === 0) return [];
      const ledger = ledgerOf(platform);
      return judge(ledger, platform, await read(ledger, platform), expenses);
    },
    /** Spends, durably. @param by commit, for people. @param isForced whether there is room or not. */
    spend: (platform: string, expenses: readonly Expense[], by: string, isForced: boolean) =>
      inTurn(async (): Promise<readonly Refusal[]> => {
        if (expenses.length === 0) return [];
        const ledger = ledgerOf(platform);
        const state = await read(ledger, platform);
        const refusals = await judge(ledger, platform, state, expenses);
        if (refusals.length > 0 && !isForced) {
          // From now on the time is measured, after a restart of the machine too.
          await write(ledger, platform, state);
          return refusals;
        }
        const more = expenses.map((expense) => ({ ...expense, atMs: state.observedMs, by }));
        const detail = { platform, objects: expenses.length, by };
        const lines: LedgerOperation[] =
          refusals.length === 0 ? [] : [{ op: 'record', event: 'budget-overridden', detail }];
        await write(ledger, platform, { ...state, spent: [...state.spent, ...more] }, lines);
        return [];
      }),
    /** Writes down how much time has passed: a restart of the machine forgets what is not. */
    recordTime: (platform: string) =>
      inTurn(async () => {
        const ledger = ledgerOf(platform);
        const state = await read(ledger, platform);
        if (state.spent.length > 0) await write(ledger, platform, state);
      }),
    /** Gives back what was spent and not used. */
    giveBack: (platform: string, objects: readonly string[], by: string) =>
      inTurn(async () => {
        if (objects.length === 0) return;
        const ledger = ledgerOf(platform);
        const state = await read(ledger, platform);
        await write(ledger, platform, { ...state, spent: spentWithout(state.spent, new Set(objects), by) });
      }),
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
