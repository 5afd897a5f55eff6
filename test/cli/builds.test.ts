import { expect, test } from 'vitest';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { install, setScene, shop } from './scene.ts';

/** The demo with a database whose build fails. */
const failing = {
  ...demoSeed,
  stores: (demoSeed.stores ?? []).map((store) => ({
    ...store,
    models: (store.models ?? []).map((model) => ({
      ...model,
      versions: model.versions.map((version) => ({
        ...version,
        components: version.components.map((component) =>
          model.id === demo.mysqlModelId ? { ...component, buildFailure: 'no space left on device' } : component,
        ),
      })),
    })),
  })),
};

test('apply and status show that a component is being built, and that its build failed', async () => {
  const scene = await setScene({
    manifests: { 'a.yaml': shop(install('db', ', wait: { for: running, timeout: 10m }')) },
    sandbox: { seed: failing },
  });
  const run = await scene.run('apply');
  expect(run.code, run.out).toBe(4);
  expect(run.err).toContain('mysql is being built');
  expect(run.out).toContain('the build of component mysql of StoreInstall/db failed (event ');
  expect(run.out).toContain('build failed: no space left on device');
  expect(run.out).toContain('build mysql again in the console');
  const status = await scene.run('status');
  expect(status.out).toMatch(/StoreInstall\/db +Held +install\/build-failed: the build of component mysql/);
});
