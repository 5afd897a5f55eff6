import { join } from 'node:path';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { canonicalJson, type Json } from '../../src/model/json.ts';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { collectingTerminal, type Run, runHere } from './running.ts';
import type { Scene } from './scene.ts';

/** A plan of a scene's manifests in a file. */
export interface SavedScene {
  readonly file: string;
  readonly planned: Run;
  /** `apply FILE`, with nothing said about manifests. */
  apply(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Run>;
}

/** Saves the plan of a scene and forgets the requests that it cost. */
export async function savePlan(scene: Scene, args: readonly string[] = []): Promise<SavedScene> {
  const file = join(scene.folder, 'plan.json');
  const planned = await scene.run('plan', ['--save', file, ...args]);
  scene.traffic();
  return {
    file,
    planned,
    apply: (more = [], env = {}) =>
      runHere(['apply', file, ...beside(scene), ...(more.includes('--dry-run') ? [] : ['--yes']), ...more], {
        env: { ...scene.env, ...env },
        clock: scene.clock,
      }),
  };
}

/** Configuration and ledger, without manifests. */
export function beside({ folder, ledgerFile }: Scene): readonly string[] {
  return ['--config', join(folder, 'portolan.yaml'), '--ledger', ledgerFile];
}

/** Applies on a terminal, where somebody does something before saying yes. */
export async function applyAsked(scene: Scene, file: string, meanwhile: () => void): Promise<Run> {
  const { terminal, text } = collectingTerminal();
  const ask = async (): Promise<string> => {
    meanwhile();
    return 'yes';
  };
  const code = await runHere(['apply', file, ...beside(scene)], {
    env: scene.env,
    clock: scene.clock,
    terminal: { ...terminal, ask },
  }).then((run) => run.code);
  return { code, ...text };
}

type Content = Record<string, Json | undefined>;

/** Changes a saved plan and makes its checksum fit again: what a stranger could do who had it in hand. */
export function forge(file: string, change: (content: Content) => void): void {
  const { checksum: _former, ...content } = JSON.parse(readFileSync(file, 'utf8')) as Content;
  change(content);
  const checksum = createHash('sha256').update(canonicalJson(content)).digest('hex');
  writeFileSync(file, `${canonicalJson({ ...content, checksum })}\n`);
}

/** Changes rules as a stranger would. */
export function alterRule(scene: Scene, domain: string, changes: Readonly<Record<string, unknown>>): void {
  const row = [...scene.sandbox.state.rules.all()].find((candidate) => candidate.domain === domain);
  if (row === undefined) throw new Error(`the sandbox has no rule ${domain}`);
  scene.sandbox.alter((state) => state.rules.put({ ...row, ...changes }));
}

export function setRegion(scene: Scene, status: string): void {
  scene.sandbox.alter((state) => {
    const region = state.regions.get(demo.region);
    if (region !== undefined) state.regions.put({ ...region, status });
  });
}

/** Refused before anything was sent. */
export function expectRefused(scene: Scene, run: Run, code: number, ...words: readonly string[]): void {
  expect(run.code, run.err).toBe(code);
  for (const word of words) expect(`${run.out}\n${run.err}`).toContain(word);
  expect(scene.traffic().writes).toEqual([]);
}
