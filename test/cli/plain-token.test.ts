import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { plainTokenOf, SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { runHere } from './running.ts';
import { type Scene, setScene } from './scene.ts';

/** The secret that the listing of a team's regions has beside each of them. */
const CANARY = 'canary-5f2b8e-token-of-a-region';

/** A scene whose token lacks enterprise rights: the platform refuses it the listing of all regions. */
async function plainScene(regionStatus = '1'): Promise<Scene> {
  const scene = await setScene({
    configuredDialect: 'auto',
    sandbox: {
      seed: {
        ...demoSeed,
        regions: demoSeed.regions.map((region) => ({
          ...region,
          token: CANARY,
          ...(region.name === demo.region ? { status: regionStatus } : {}),
        })),
      },
    },
  });
  return { ...scene, env: { ...scene.env, PORTOLAN_TOKEN: plainTokenOf(SANDBOX_TOKEN) } };
}

function run(scene: Scene, ...args: readonly string[]) {
  return runHere(args, { env: scene.env, clock: scene.clock });
}

function flags(scene: Scene): readonly string[] {
  return [...scene.options, '--ledger', scene.ledgerFile, '--log-level', 'debug'];
}

/** Every byte that a command left behind. */
function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

test('apply works with a token without enterprise rights, and asks for the regions of the team once', async () => {
  const scene = await plainScene();
  const applied = await run(scene, 'apply', ...flags(scene), '--yes');
  expect(applied.code, applied.err).toBe(0);
  const { reads, writes } = scene.traffic();
  expect(writes.length).toBeGreaterThan(3);
  expect(reads.filter((read) => read === 'listRegions')).toHaveLength(1);
  expect(reads.filter((read) => read.includes('/teams/') || read === 'listTeamRegions')).toHaveLength(1);
});

test('a region that takes no changes gets none, as its team lists it', async () => {
  const scene = await plainScene('3');
  const { code, out, err } = await run(scene, 'apply', ...flags(scene), '--yes');
  expect(code).not.toBe(0);
  expect(out + err).toContain('is under maintenance');
  expect(scene.traffic().writes).toEqual([]);
});

test('regions lists those of a team, and says how where none is named', async () => {
  const scene = await plainScene();
  const config = ['--config', join(scene.folder, 'portolan.yaml')];
  const listed = await run(scene, 'regions', '--team', demo.team, ...config);
  expect(listed, listed.err).toMatchObject({ code: 0 });
  expect(listed.out).toMatch(new RegExp(`\n${demo.region} .*enabled`));
  const unnamed = await run(scene, 'regions', ...config);
  expect(unnamed.code).toBe(3);
  expect(unnamed.err).toContain('Name a team: portolan regions --team TEAM.');
});

test('the token of a region is in no output, no log, no file and no ledger', async () => {
  const scene = await plainScene();
  const config = ['--config', join(scene.folder, 'portolan.yaml'), '--log-level', 'debug'];
  const runs = [
    await run(scene, 'regions', '--team', demo.team, '-o', 'json', ...config),
    await run(scene, 'plan', ...flags(scene), '-o', 'json'),
    await run(scene, 'apply', ...flags(scene), '--yes', '-o', 'jsonl'),
    await run(scene, 'status', ...flags(scene), '-o', 'json'),
    await run(scene, 'export', '--team', demo.team, '--to', join(scene.folder, 'exported'), ...config),
  ];
  for (const { out, err } of runs) expect(out + err).not.toContain(CANARY);
  expect(everythingIn(scene.folder)).not.toContain(CANARY);
  // The platform did say it.
  const answer = await fetch(`${scene.sandbox.url}/openapi/v1/teams/${demo.team}/regions`, {
    headers: { authorization: plainTokenOf(SANDBOX_TOKEN) },
  });
  expect(await answer.text()).toContain(CANARY);
});
