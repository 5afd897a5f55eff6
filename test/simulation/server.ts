import type { PlatformRequest, PlatformResponse } from '../../src/platform/transport.ts';
import { decide, type Decision } from '../../src/sandbox/handle.ts';
import { type Seed, stateOf } from '../../src/sandbox/seed.ts';
import { SandboxState } from '../../src/sandbox/state.ts';
import type { Change } from '../../src/sandbox/table.ts';
import { asSandboxRequest } from '../../src/sandbox/transport.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { ADDRESS } from './shop.ts';
import type { Timeline } from './timeline.ts';

/** Date of the virtual zero hour. */
export const EPOCH_MS = Date.UTC(2026, 10, 20, 12);

/** Answers from this long ago are the oldest there are: as far apart as two readings of an absence must be. */
export const STALE_MS_MAX = 2_000;

/** The platform: a sandbox whose past can be read for a while, and which may be out of order for some time. */
export class Server {
  readonly state: SandboxState;
  readonly dialect: Dialect;
  readonly #timeline: Timeline;
  readonly #newId: () => string;
  /** Answers to reads since the last change, by path. */
  readonly #answers = new Map<string, Decision>();
  #past: { readonly atMs: number; readonly changes: readonly Change[] }[] = [];
  /** How often anything was changed. */
  changes = 0;
  /** Virtual times until which it refuses the token, or lists nothing for an operation. */
  tokenExpiredUntilMs = -1;
  readonly emptyUntilMs = new Map<string, number>();

  /** Rules that an answer left out although they were there, and when it said so. */
  readonly concealed: { readonly atMs: number; readonly rules: readonly string[] }[] = [];

  /** How often an answer of old, or an empty one, was given in place of the truth, by path. */
  readonly misled = new Map<string, number>();

  /** @param seed or the rows of another server, which stay as they are. */
  constructor(seed: Seed | SandboxState, dialect: Dialect, timeline: Timeline, newId: () => string) {
    this.state = seed instanceof SandboxState ? seed.clone() : stateOf(seed);
    this.dialect = dialect;
    this.#timeline = timeline;
    this.#newId = newId;
  }

  /** Does what a request asks, now. */
  perform(request: PlatformRequest, dialect = this.dialect): Decision {
    const isRefused = this.#timeline.nowMs < this.tokenExpiredUntilMs;
    // Most reads ask for what has not changed: the answer of last time is the answer of now.
    const known = request.isRead && !isRefused ? this.#answers.get(request.path) : undefined;
    if (known !== undefined) return known;
    const decision = decide(
      this.state,
      asSandboxRequest(request, null, (secret) => secret.reveal()),
      {
        nowMs: EPOCH_MS + this.#timeline.nowMs,
        newId: this.#newId,
        dialect,
        token: isRefused ? 'another token' : null,
      },
    );
    this.#remember(decision.changes);
    if (request.isRead && !isRefused && !this.#isBuilding()) this.#answers.set(request.path, decision);
    return decision;
  }

  /** What it answers changes by itself, with time. */
  isRestless(): boolean {
    const { nowMs } = this.#timeline;
    if (nowMs < this.tokenExpiredUntilMs) return true;
    for (const untilMs of this.emptyUntilMs.values()) if (nowMs <= untilMs) return true;
    return this.#isBuilding();
  }

  /** Something comes to run, or is built while it runs. */
  #isBuilding(): boolean {
    const nowMs = EPOCH_MS + this.#timeline.nowMs;
    for (const { life } of this.state.components.all()) {
      if (life.type === 'building' && nowMs < life.readyAtMs) return true;
    }
    for (const { endsMs } of this.state.events.all()) if (nowMs < endsMs) return true;
    return false;
  }

  /** Answers a read as it would have been answered some time ago. */
  performAsOf(request: PlatformRequest, agoMs: number): Decision {
    const sinceMs = this.#timeline.nowMs - agoMs;
    const undone = this.#past.filter((entry) => entry.atMs > sinceMs);
    if (undone.length === 0) return this.perform(request);
    for (const { changes } of undone.toReversed()) this.state.revert(changes);
    this.#answers.clear();
    try {
      return this.perform(request);
    } finally {
      this.#answers.clear();
      for (const { changes } of undone) this.state.reapply(changes);
    }
  }

  /** An answer that is not true leaves: keeps what it conceals. */
  keepConcealed({ operation, path }: PlatformRequest, body: string): void {
    this.misled.set(path, (this.misled.get(path) ?? 0) + 1);
    if (operation !== 'listRules') return;
    const rules = [...this.state.rules.all()].map(({ id }) => id).filter((id) => !body.includes(id));
    if (rules.length > 0) this.concealed.push({ atMs: this.#timeline.nowMs, rules });
  }

  /** Changes rows as no request could: what an operator does in the console, or the cluster by itself. */
  change(edit: (state: SandboxState) => void): readonly Change[] {
    this.state.takeChanges();
    edit(this.state);
    const changes = this.state.takeChanges();
    this.#remember(changes);
    return changes;
  }

  /** Everything is in order again. */
  heal(): void {
    this.tokenExpiredUntilMs = -1;
    this.emptyUntilMs.clear();
    const region = this.state.regions.get(ADDRESS.region);
    if (region !== undefined && (region.status !== '1' || !region.reachable)) {
      this.change((state) => state.regions.put({ ...region, status: '1', reachable: true }));
    }
  }

  #remember(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    this.changes += 1;
    this.#answers.clear();
    const oldestMs = this.#timeline.nowMs - STALE_MS_MAX;
    if (this.#past.length > 16) this.#past = this.#past.filter((entry) => entry.atMs >= oldestMs);
    this.#past.push({ atMs: this.#timeline.nowMs, changes });
  }
}

const responses = new WeakMap<Decision, PlatformResponse>();

/**
 * As it arrives, the same for all who get the same.
 * @param asValue the transport has it as a value already; else as text, which whoever reads it parses.
 */
export function responseOf(decision: Decision, asValue = false): PlatformResponse {
  const known = responses.get(decision);
  if (known !== undefined) return known;
  const { status, body } = decision.answer;
  const response = asValue
    ? new ValueResponse(status, body)
    : { status, contentType: 'application/json', retryAfter: null, body: JSON.stringify(body) };
  responses.set(decision, response);
  return response;
}

class ValueResponse implements PlatformResponse {
  readonly status: number;
  readonly contentType = 'application/json';
  readonly retryAfter = null;
  readonly json: unknown;

  constructor(status: number, json: unknown) {
    this.status = status;
    this.json = json;
  }

  get body(): string {
    return JSON.stringify(this.json);
  }
}
