import type { PlatformStatus, PlatformState, RegionDetails, SideFault } from '../model/platform-status.ts';
import { amount } from '../plan/words.ts';

/** Failed requests of the last five minutes that count as a fault: a minimum number, and a share. */
const FAILED_MIN = 3;
const FAILED_SHARE = 0.1;
const SLOW_MS = 5_000;
const LAG_WARNING_MS = 500;
const LAG_ERROR_MS = 5_000;
const HEAP_SHARE = 0.9;

const LOOK = 'Ask the team of the platform. Portolan retries, and resumes when the platform answers.';

/** Returns the faults, the most severe first, each on the side where it is: the platform, the source or the controller. */
export function faultsOf(status: Omit<PlatformStatus, 'faults'>): readonly SideFault[] {
  const faults = [
    ...status.regions.flatMap(regionFault),
    ...status.platforms.flatMap(requestFaults),
    ...sourceFaults(status.source),
    ...controllerFaults(status),
  ];
  const order = ({ severity }: SideFault): number => (severity === 'error' ? 0 : 1);
  return faults.sort((left, right) => order(left) - order(right));
}

function regionFault({ platform, region, state, message }: RegionDetails): readonly SideFault[] {
  const part = `${platform}/${region}`;
  switch (state) {
    case 'open':
      return [];
    case 'paused':
      return [
        {
          side: 'platform',
          severity: 'warning',
          part,
          message: `${message.charAt(0).toUpperCase()}${message.slice(1)}, so nothing is changed in it.`,
          remedy:
            'Portolan resumes when the platform enables the region. Ask the team of the platform if it takes long.',
        },
      ];
    case 'circuit-open':
      return [
        {
          side: 'platform',
          severity: 'error',
          part,
          message: `Region ${region} is paused (circuit breaker open): ${message}.`,
          remedy: LOOK,
        },
      ];
  }
}

function requestFaults({ name, recent, load }: PlatformState): readonly SideFault[] {
  const faults: SideFault[] = [];
  const report = (severity: SideFault['severity'], message: string, remedy: string): void =>
    void faults.push({ side: 'platform', severity, part: name, message, remedy });
  const { requests, failed, throttled, p95Ms } = recent;
  if (failed >= FAILED_MIN && failed >= FAILED_SHARE * requests)
    report('error', `${failed} of ${amount(requests, 'request')} to ${name} failed in the last 5 minutes.`, LOOK);
  if (throttled > 0)
    report(
      'warning',
      `${name} throttled ${amount(throttled, 'request')} in the last 5 minutes.`,
      'Lower spec.limits.requestsPerSecond of the Platform, or ask the team of the platform for a higher limit.',
    );
  if (p95Ms !== null && p95Ms >= SLOW_MS)
    report('warning', `${name} answers slowly: 95 % of the answers take up to ${secondsText(p95Ms)}.`, LOOK);
  if (load.waiting > 0 && load.concurrency * 4 <= load.concurrencyMax)
    report(
      'warning',
      `${name} slows down under load: ${load.concurrency} of ${load.concurrencyMax} requests at once are sent, and ${load.waiting} wait.`,
      LOOK,
    );
  return faults;
}

function sourceFaults({ error }: PlatformStatus['source']): readonly SideFault[] {
  if (error === null) return [];
  return [{ side: 'source', severity: 'error', part: 'source', message: error.message, remedy: error.remedy }];
}

function controllerFaults(status: Omit<PlatformStatus, 'faults'>): readonly SideFault[] {
  const { ledger } = status;
  const { lagMaxMs, heapBytes, heapLimitBytes } = status.process;
  const faults: SideFault[] = [];
  const report = (part: string, severity: SideFault['severity'], message: string, remedy: string): void =>
    void faults.push({ side: 'controller', severity, part, message, remedy });
  if (!ledger.isReadable)
    report(
      'ledger',
      'error',
      'The ledger cannot be read, so nothing is written to the platform.',
      'Read the log, and run portolan ledger verify.',
    );
  if (ledger.inDoubt > 0)
    report(
      'ledger',
      'warning',
      `The outcome of ${amount(ledger.inDoubt, 'request')} is unknown.`,
      'Portolan decides by observation. /attention lists those that require manual action.',
    );
  if (lagMaxMs >= LAG_WARNING_MS)
    report(
      'process',
      lagMaxMs >= LAG_ERROR_MS ? 'error' : 'warning',
      `The process did not respond for ${secondsText(lagMaxMs)} in the last 5 minutes.`,
      'Give it more CPU time, or fewer applications.',
    );
  if (heapBytes >= HEAP_SHARE * heapLimitBytes)
    report('process', 'error', 'The process uses more than 90 % of its memory.', 'Raise its memory limit.');
  return faults;
}

function secondsText(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
