import type { PlatformStatus } from '../../model/platform-status.ts';
import { safeLine } from '../../model/text.ts';
import { formatValue } from '../../model/units.ts';
import type { ServerFlags } from '../server/options.ts';
import type { Surroundings } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { relativeTime } from '../terminal/age.ts';
import { renderTable } from '../terminal/table.ts';
import type { Output } from '../terminal/terminal.ts';

/** Shows regions, requests and faults that a running controller reports. The HTTP client is loaded only for this. */
export async function platformStatusOfServer(
  { output, ...flags }: ServerFlags & { readonly output: 'text' | 'json' },
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { openServer } = await import('../server/client.ts');
  const { out } = surroundings.terminal;
  const status = (await openServer(flags, surroundings).get('platform', 'regions')) as unknown as PlatformStatus;
  out.write(output === 'json' ? `${JSON.stringify(status, null, 2)}\n` : statusText(status, out));
  return EXIT.ok;
}

const STATES = { open: 'accepts changes', paused: 'paused by the platform', 'circuit-open': 'circuit breaker open' };

function statusText(status: PlatformStatus, out: Output): string {
  const age = (atMs: number | null): string | undefined =>
    atMs === null ? undefined : relativeTime(atMs, status.atMs);
  const regions = status.regions.map(({ region, platform, state, sinceMs, untilMs, applications }) => [
    region,
    platform,
    STATES[state],
    age(sinceMs),
    age(untilMs),
    String(applications),
  ]);
  const requests = status.platforms.map(({ name, recent, load }) => [
    name,
    String(recent.requests),
    String(recent.failed),
    ...[recent.p50Ms, recent.p95Ms].map((ms) => (ms === null ? undefined : formatValue(ms, 'milliseconds'))),
    `${load.running} (${load.waiting} waiting)`,
    `${load.concurrency} of ${load.concurrencyMax}`,
  ]);
  const faults = status.faults.map(
    ({ side, severity, message, remedy }) => `${severity} (${side}): ${safeLine(message)}\n  → ${safeLine(remedy)}\n`,
  );
  return [
    renderTable(['region', 'platform', 'state', 'since', 'next attempt', 'applications'], regions, out),
    renderTable(
      ['platform', 'requests in 5m', 'failed', 'median', '95 %', 'in flight', 'adaptive limit'],
      requests,
      out,
    ),
    faults.length === 0 ? 'No fault in the platform, the source or the controller.\n' : faults.join(''),
  ].join('\n');
}
