import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';

/** An empty folder, removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files into a folder of their own. @returns the folder. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** A sandbox on a free port, closed when the test ends. */
export async function sandboxFor(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ clock: systemClock, random: systemRandom, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** A configuration that reaches a sandbox with the token in PORTOLAN_TOKEN. */
export function configurationFor(url: string, name = 'default'): string {
  return `apiVersion: portolan/v1
kind: Platform
metadata: { name: ${name} }
spec:
  url: ${url}
  auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }
`;
}
