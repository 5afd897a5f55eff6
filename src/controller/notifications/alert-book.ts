import type { LeaseUnit } from '../../ledger/shared.ts';
import type { JsonObject } from '../../model/json.ts';
import type { EpochMs, MonotonicMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type AlertSubject, type AlertText, keyOf, postableAlert } from './alert.ts';
import { forgetFirst } from './rules.ts';

/** Alertmanager resolves an alert that it did not get for so long. Alerts are sent every minute, so a few may be lost. */
export const EXPIRES_MS = 300_000;
/** An alert whose end no status shows is not sent any more after this time, if no event starts it again. */
const UNCONFIRMED_MS = 24 * 60 * 60 * 1000;
/** Alerts that are open at one time. Further ones are not sent. */
const OPEN_MAX = 4_000;
/** Limits of one message. */
const BATCH_MAX = 256;
const BATCH_CHARS_MAX = 200_000;

/** The part of a controller that sends an alert: the leader of a unit. `here`: every process has its own alert. */
export type AlertUnit = LeaseUnit | 'here';

/** An alert that stands. */
export interface OpenAlert {
  readonly subject: AlertSubject;
  /** Its labels stay those of its start: by others, Alertmanager would take its end for another alert. */
  text: AlertText;
  readonly startsMs: EpochMs;
  unit: AlertUnit;
  /** The time of the last event that started it. Only a later status can show its end. */
  notedMs: EpochMs;
  /** An event or a status has last shown it. */
  shownMs: MonotonicMs;
  /** It is sent with the next message if this process leads its unit. */
  isDue: boolean;
  /** Alertmanager may have it, from this process or from another one. */
  isKnown: boolean;
}

interface EndedAlert {
  readonly key: string;
  readonly text: AlertText;
  readonly endsMs: EpochMs;
  /** It would have expired by then. */
  readonly untilMs: MonotonicMs;
  isDue: boolean;
}

/** Alerts of one message, as long as they are to be sent. */
export type AlertBatch = readonly (OpenAlert | EndedAlert)[];

/** An alert that an event or a status shows. */
export interface ShownAlert {
  readonly subject: AlertSubject;
  readonly text: AlertText;
  readonly atMs: EpochMs;
  readonly unit: AlertUnit;
}

/** The finder of an alert: this process, another one in whose event it is, or the status. */
export type ShownBy = 'own' | 'other' | 'status';

/**
 * The alerts that stand, and those that have ended and whose end is not delivered. Each is sent again and again, and expires soon after the
 * last time. So a lost end, or a start that arrives late, has an effect for minutes only.
 */
export class AlertBook {
  readonly #clock: Clock;
  readonly #leads: (unit: AlertUnit) => boolean;
  readonly #open = new Map<string, OpenAlert>();
  /** By labels, because a new alert of a subject may have others. */
  readonly #ended = new Map<string, EndedAlert>();
  /** When the last alert of a subject ended. */
  readonly #endMs = new Map<string, EpochMs>();

  /** @param leads returns whether this process sends the alerts of a unit. */
  constructor(clock: Clock, leads: (unit: AlertUnit) => boolean) {
    this.#clock = clock;
    this.#leads = leads;
  }

  /** Returns the alerts that stand. */
  open(): Iterable<OpenAlert> {
    return this.#open.values();
  }

  has(subject: AlertSubject): boolean {
    return this.#open.has(keyOf(subject));
  }

  /** True if no further alert should be noted. */
  get isFull(): boolean {
    return this.#open.size >= OPEN_MAX;
  }

