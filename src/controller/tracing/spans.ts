import type { ResourceId } from '../../model/ids.ts';
import type { ControllerEvent } from '../../model/status.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { ControllerObserver } from '../api.ts';
import type { Span, SpanAttributes, SpanEvent } from './otlp.ts';

export interface SpanMakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Share of the passes that are traced; one with an error always is. */
  readonly sampleShare: number;
  /** Takes the spans of one trace. Must not throw or wait. */
  readonly export: (spans: readonly Span[]) => void;
}

/** Turns what the controller counts and tells into spans. */
export interface SpanMaker {
  readonly observer: ControllerObserver;
  /** An event without secrets. */
  hear(event: ControllerEvent): void;
}

/** A pass under way. */
interface Pass {
  readonly traceId: string;
  readonly spanId: string;
  readonly startMs: number;
  readonly startMonotonicMs: number;
  attributes: SpanAttributes;
  readonly children: Span[];
  readonly events: SpanEvent[];
  /** Where the next action began: at the end of what was before it. */
  boundaryMs: number;
  error: string | null;
}

/** More would make a trace that no viewer shows. */
const CHILDREN_MAX = 500;
const EVENTS_MAX = 50;
const REASONS_MAX = 8;

/**
 * Spans: `source` from the first look at a revision until it was accepted or refused; `pass` over one application, in
 * it `plan` and each `action`. The controller runs one pass at a time per application, so an event of an application
 * belongs to the pass that runs.
 */
export function createSpanMaker({ clock, random, sampleShare, export: send }: SpanMakerOptions): SpanMaker {
  const passes = new Map<ResourceId, Pass>();
  const reasons = new Map<ResourceId, string[]>();
  let reading: { readonly revision: string | null; readonly atMs: number } | undefined;

  const child = (pass: Pass, name: string, startMs: number, attributes: SpanAttributes, error: string | null): void => {
    const endMs = clock.now();
    const { traceId, spanId: parentSpanId } = pass;
    if (pass.children.length < CHILDREN_MAX)
      pass.children.push({
        traceId,
        spanId: random.hex(8),
        parentSpanId,
        name,
        startMs,
        endMs,
        attributes,
        events: [],
        error,
      });
    pass.boundaryMs = endMs;
    pass.error ??= error;
  };
  const note = (pass: Pass, name: string, attributes: SpanAttributes): void => {
    if (pass.events.length < EVENTS_MAX) pass.events.push({ atMs: clock.now(), name, attributes });
  };

  const observer: ControllerObserver = {
    queued(key, because) {
      const known = reasons.get(key) ?? [];
      if (known.length < REASONS_MAX && !known.includes(because)) reasons.set(key, [...known, because]);
    },
    began(key, waitedMs) {
      const because = (reasons.get(key) ?? []).join(', ');
      reasons.delete(key);
      const startMs = clock.now();
      passes.set(key, {
        traceId: random.hex(16),
        spanId: random.hex(8),
        startMs,
        startMonotonicMs: clock.monotonic(),
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
    },
    ended(key, result) {
      const pass = passes.get(key);
      passes.delete(key);
      if (pass === undefined) return;
      const error = result === 'error' ? (pass.error ?? 'the pass failed') : pass.error;
      // Drawn for each, so that a seed replays a run whatever fails in it.
      const isDrawn = random.next() < sampleShare;
      if (!isDrawn && error === null) return;
      const { traceId, spanId, startMs, events, children } = pass;
      const attributes = { ...pass.attributes, 'portolan.result': result };
      // The wall clock may have been set meanwhile.
      const endMs = startMs + Math.max(0, clock.monotonic() - pass.startMonotonicMs);
      send([
        { traceId, spanId, parentSpanId: null, name: 'pass', startMs, endMs, attributes, events, error },
        ...children,
      ]);
    },
    retried() {},
    request() {},
    milestone({ application, revision, milestone }) {
      const pass = passes.get(application);
      if (pass === undefined) return;
      pass.attributes = { ...pass.attributes, 'portolan.revision': revision };
      if (milestone === 'planned') child(pass, 'plan', pass.startMs, { 'portolan.revision': revision }, null);
      else {
        note(pass, milestone, {});
        if (milestone === 'first-write') pass.boundaryMs = clock.now();
      }
    },
  };

  return {
    observer,
    hear(event) {
      if (event.type.startsWith('source.')) {
        reading = ofSource(event, reading);
        return;
      }
      const pass = event.application === null ? undefined : passes.get(event.application);
      if (pass === undefined) return;
      const about = aboutOf(event);
      pass.attributes = { ...pass.attributes, ...scopeAndRevision(event) };
      if (!event.type.startsWith('action.')) return note(pass, event.type, about);
      const error = event.type === 'action.failed' ? event.message : null;
      child(
        pass,
        'action',
        pass.boundaryMs,
        { ...about, 'portolan.outcome': event.type.slice('action.'.length) },
        error,
      );
    },
  };

  function ofSource(event: ControllerEvent, begun: typeof reading): typeof reading {
    if (event.type === 'source.observed') return { revision: event.revision, atMs: event.atMs };
    const isSame = begun !== undefined && (event.revision === null || begun.revision === event.revision);
    const error = event.severity === 'error' || event.type !== 'source.accepted' ? event.message : null;
    send([
      {
        traceId: random.hex(16),
        spanId: random.hex(8),
        parentSpanId: null,
        name: 'source',
        startMs: isSame ? begun.atMs : event.atMs,
        endMs: event.atMs,
        attributes: { ...scopeAndRevision(event), 'portolan.outcome': event.type.slice('source.'.length) },
        events: [],
        error,
      },
    ]);
    return undefined;
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
