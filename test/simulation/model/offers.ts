import type { PlatformRequest, PlatformResponse } from '../../../src/platform/transport.ts';
import { TransportError } from '../../../src/platform/transport.ts';
import { defaultTiming } from '../../../src/reconcile/apply/world.ts';
import type { Sender } from '../drivers/surroundings.ts';
import { classOf } from '../perturbations.ts';
import type { Decision } from '../../../src/sandbox/handle.ts';
import { responseOf, type Server } from '../server.ts';
import type { Sent } from '../truth.ts';

/** A step that a process waits for: it happens when it is chosen. */
export interface Offer {
  readonly process: Sender;
  readonly kind: 'commit' | 'read' | 'send' | 'act' | 'answer';
  readonly label: string;
  /** undefined: a commit, or an answer. */
  readonly request?: PlatformRequest;
  readonly run: () => void;
  /** How its answer may be lost. */
  readonly losses: readonly { readonly label: string; readonly run: () => void }[];
  readonly sent?: Sent;
}

/** A write that acts some time, though nobody hears of it. */
interface Late {
  readonly label: string;
  readonly sent: Sent;
  readonly untilMs: number;
}

export class Offers {
  all: Offer[] = [];
  late: Late[] = [];

  of(process: Sender): readonly Offer[] {
    return this.all.filter((offer) => offer.process === process);
  }

  labelsOf(process: Sender): string {
    return this.of(process)
      .map(({ label }) => label)
      .join();
  }

  add(offer: Omit<Offer, 'losses'> & Partial<Offer>): void {
    const wrap = (run: () => void) => (): void => {
      this.take(added);
      run();
    };
    const losses = (offer.losses ?? []).map(({ label, run }) => ({ label, run: wrap(run) }));
    const added: Offer = { ...offer, run: wrap(offer.run), losses };
    this.all.push(added);
  }

  take(offer: Offer): void {
    this.all = this.all.filter((other) => other !== offer);
  }

  forget(late: Late): void {
    this.late = this.late.filter((other) => other !== late);
  }

  /** Does it when it is chosen. */
  ask<T>(process: Sender, kind: Offer['kind'], label: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const name = `p${process.number} ${label}`;
      this.add({ process, kind, label: name, run: () => void work().then(resolve, reject) });
    });
  }
}

/** Until when the platform acts at the latest: the assumption that every settle window rests on. */
export function lateUntilMs({ request, sentMs }: Sent): number {
  const isTargetState = classOf(request.operation) === 'target-state';
  return sentMs + (isTargetState ? defaultTiming.settleTargetStateMs : defaultTiming.settleCreationMs) - 1;
}

export const lost = new TransportError('ambiguous', 'ECONNRESET', 'ECONNRESET');

/** The world, as far as requests have to do with it. */
interface Wire {
  readonly offers: Offers;
  readonly server: Server;
  readonly state: { hears(process: Sender, what: string): void };
  readonly truth: { sends(request: PlatformRequest, process: Sender): Sent | undefined };
  labelOf(request: PlatformRequest): string;
  /** The platform does what a request asks. */
  act(sent: Sent): Decision;
  /** It will do it some time. */
  comesLate(sent: Sent): void;
}

/** A request on its way: a read is one step; a write leaves, acts, and is answered. */
export function replyTo(world: Wire, process: Sender, request: PlatformRequest): Promise<PlatformResponse> {
  const { offers } = world;
  const label = `p${process.number} ${world.labelOf(request)}`;
  return new Promise((resolve, reject) => {
    const answer = (response: PlatformResponse | typeof lost): void => {
      if (!process.alive) return;
      const isLost = response === lost;
      world.state.hears(process, isLost ? `${label} lost` : `${label} ${JSON.stringify(answerOf(response))}`);
      if (isLost) reject(lost);
      else resolve(response as PlatformResponse);
    };
    if (request.isRead) {
      offers.add({
        process,
        kind: 'read',
        label,
        request,
        run: () => answer(responseOf(world.server.perform(request), true)),
      });
      return;
    }
    const answered = (sent: Sent, response: PlatformResponse | typeof lost): void => {
      sent.isAnswered = true;
      answer(response);
    };
    const acts = (sent: Sent): void => {
      const response = responseOf(world.act(sent), true);
      offers.add({
        process,
        kind: 'answer',
        label: `${label} answered`,
        run: () => answered(sent, response),
        losses: [{ label: 'lost', run: () => answered(sent, lost) }],
      });
    };
    const leaves = (): void => {
      const sent = world.truth.sends(request, process);
      if (sent === undefined) return;
      const never = (): void => {
        sent.fate = 'never';
        answered(sent, lost);
      };
      const late = (): void => {
        world.comesLate(sent);
        answered(sent, lost);
      };
      offers.add({
        process,
        kind: 'act',
        request,
        label: `${label} acts`,
        sent,
        run: () => acts(sent),
        losses: [
          { label: 'lost, never acts', run: never },
          { label: 'lost, acts late', run: late },
        ],
      });
    };
    offers.add({ process, kind: 'send', label: `${label} leaves`, request, run: leaves });
  });
}

function answerOf(response: PlatformResponse | typeof lost): unknown {
  return 'status' in response ? [response.status, response.json ?? response.body] : '';
}
