import type { Readable } from '../kinds/reconciled.ts';
import type { RuleRecord } from '../model/observed.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { AppAddress } from '../platform/writes.ts';

/**
 * The rules, with those of ours that the listing lacks and the platform still has: an empty or old listing is no proof
 * that a rule is gone, and the ledger must not let go of it. Each is asked for by its id, which is rare.
 * @param withdrawn what git no longer names.
 */
export async function confirmedRules(
  client: PlatformClient,
  app: AppAddress,
  rules: Readable<readonly RuleRecord[]>,
  withdrawn: readonly OwnedObject[],
): Promise<Readable<readonly RuleRecord[]>> {
  if (!rules.readable) return rules;
  const listed = new Set(rules.value.map((rule) => rule.ruleId));
  const missing = withdrawn.flatMap(({ origin, remoteId }) =>
    origin === 'observed' || remoteId === null || listed.has(remoteId) ? [] : [remoteId],
  );
  const found = await Promise.all(missing.map((ruleId) => client.rule(app, ruleId)));
  const present = found.flatMap((answer) => (answer.readable && answer.value !== undefined ? [answer.value] : []));
  return { readable: true, value: [...rules.value, ...present] };
}
