import type { JsonObject } from '../../model/json.ts';
import type { EpochMs } from '../../model/time.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A step with start and end, as a trace shows it. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly startMs: EpochMs;
  readonly endMs: EpochMs;
  readonly attributes: SpanAttributes;
  readonly events: readonly SpanEvent[];
  /** Error of the step; null if none is known. */
  readonly error: string | null;
}

export interface SpanEvent {
  readonly atMs: EpochMs;
  readonly name: string;
  readonly attributes: SpanAttributes;
}

const INTERNAL = 1;
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;

/**
 * Returns spans as the body of an OTLP/HTTP request in JSON.
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp-request
 */
export function exportRequest(spans: readonly Span[], version: string): JsonObject {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'portolan', 'service.version': version }) },
        scopeSpans: [{ scope: { name: 'portolan', version }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

function spanOf(span: Span): JsonObject {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: INTERNAL,
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(Math.max(span.startMs, span.endMs)),
    attributes: attributesOf(span.attributes),
    events: span.events.map(({ atMs, name, attributes }) => ({
      timeUnixNano: nanoseconds(atMs),
      name,
      attributes: attributesOf(attributes),
    })),
    status: span.error === null ? { code: STATUS_UNSET } : { code: STATUS_ERROR, message: span.error },
  };
}

function attributesOf(attributes: SpanAttributes): JsonObject[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: string | number | boolean): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  // 64-bit integers are text in this encoding.
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Returns the time as text, because a number would lose digits. */
function nanoseconds(ms: EpochMs): string {
  return `${Math.round(ms * 1_000)}000`;
}
