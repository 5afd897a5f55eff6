import type { TracesSpec } from '../../configuration/settings/telemetry-spec.ts';
import type { Secret } from '../../model/secret.ts';
import type { ControllerApi, ControllerObserver } from '../api.ts';
import { Delivery, type SenderOptions } from '../delivery.ts';
import { redacted } from '../notifications/payload.ts';
import { createOutbound, type OutboundSecret } from '../outbound.ts';
import { exportRequest, type Span } from './otlp.ts';
import { SpanMaker } from './spans.ts';

export interface TracingOptions extends SenderOptions {
  readonly settings: TracesSpec;
  /** Base address of the collector, from `tracesEndpoint`. */
  readonly endpoint: string;
  readonly version: string;
}

/** Spans that may wait. They limit the memory while a collector does not answer. */
const SPANS_MAX = 4_096;
const TIMEOUT_MS = 10_000;
/** Spans between two requests are sent with the second. */
const REQUESTS_PER_MINUTE = 30;

/**
 * Returns the address of the collector: from the settings, or else from the environment. `undefined`: traces are off.
 */
export function tracesEndpoint(
  settings: TracesSpec,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const endpoint = settings.endpoint ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  return endpoint === '' ? undefined : endpoint?.replace(/\/+$/, '');
}

/**
 * Starts traces over OTLP/HTTP as JSON, which every collector accepts. We do not use the OpenTelemetry SDK: the
 * controller knows its passes, plans and actions already, and nothing needs to be patched.
 */
export function startTracing(options: TracingOptions) {
  const { settings, endpoint, version, clock, random, redact } = options;
  const outbound = createOutbound(clock);
  const headers: [string, () => Secret][] = settings.headers.map(({ name, value }) => [
    name,
    options.openSecret(value, `Settings telemetry header ${name}`),
  ]);
  const delivery = new Delivery<Span[]>({
    ...options,
    receiver: 'traces',
    capacity: 1,
    ratePerMinute: REQUESTS_PER_MINUTE,
    timeoutMs: TIMEOUT_MS,
    write: (spans) => ({
      url: `${endpoint}/v1/traces`,
      headers: {
        'content-type': 'application/json',
        ...Object.fromEntries(
          headers.map(([name, value]): [string, OutboundSecret] => [name, { prefix: '', value: value() }]),
        ),
      },
      body: JSON.stringify(exportRequest(spans, version)),
    }),
    merge(older, newer) {
      older.push(...newer);
      if (older.length > SPANS_MAX) older.splice(0, older.length - SPANS_MAX);
      return older;
    },
    post: outbound.post,
  });
  const maker = new SpanMaker({
    clock,
    random,
    sampleShare: settings.sampleShare,
    export: (spans) => delivery.push('spans', [...spans]),
  });
  return {
    observer: maker satisfies Partial<ControllerObserver>,
    /** Turns the controller's later events into spans too. @returns a function that stops it. */
    attach: (api: Pick<ControllerApi, 'events'>): (() => void) =>
      api.events.subscribe((event) => maker.hear(redacted(event, redact)), 'own'),
    /** Sends what waits within `graceMs`, and drops the rest. */
    async close(graceMs: number): Promise<void> {
      await delivery.close(graceMs);
      await outbound.close();
    },
  };
}
