import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { stopServer } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the PostgreSQL that tests share. The first test that needs the server starts it. */
    readonly postgres: string;
  }
}

/** Names the folder of the server, and ends the server after the last test. */
export function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-postgres-'));
  project.provide('postgres', folder);
  return () => stopServer(folder);
}
