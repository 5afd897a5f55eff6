import chromium from '@sparticuz/chromium';
import { type Browser, chromium as launcher } from 'playwright-core';

/** Flags for small machines that would make it forgive, or fall over with the first page that is closed. */
const LAX: ReadonlySet<string> = new Set([
  '--single-process',
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--disable-site-isolation-trials',
]);

/**
 * The real Chromium of the packages; on other machines than Linux on x64 the one that is installed. Without any, whatever
 * wants to look at a page fails: a page that nobody has seen is not tested.
 */
export async function openBrowser(): Promise<Browser> {
  const bundled = process.platform === 'linux' && process.arch === 'x64';
  return launcher.launch({
    ...(bundled ? { executablePath: await chromium.executablePath() } : { channel: 'chrome' }),
    args: [...chromium.args.filter((flag) => !LAX.has(flag)), '--no-sandbox', '--disable-background-networking'],
  });
}
