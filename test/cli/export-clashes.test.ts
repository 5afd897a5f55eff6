import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { variedSeed } from './export-seed.ts';
import { runHere } from './running.ts';
import { setScene } from './scene.ts';

const { team, region } = demo;

test('a folder with another document of the same application is left as it is, and -f is the way out', async () => {
  const scene = await setScene({ dialect: 'extended', manifests: {}, sandbox: { seed: variedSeed } });
  const config = ['--config', join(scene.folder, 'portolan.yaml')];
  const here = (...args: readonly string[]) => runHere([...args, ...config], { env: scene.env, clock: scene.clock });
  const exporting = (...args: readonly string[]) => here('export', ...args);
  // As `init` writes it.
  scene.write(
    'app-1.yaml',
    `apiVersion: portolan/v1
kind: Application
metadata: { name: app-110 }
spec: { team: ${team}, region: ${region}, appId: 110 }
`,
  );
  const to = join(scene.folder, 'manifests');
  const refused = await exporting('--app', `${team}/${region}/110`, '--to', to, '--force');
  expect(refused.code).toBe(3);
  expect(refused.err).toContain('Application/app-110 at');
  expect(refused.err).toContain(`Add -f ${to}`);
  expect(readdirSync(to)).toEqual(['app-1.yaml']);

  scene.write('app-110.yaml', readFileSync(join(to, 'app-1.yaml'), 'utf8'));
  rmSync(join(to, 'app-1.yaml'));
  const taken = await exporting('-f', to, '--app', `${team}/${region}/110`, '--to', to, '--force');
  expect(taken.code, taken.err).toBe(0);
  expect(readdirSync(to)).toEqual(['app-110.yaml']);
  const plan = await here('plan', '-f', to, '--adopt');
  expect(plan.out).toContain('No changes. ');
});
