import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserServer, chromium as launcher, type LaunchOptions } from 'playwright-core';
import packageFile from '../../package.json' with { type: 'json' };

/**
 * Flags of the package that would make it forgive, or fall over with the first page that is closed, or draw each page through an emulated
 * graphics processor, which takes more time than all the rest of a page.
 */
const UNWANTED: ReadonlySet<string> = new Set([
  '--single-process',
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--disable-site-isolation-trials',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
]);

/**
 * The real Chromium of the packages; on other machines than Linux on x64 the one that is installed. Without any, whatever
 * wants to look at a page fails: a page that nobody has seen is not tested.
 */
export async function openBrowser(): Promise<Browser> {
  return launcher.launch(await launchOptions());
}

/** The same, for several processes, each of which connects to it. */
export async function serveBrowser(): Promise<BrowserServer> {
  return launcher.launchServer(await launchOptions());
}

async function launchOptions(): Promise<LaunchOptions> {
  const isBundled = process.platform === 'linux' && process.arch === 'x64';
  return {
    ...(isBundled ? { executablePath: await unpacked() } : { channel: 'chrome' }),
    args: [
      ...chromium.args.filter((flag) => !UNWANTED.has(flag)),
      '--disable-gpu',
      '--no-sandbox',
      '--disable-background-networking',
    ],
  };
}

/**
 * The program, unpacked once for all processes that test. Its package takes a file that another process is still writing for
 * a whole one, so each unpacks where nobody else looks, and the first that is done gives it its place.
 */
async function unpacked(): Promise<string> {
  const temporary = tmpdir();
  const place = join(temporary, `portolan-chromium-${packageFile.devDependencies['@sparticuz/chromium']}`);
  if (!existsSync(place)) {
    const own = mkdtempSync(join(temporary, 'portolan-unpacking-'));
    const { TMPDIR } = process.env;
    try {
      process.env['TMPDIR'] = own;
      await chromium.executablePath();
    } finally {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    }
    try {
      renameSync(own, place);
    } catch {
      rmSync(own, { recursive: true, force: true });
    }
  }
  return join(place, 'chromium');
}
