import type { NotificationsSettings, ReceiverSettings } from '../../configuration/settings/notifications-spec.ts';
import type { ControllerEvent } from '../../model/status.ts';
import type { ControllerApi } from '../api.ts';
import type { SenderOptions } from '../delivery.ts';
import type { Outbound, Post } from '../outbound.ts';
import { redacted } from './payload.ts';

export interface NotificationsOptions extends SenderOptions {
  readonly api: Pick<ControllerApi, 'events' | 'status' | 'application' | 'applications' | 'standings' | 'leads'>;
  readonly settings: NotificationsSettings;
  /** Name of the source of manifests. */
  readonly source: string;
  /** Sends the messages. Default: over HTTPS. */
  readonly outbound?: Outbound;
}

/** @param redactedEvent returns the event without secrets. */
export type EventListener = (event: ControllerEvent, redactedEvent: () => ControllerEvent) => void;

/** One receiver. It selects the events that its rules match. */
export interface Receiver {
  /** Called with every event that this process publishes. */
  readonly receive: EventListener;
  /** Called with every event of all processes. Those of this one come a second time here. */
  readonly follow?: EventListener;
  close(graceMs: number): Promise<void>;
}

/** Returns a function that redacts an event once, and only on demand: most have no receiver, and the controller waits for this call. */
export function redactedOnce(event: ControllerEvent, redact: (text: string) => string): () => ControllerEvent {
  let safe: ControllerEvent | undefined;
  return () => (safe ??= redacted(event, redact));
}

/** Messages that may wait for one receiver. When it is exceeded, the oldest is dropped. */
const WAITING_MAX = 200;

/** Returns the options that all queues share. */
export function queueOf(
  { name, ratePerMinute, timeoutMs }: ReceiverSettings,
  options: NotificationsOptions,
  post: Post,
) {
  return { ...options, receiver: name, capacity: WAITING_MAX, ratePerMinute, timeoutMs, post };
}
