import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder under its real path, removed when the test ends. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'portolan-source-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs git as somebody who has no settings of their own. @returns what it says. */
export function git(folder: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.com'];
  return execFileSync('git', ['-C', folder, ...identity, '-c', 'protocol.file.allow=always', ...args], {
    env: { PATH: process.env.PATH ?? '', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' },
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
}

export function write(folder: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

/** A repository with one commit of these files on `main`. */
export function repository(files: Readonly<Record<string, string>> = {}, ...options: readonly string[]): string {
  const folder = temporaryFolder();
  git(folder, 'init', '--quiet', '--initial-branch=main', ...options);
  if (Object.keys(files).length > 0) commit(folder, files);
  return folder;
}

/** Writes files, removes those given as undefined, and commits everything. @returns the commit's id. */
export function commit(folder: string, files: Readonly<Record<string, string | undefined>>): string {
  for (const [path, content] of Object.entries(files)) {
    if (content === undefined) rmSync(join(folder, path));
    else write(folder, path, content);
  }
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'change');
  return git(folder, 'rev-parse', 'HEAD');
}

/** A program that leaves a file when anybody runs it. @returns its path, and the file that must not appear. */
export function trap(): { readonly program: string; readonly sprung: string } {
  const folder = temporaryFolder();
  const program = join(folder, 'trap');
  const sprung = join(folder, 'sprung');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${sprung}\nexit 1\n`);
  chmodSync(program, 0o755);
  return { program, sprung };
}
