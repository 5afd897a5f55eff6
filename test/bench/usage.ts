import { Running } from './processes.ts';

/** What one run of the program took. */
export interface Usage {
  readonly wallMs: number;
  readonly processorMs: number;
  readonly peakMiB: number;
}

const PROBE = `process.once('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process.stderr.write('usage ' + (userCPUTime + systemCPUTime) / 1000 + ' ' + maxRSS / 1024 + '\\n');
})`;

/** Runs a command to its end, and has the process itself say what it used. @throws Error unless it ends with 0. */
export async function usageOf(args: readonly string[]): Promise<Usage> {
  const began = performance.now();
  const running = new Running(args, {}, [`--import=data:text/javascript,${encodeURIComponent(PROBE)}`]);
  const code = await running.exited;
  const wallMs = performance.now() - began;
  const [, processorMs, peakMiB] = (await running.says(/usage (\S+) (\S+)/, 1_000)).map(Number);
  if (code !== 0 || processorMs === undefined || peakMiB === undefined)
    throw new Error(`portolan ${args.join(' ')} ended with ${code}:\n${running.out}\n${running.err}`);
  return { wallMs, processorMs, peakMiB };
}
