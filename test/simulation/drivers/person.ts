import { reconciledKinds } from '../../../src/kinds/registry.ts';
import { PortolanError } from '../../../src/model/errors.ts';
import type { Intent, OwnedObject } from '../../../src/model/owned.ts';
import { retryObjects } from '../../../src/reconcile/resolution/manual-changes.ts';
import { type Decision, resolveManually } from '../../../src/reconcile/resolution/manual-resolution.ts';
import { defaultTiming } from '../../../src/reconcile/apply/world.ts';
import type { ByHand } from '../actors.ts';
import { isPending } from '../books.ts';
import { undecidableRule } from '../causes/doubts.ts';
import type { Sends } from './sends.ts';
import { DriverProcess } from './process.ts';
import type { Surroundings } from './surroundings.ts';

/** The world, as a person sees it who looks at the platform. */
interface Seen extends Surroundings {
  readonly byHand: ByHand;
  readonly truth: Sends;
}

/** Writes of which observation cannot tell what became, because somebody else has touched just what they were to make. */
export function undecidable(world: Seen): readonly Intent[] {
  return [...world.books.intents.values()].filter(
    (intent) => isPending(intent) && intent.operation === 'createRule' && undecidableRule(world, intent) !== undefined,
  );
}

/** What has failed, and so may not be sent again until a person says so. */
export function failed({ books }: Seen): readonly OwnedObject[] {
  return [...books.objects.values()].filter(({ failures }) => failures > 0);
}

/**
 * `portolan ledger resolve`, once for each write in doubt: a person has looked, and says what became of it. And
 * `portolan ledger retry` of what failed.
 */
export class Person extends DriverProcess {
  readonly kind = 'person';
  readonly isAgreed = false;
  readonly allowsRewind = false;
  readonly #seen: Seen;

  constructor(world: Seen, number: number) {
    super(world, number);
    this.#seen = world;
  }

  async live(): Promise<void> {
    const ledger = await this.openLedger();
    const hand = { kinds: reconciledKinds, ledger, clock: this.clock, actor: 'a person', timing: defaultTiming };
    for (const intent of undecidable(this.#seen)) {
      const decision = this.#truthAbout(intent);
      if (decision === undefined) continue;
      try {
        const reason = 'looked at the platform';
        await resolveManually(hand, {
          intent: intent.id,
          decision,
          reason,
          force: false,
          platform: async () => undefined,
        });
        this.world.resolved += 1;
      } catch (error) {
        // It may still arrive: the person comes back.
        if (!(error instanceof PortolanError)) throw error;
        this.world.note(`p${this.number} ${error.code}`);
      }
    }
    await retryObjects(hand, failed(this.#seen));
    if (!this.alive) return;
    this.kill();
    this.world.ended(this);
  }

  /** What is to be seen; undefined: it may still come. */
  #truthAbout({ id }: Intent): Decision | undefined {
    const sent = this.#seen.truth.of(id);
    if (sent?.fate === 'late' || sent?.fate === 'in-flight') return undefined;
    if (sent?.fate !== 'applied') return { type: 'not-applied' };
    return { type: 'applied', id: sent.rules.find((rule) => this.world.server.state.rules.get(rule) !== undefined) };
  }

  stop(): void {
    this.kill();
  }

  check(): boolean {
    this.world.violate('I-READONLY', 'a word about the ledger sent something to the platform');
    return false;
  }

  hasRead(): void {}
}
