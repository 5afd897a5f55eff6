import type { Clock } from '../runtime/clock.ts';
import type { Pace, RunPiece } from './pace.ts';
import type { MetricsText, RenderMetrics } from './route.ts';

const CALLER = '/metrics';

/**
 * Returns a function that renders the metrics. Scrapes that arrive while a text is rendered, or shortly after, share that text.
 * It is rendered in pieces, so that the process can do other work in between.
 */
export function createScrapes(options: {
  readonly render: RenderMetrics;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly redact: (text: string) => string;
  /** Time for which a text answers later scrapes. */
  readonly reuseMs: number;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
}): () => Promise<MetricsText> {
  const { render, clock, pace, redact, reuseMs, signal } = options;
  let shared: { readonly text: Promise<MetricsText>; endedMs: number } | undefined;
  const rendered = async (): Promise<MetricsText> => {
    const run: RunPiece = (piece) => pace.run(CALLER, signal, piece);
    const { contentType, text } = await render(run);
    return run(() => ({ contentType, bytes: Buffer.from(redact(text)) }));
  };
  return () => {
    if (shared !== undefined && clock.monotonic() - shared.endedMs < reuseMs) return shared.text;
    const next = { text: rendered(), endedMs: Number.POSITIVE_INFINITY };
    shared = next;
    next.text.then(
      () => (next.endedMs = clock.monotonic()),
      () => (next.endedMs = Number.NEGATIVE_INFINITY), // The next scrape retries.
    );
    return next.text;
  };
}
