import type { TestProject } from 'vitest/node';
import { ensureDashboard } from '../../.config/dashboard.ts';
import { serveBrowser } from '../support/browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the one Chromium that all browser tests share. */
    readonly browser: string;
  }
}

/** Builds the dashboard and starts Chromium, once for all browser tests, and only when there are any to run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [browser] = await Promise.all([serveBrowser(), ensureDashboard()]);
  project.provide('browser', browser.wsEndpoint());
  return () => browser.close();
}
