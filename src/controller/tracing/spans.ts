import type { ResourceId } from '../../model/ids.ts';
import type { ControllerEvent } from '../../model/status.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { ControllerObserver } from '../api.ts';
import type { Span, SpanAttributes, SpanEvent } from './otlp.ts';

export interface SpanMakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Share of the passes that are traced. Passes with an error always are. */
  readonly sampleShare: number;
  /** Takes the spans of one trace. Must not throw or wait. */
  readonly export: (spans: readonly Span[]) => void;
}

/** A pass in progress. */
interface Pass {
  readonly traceId: string;
  readonly spanId: string;
  readonly startMs: number;
  readonly startMonotonicMs: number;
  attributes: SpanAttributes;
  readonly children: Span[];
  readonly events: SpanEvent[];
  /** Start of the next action: the end of the step before it. */
  boundaryMs: number;
  error: string | null;
}

/** A revision that was observed, and not accepted or rejected yet. */
interface Reading {
  readonly revision: string | null;
  readonly atMs: number;
}

/** No viewer can show a trace with more. */
const CHILDREN_MAX = 500;
const EVENTS_MAX = 50;
const REASONS_MAX = 8;

/**
 * Turns events and counts of the controller into spans. `source` lasts from the first observation of a revision until
 * it is accepted or rejected. `pass` covers one application, and contains `plan` and each `action`. The controller runs
 * one pass at a time for each application, so an event of an application belongs to the pass in progress.
 */
export class SpanMaker implements Partial<ControllerObserver> {
  readonly #options: SpanMakerOptions;
  readonly #passes = new Map<ResourceId, Pass>();
  readonly #reasons = new Map<ResourceId, string[]>();
  #reading: Reading | undefined;

  constructor(options: SpanMakerOptions) {
    this.#options = options;
  }

  readonly queued: ControllerObserver['queued'] = (key, because) => {
    const known = this.#reasons.get(key) ?? [];
    if (known.length < REASONS_MAX && !known.includes(because)) this.#reasons.set(key, [...known, because]);
  };

  readonly began: ControllerObserver['began'] = (key, waitedMs) => {
    const because = (this.#reasons.get(key) ?? []).join(', ');
    this.#reasons.delete(key);
    const startMs = this.#options.clock.now();
    this.#passes.set(key, {
      traceId: this.#options.random.hex(16),
      spanId: this.#options.random.hex(8),
      startMs,
      startMonotonicMs: this.#options.clock.monotonic(),
      attributes: {
        'portolan.application': key,
        'portolan.because': because,
        'portolan.waited_ms': Math.round(waitedMs),
      },
      children: [],
      events: [],
      boundaryMs: startMs,
      error: null,
    });
  };

  readonly ended: ControllerObserver['ended'] = (key, result) => {
    const pass = this.#passes.get(key);
    this.#passes.delete(key);
    if (pass === undefined) return;
    const error = result === 'error' ? (pass.error ?? 'the pass failed') : pass.error;
    // Drawn for every pass, so that a seed replays a run independent of its errors.
    const isDrawn = this.#options.random.next() < this.#options.sampleShare;
    if (!isDrawn && error === null) return;
    const { traceId, spanId, startMs, events, children } = pass;
    const attributes = { ...pass.attributes, 'portolan.result': result };
    // The wall clock may have been changed meanwhile.
    const endMs = startMs + Math.max(0, this.#options.clock.monotonic() - pass.startMonotonicMs);
    const span = { traceId, spanId, parentSpanId: null, name: 'pass', startMs, endMs, attributes, events, error };
    this.#options.export([span, ...children]);
  };

  readonly milestone: ControllerObserver['milestone'] = ({ application, revision, milestone }) => {
    const pass = this.#passes.get(application);
    if (pass === undefined) return;
    pass.attributes = { ...pass.attributes, 'portolan.revision': revision };
    if (milestone === 'planned') this.#child(pass, 'plan', pass.startMs, { 'portolan.revision': revision }, null);
    else {
      this.#note(pass, milestone, {});
      if (milestone === 'first-write') pass.boundaryMs = this.#options.clock.now();
    }
  };

  /** Takes an event without secrets. */
  readonly hear = (event: ControllerEvent): void => {
    if (event.type.startsWith('source.')) {
      this.#reading = this.#ofSource(event, this.#reading);
      return;
    }
    const pass = event.application === null ? undefined : this.#passes.get(event.application);
    if (pass === undefined) return;
    const about = aboutOf(event);
    pass.attributes = { ...pass.attributes, ...scopeAndRevision(event) };
    if (!event.type.startsWith('action.')) return this.#note(pass, event.type, about);
    const error = event.type === 'action.failed' ? event.message : null;
    const attributes = { ...about, 'portolan.outcome': event.type.slice('action.'.length) };
    this.#child(pass, 'action', pass.boundaryMs, attributes, error);
  };

  #ofSource(event: ControllerEvent, begun: Reading | undefined): Reading | undefined {
    if (event.type === 'source.observed') return { revision: event.revision, atMs: event.atMs };
    const isSame = begun !== undefined && (event.revision === null || begun.revision === event.revision);
    const error = event.severity === 'error' || event.type !== 'source.accepted' ? event.message : null;
    const { random } = this.#options;
    const ids = { traceId: random.hex(16), spanId: random.hex(8), parentSpanId: null };
    const times = { startMs: isSame ? begun.atMs : event.atMs, endMs: event.atMs };
    const attributes = { ...scopeAndRevision(event), 'portolan.outcome': event.type.slice('source.'.length) };
    this.#options.export([{ ...ids, ...times, name: 'source', attributes, events: [], error }]);
    return undefined;
  }

  #child(pass: Pass, name: string, startMs: number, attributes: SpanAttributes, error: string | null): void {
    const endMs = this.#options.clock.now();
    if (pass.children.length < CHILDREN_MAX) {
      const ids = { traceId: pass.traceId, spanId: this.#options.random.hex(8), parentSpanId: pass.spanId };
      pass.children.push({ ...ids, name, startMs, endMs, attributes, events: [], error });
    }
    pass.boundaryMs = endMs;
    pass.error ??= error;
  }

  #note(pass: Pass, name: string, attributes: SpanAttributes): void {
    if (pass.events.length < EVENTS_MAX) pass.events.push({ atMs: this.#options.clock.now(), name, attributes });
  }
}

function aboutOf(event: ControllerEvent): SpanAttributes {
  return {
    ...scopeAndRevision(event),
    ...(event.resource === null ? {} : { 'portolan.resource': event.resource }),
    'portolan.message': event.message,
  };
}

function scopeAndRevision({ scope, revision }: ControllerEvent): SpanAttributes {
  return {
    ...(scope === null ? {} : { 'portolan.scope': scope }),
    ...(revision === null ? {} : { 'portolan.revision': revision }),
  };
}
