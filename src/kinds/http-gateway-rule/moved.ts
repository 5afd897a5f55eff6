import type { Resolution, ResolveContext } from '../reconciled.ts';
import { hiddenFields } from './asserted.ts';
import { PROTOCOL_UNRECORDED } from './identity.ts';
import { ruleKey, type RuleStep } from './steps.ts';

/**
 * An update in doubt. Repeating it does no harm, so there is nothing to decide, with one exception: where it gave the rule
 * another address and the platform shows that address, the row follows. Otherwise, once git no longer names the rule, the
 * move would look like somebody else's, and the rule would stay for ever.
 */
export async function resolveUpdate(
  { ruleId, rule: sent, asserted }: Extract<RuleStep, { type: 'update' }>,
  { reader, memory, intent }: ResolveContext,
): Promise<Resolution> {
  const prior = memory.objects.find((object) => object.uid === intent.uid);
  const key = ruleKey(sent);
  const isMove = prior?.remoteId === ruleId && prior.origin !== 'observed' && prior.naturalKey !== key;
  if (!isMove || memory.objects.some(({ naturalKey }) => naturalKey === key)) return comparedAgain;
  const rules = await reader.rules();
  const present = rules.readable ? rules.value.find((rule) => rule.ruleId === ruleId) : undefined;
  if (present === undefined || ruleKey(present) !== key) return comparedAgain;
  const { naturalKey, remoteId, remoteAux, origin, state, lastApplied, obligation } = prior;
  const { [PROTOCOL_UNRECORDED]: _unrecorded, ...aux } = remoteAux;
  const hidden = hiddenFields(asserted);
  const shown = Object.entries(asserted).filter(([name]) => hidden[name] === undefined);
  return {
    type: 'applied',
    recording: {
      naturalKey: key,
      replaces: naturalKey,
      remoteId,
      remoteAux: { ...aux, serviceId: sent.serviceId },
      origin,
      state,
      // Of what no answer shows, nothing proves that it was taken: it keeps what was applied before.
      lastApplied: { ...lastApplied, ...Object.fromEntries(shown) },
      obligation,
    },
    evidence: `rule ${ruleId} has the address that was sent`,
  };
}

/** What is said of a write that may be repeated. */
export const comparedAgain: Resolution = {
  type: 'superseded',
  evidence: 'a repetition does no harm; the rules are read and compared again',
};