  /** Notes that an alert stands. */
  show({ subject, text, atMs, unit }: ShownAlert, by: ShownBy): void {
    const key = keyOf(subject);
    // The events of two leaders may be stored in another order than they were published in.
    if (by === 'other' && atMs < (this.#endMs.get(key) ?? Number.NEGATIVE_INFINITY)) return;
    const known = this.#open.get(key);
    const shownMs = this.#clock.monotonic();
    if (known === undefined) {
      // If its last end was not delivered yet, it still fires.
      const isKnown = this.#ended.delete(labelsOf(text)) || by !== 'own';
      this.#open.set(key, { subject, text, startsMs: atMs, unit, notedMs: atMs, shownMs, isDue: true, isKnown });
      return;
    }
    known.shownMs = shownMs;
    known.unit = unit;
    known.notedMs = Math.max(known.notedMs, atMs);
    known.isDue ||= by === 'own' && known.text.annotations['description'] !== text.annotations['description'];
    known.text = { ...text, labels: known.text.labels };
  }

  /**
   * Notes that the alert of a subject has ended.
   * @param text returns the alert as it is sent, from the one that stood; undefined: nothing is to be sent.
   */
  end(subject: AlertSubject, endsMs: EpochMs, text: (open: AlertText | undefined) => AlertText | undefined): void {
    const key = keyOf(subject);
    const open = this.#open.get(key);
    this.#open.delete(key);
    this.#endMs.set(key, endsMs);
    forgetFirst(this.#endMs, OPEN_MAX);
    const sent = open?.isKnown === false ? undefined : text(open?.text);
    if (sent === undefined) return;
    const untilMs = this.#clock.monotonic() + EXPIRES_MS;
    this.#ended.set(labelsOf(sent), { key, text: sent, endsMs, untilMs, isDue: true });
    forgetFirst(this.#ended, OPEN_MAX);
  }

  /** Notes that a status still shows an alert. */
  confirm(open: OpenAlert): void {
    open.shownMs = this.#clock.monotonic();
  }

  /** Ends an alert that a status does not show any more. Another process that leads its unit finds that, too. */
  refute({ subject, unit }: OpenAlert): void {
    this.end(subject, this.#clock.now(), (text) => (this.#leads(unit) ? text : undefined));
  }

  /** Makes all alerts due that stand, and forgets what has expired. */
  renew(): void {
    const nowMs = this.#clock.monotonic();
    for (const [key, open] of this.#open) {
      if (nowMs - open.shownMs > UNCONFIRMED_MS) this.#open.delete(key);
      else open.isDue = true;
    }
    for (const [key, ended] of this.#ended) {
      if (nowMs > ended.untilMs) this.#ended.delete(key);
      else ended.isDue = true;
    }
  }

  get hasDue(): boolean {
    return this.#due().next().done !== true;
  }

  /** Returns the alerts of the next message. They are due again at the next `renew`. */
  take(): AlertBatch {
    const batch: (OpenAlert | EndedAlert)[] = [];
    let chars = 0;
    for (const one of this.#due()) {
      chars += JSON.stringify(one.text).length;
      if (batch.length > 0 && (batch.length >= BATCH_MAX || chars > BATCH_CHARS_MAX)) break;
      batch.push(one);
    }
    for (const one of batch) {
      one.isDue = false;
      if (!('subject' in one)) continue;
      one.isKnown = true;
      // Those that were sent last come last.
      const key = keyOf(one.subject);
      this.#open.delete(key);
      this.#open.set(key, one);
    }
    return batch;
  }

  /**
   * Returns the alerts of a batch that are still to be sent now, for Alertmanager.
   * @param roundMs the time that all alerts take, if the rate is low.
   */
  posts(batch: AlertBatch, roundMs: number): readonly JsonObject[] {
    const nowMs = this.#clock.now();
    return batch.flatMap((one) => {
      if (!('subject' in one))
        return this.#ended.get(labelsOf(one.text)) === one ? [postableAlert(one.text, null, one.endsMs)] : [];
      const isOpen = this.#open.get(keyOf(one.subject)) === one && this.#leads(one.unit);
      return isOpen ? [postableAlert(one.text, Math.min(one.startsMs, nowMs), nowMs + EXPIRES_MS + 2 * roundMs)] : [];
    });
  }

  /** Notes that a batch has arrived. */
  delivered(batch: AlertBatch): void {
    for (const one of batch) {
      if ('subject' in one) continue;
      const labels = labelsOf(one.text);
      if (this.#ended.get(labels) === one) this.#ended.delete(labels);
    }
  }

  /** Returns the number of messages that all alerts take. */
  get messages(): number {
    return Math.ceil(this.#open.size / BATCH_MAX);
  }

  *#due(): Generator<OpenAlert | EndedAlert> {
    for (const ended of this.#ended.values()) if (ended.isDue) yield ended;
    for (const open of this.#open.values()) if (open.isDue && this.#leads(open.unit)) yield open;
  }
}

function labelsOf({ labels }: AlertText): string {
  return JSON.stringify(labels);
}
