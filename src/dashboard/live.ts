import { signal } from '@preact/signals';
import type { ControllerEvent } from '../model/status.ts';
import { serverSentEvents } from '../runtime/server-sent.ts';
import { ApiError, openEvents, parse, type Problem } from './api.ts';
import { basePath } from './base.ts';
import { after, nowMs, sleep } from './clock.ts';
import { access } from './sign-in-state.ts';

/**
 * The events of the controller, as they happen. One tab of the browser holds the stream and sends what it receives to the other
 * tabs; when it is closed, another one continues at the last event that it knows. A browser without locks (only plain HTTP to
 * another machine) has a stream for each tab.
 */

/** `lost`: the page shows what it knew; it retries by itself. `refused`: the user has no permission to see events. */
export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

interface ConnectionState {
  readonly state: Connection;
  /** Why it is lost, if the controller said so: for example all streams are in use. */
  readonly problem?: Problem | undefined;
}

export const connection = signal<ConnectionState>({ state: 'connecting' });

/** Increases when events were missed, for example after a restart: whatever was loaded before must be loaded again. */
export const gaps = signal(0);

type Message =
  | { readonly type: 'event'; readonly event: ControllerEvent; readonly position: string }
  | { readonly type: 'connection'; readonly connection: ConnectionState }
  | { readonly type: 'gap' }
  /** A new tab asks for the state of the connection. */
  | { readonly type: 'hello' }
  | { readonly type: 'retry' };

const listeners = new Set<(event: ControllerEvent) => void>();

/** Calls `listener` with each event. @returns a function that ends that. */
export function onEvent(listener: (event: ControllerEvent) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const NAME = `portolan events ${basePath}`;
const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 15_000;
/** A permission may be given while the page is open. */
const REFUSED_MS = 60_000;
/** The server sends something at least every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE_MAX_MS = 40_000;

let position: string | undefined;
let channel: BroadcastChannel | undefined;
let isHolder = false;
let retryNow: (() => void) | undefined;

/** Begins to receive events. Call it once. */
export function startLive(): void {
  channel = new BroadcastChannel(NAME);
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => receive(data));
  channel.postMessage({ type: 'hello' } satisfies Message);
  addEventListener('online', retry);
  void holdStreams();
}

/** Waits for a session, and for the tab that holds the stream to go; then holds it until the session ends, and so on. */
async function holdStreams(): Promise<never> {
  for (;;) {
    await untilSignedIn();
    if ('locks' in navigator) await navigator.locks.request(NAME, holdStream);
    else await holdStream();
  }
}

/** Continues after this position, unless an event was received already. */
export function startAfter(first: string): void {
  position ??= first;
}

/** Retries a lost connection at once. */
export function retry(): void {
  if (isHolder) retryNow?.();
  else channel?.postMessage({ type: 'retry' } satisfies Message);
}

/** Shows a message here and in the other tabs. */
function publish(message: Message): void {
  receive(message);
  channel?.postMessage(message);
}

function receive(message: Message): void {
  switch (message.type) {
    case 'event':
      position = message.position;
      for (const listener of listeners) listener(message.event);
      return;
    case 'connection':
      connection.value = message.connection;
      return;
    case 'gap':
      gaps.value += 1;
      return;
    case 'hello':
      if (isHolder) channel?.postMessage({ type: 'connection', connection: connection.value } satisfies Message);
      return;
    case 'retry':
      if (isHolder) retryNow?.();
      return;
  }
}

/** Holds the stream of this browser until the session ends. Another tab may then sign in, and needs the stream. */
async function holdStream(): Promise<void> {
  isHolder = true;
  let backoffMs = BACKOFF_FIRST_MS;
  while (access.value === 'signed-in') {
    const startedMs = nowMs();
    let problem: Problem | undefined;
    try {
      await follow();
    } catch (error) {
      if (error instanceof ApiError && error.problem.status !== 0) ({ problem } = error);
      if (problem?.code === 'server/bad-position') position = undefined;
    }
    // A stream that lasted was good, so the next attempt is immediate.
    if (nowMs() - startedMs > BACKOFF_MAX_MS) backoffMs = BACKOFF_FIRST_MS;
    const isRefused = problem?.status === 403;
    const waitMs = isRefused ? REFUSED_MS : backoffMs * (0.75 + 0.5 * jitter());
    backoffMs = Math.min(BACKOFF_MAX_MS, 2 * backoffMs);
    publish({ type: 'connection', connection: { state: isRefused ? 'refused' : 'lost', problem } });
    const woken = new AbortController();
    retryNow = () => {
      backoffMs = BACKOFF_FIRST_MS;
      woken.abort();
    };
    if (access.value === 'signed-in') await sleep(waitMs, woken.signal);
    retryNow = undefined;
  }
  isHolder = false;
}

function jitter(): number {
  return (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) / 255;
}

/** Resolves when this tab is signed in. */
function untilSignedIn(): Promise<void> {
  return new Promise((resolve) => {
    const stop = access.subscribe((state) => {
      if (state !== 'signed-in') return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Follows one stream until it ends. @throws ApiError. */
async function follow(): Promise<void> {
  const stop = new AbortController();
  let cancel = after(SILENCE_MAX_MS, () => stop.abort());
  const isResumed = position !== undefined;
  try {
    const stream = await openEvents(position, stop.signal);
    publish({ type: 'connection', connection: { state: 'live' } });
    // Without a position, earlier events are unknown.
    if (!isResumed) publish({ type: 'gap' });
    const restart = (): void => {
      cancel();
      cancel = after(SILENCE_MAX_MS, () => stop.abort());
    };
    // Unlike EventSource, this sees the status of a refusal, and the comments that keep a connection alive.
    for await (const { type, lastId, data } of serverSentEvents(chunksOf(stream))) {
      restart();
      if (data === '') continue;
      if (type === 'gap') publish({ type: 'gap' });
      else publish({ type: 'event', event: parse<ControllerEvent>(data), position: lastId });
    }
  } finally {
    cancel();
    stop.abort();
  }
}
