import { reconciledKinds } from '../../src/kinds/registry.ts';
import { confirmInstalls, retryObjects } from '../../src/reconcile/resolution/manual-changes.ts';
import { type Decision, resolveManually } from '../../src/reconcile/resolution/manual-resolution.ts';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { Intent } from '../../src/model/owned.ts';
import type { ScopePlan } from '../../src/model/plan.ts';
import { isPending } from './books.ts';
import { ADDRESS } from './shop.ts';
import type { World } from './world.ts';

const TO_CONFIRM = ['install/first-into-unknown', 'install/not-alone', 'install/unknown-components'];

/**
 * What a person does about holds that only a person may release, with the functions behind the `ledger` commands: looks
 * at the platform and says what became of a request, lets a write be tried again, confirms installs.
 * @returns whether anything was done.
 */
export async function releaseHolds(world: World, plan: ScopePlan): Promise<boolean> {
  const codes = new Set(plan.holds.map((hold) => hold.code));
  const doubtful = codes.has('intent/in-doubt')
    ? [...world.books.intents.values()].filter(
        (intent) => isPending(intent) && plan.holds.some((hold) => hold.message.includes(intent.id)),
      )
    : [];
  const confirms = TO_CONFIRM.some((code) => codes.has(code));
  const retries = codes.has('effect/not-taken') || codes.has('install/store-key-refused');
  if (doubtful.length === 0 && !confirms && !retries) return false;
  await world.withLedger(async (ledger, clock) => {
    const hand = { kinds: reconciledKinds, ledger, clock, actor: 'a person', timing: defaultTiming };
    for (const intent of doubtful) {
      const decision = resolveManually(hand, {
        intent: intent.id,
        decision: truthAbout(world, intent),
        reason: 'looked at the platform',
        force: false,
        platform: async () => undefined,
      });
      await decided(world, decision);
    }
    if (retries) await retryObjects(hand, [...world.books.objects.values()]);
    if (confirms) await confirmInstalls(hand, { platform: 'default', ...ADDRESS });
  });
  for (const { id } of doubtful) world.decidedByHand.add(id);
  return true;
}

/** A hold that asks for a person must let that person decide. */
async function decided(world: World, decision: Promise<unknown>): Promise<void> {
  try {
    await decision;
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    world.violate('L-HOLD', `a person was asked, and may not answer: ${error.message}`);
  }
}

/** What is to be seen there. */
function truthAbout(world: World, intent: Intent): Decision {
  const sent = world.truth.of(intent.id);
  if (intent.operation !== 'install') {
    const rule = sent?.rules.find((id) => world.server.state.rules.get(id) !== undefined);
    return sent?.fate === 'applied' ? { type: 'applied', id: rule } : { type: 'not-applied' };
  }
  const group = sent?.installs.find((id) => world.server.state.installs.get(id) !== undefined);
  return group === undefined ? { type: 'not-applied' } : { type: 'applied', id: group };
}
