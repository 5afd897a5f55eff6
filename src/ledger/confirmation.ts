import type { Ledger, LedgerOperation } from './ledger.ts';
import type { ScopeKey } from '../model/ids.ts';
import type { Clock } from '../runtime/clock.ts';

/**
 * After a restore the platform may hold installs that the ledger forgot. So a restored ledger remembers the epoch it was
 * restored at, and every scope waits with installs until a person has confirmed it at that epoch or later.
 */
export const restoredFact = 'ledger/restored';
const confirmedFact = (scope: ScopeKey) => `ledger/confirmed/${scope}`;

/** Records in a ledger that was just restored, in every scope, that it was. @param backup path of the file. */
export async function recordRestored(
  ledger: Ledger,
  backup: string,
  { actor, clock }: { readonly actor: string; readonly clock: Pick<Clock, 'now'> },
): Promise<void> {
  const detail = { backup, epoch: ledger.epoch };
  for (const scope of await ledger.scopes()) {
    const record = { op: 'record', event: 'ledger.restored', detail } as const;
    await ledger.commit({ scope, actor, atMs: clock.now(), operations: [record] });
  }
  await ledger.commit({ scope: '-', actor, atMs: clock.now(), operations: [awaitConfirmations(ledger.epoch)] });
}

/** To be committed when the ledger may lack installs: those of every scope wait until a person has confirmed it. */
export function awaitConfirmations(epoch: number): LedgerOperation {
  return { op: 'set-fact', key: restoredFact, value: String(epoch) };
}

/** To be committed, with a `record` of who said so, when a person confirms that a scope's installs are as the ledger has them. */
export function confirmScope(scope: ScopeKey, epoch: number): LedgerOperation {
  return { op: 'set-fact', key: confirmedFact(scope), value: String(epoch) };
}

/** Whether installs and upgrades in the scope must wait for `portolan ledger confirm SCOPE`. */
export async function awaitsConfirmation(ledger: Ledger, scope: ScopeKey): Promise<boolean> {
  const restored = await ledger.fact(restoredFact);
  if (restored === undefined) return false;
  return Number((await ledger.fact(confirmedFact(scope))) ?? 0) < Number(restored);
}

const totalFact = (scope: ScopeKey) => `ledger/components/${scope}`;
const besidesFact = (scope: ScopeKey) => `ledger/besides/${scope}`;

/** Facts about an application that the ledger keeps since its last install there. */
export interface KnownSince {
  /** Number of components right after the install. */
  readonly total?: number;
  /** Describes components that appeared during the install: another ledger, or a person, may have installed too. */
  readonly besides?: string;
}

/** To be committed with the outcome of an install. */
export function rememberSince(scope: ScopeKey, { total, besides }: KnownSince): LedgerOperation[] {
  return [
    ...(total === undefined ? [] : [{ op: 'set-fact', key: totalFact(scope), value: String(total) } as const]),
    ...(besides === undefined ? [] : [{ op: 'set-fact', key: besidesFact(scope), value: besides } as const]),
  ];
}

/** To be committed when a person has looked at the application. */
export function forgetSince(scope: ScopeKey): LedgerOperation[] {
  return [
    { op: 'set-fact', key: totalFact(scope), value: '' },
    { op: 'set-fact', key: besidesFact(scope), value: '' },
  ];
}

export async function knownSince(ledger: Pick<Ledger, 'fact'>, scope: ScopeKey): Promise<KnownSince> {
  const total = (await ledger.fact(totalFact(scope))) ?? '';
  const besides = (await ledger.fact(besidesFact(scope))) ?? '';
  return { ...(total === '' ? {} : { total: Number(total) }), ...(besides === '' ? {} : { besides }) };
}
