import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { APPLICATION, SHOP, started } from './shop.ts';

const INSTALL = `apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: db }
spec:
  application: shop
  store: main
  model: { id: ${demo.mysqlModelId}, version: 8.0.36 }
  build: true
  wait: { for: running, timeout: 30m }
`;

test('the daemon tells that a component is being built, and that its build failed', async () => {
  const world = started();
  for (const model of world.state.models.all()) {
    const failing = { buildFailure: 'no space left on device' };
    const versions = model.versions.map((version) => ({
      ...version,
      components: version.components.map((component) => ({ ...component, ...failing })),
    }));
    world.state.models.put({ ...model, versions });
  }
  await world.commit({ 'app.yaml': APPLICATION, 'db.yaml': INSTALL });
  await world.until(() => world.eventsOf('hold.added').length === 1, 'the failed build is told');
  expect(
    world
      .eventsOf('wait.progress')
      .map(({ message }) => message)
      .join(),
  ).toContain('mysql is being built');
  const [held] = world.eventsOf('hold.added');
  expect(held).toMatchObject({
    resource: 'StoreInstall/db',
    application: SHOP,
    detail: { code: 'install/build-failed' },
  });
  expect(held?.message).toContain('the build of component mysql of StoreInstall/db failed (event ');
  expect(held?.message).toContain('build failed: no space left on device');
  const ready = world.application(SHOP).conditions.find(({ type }) => type === 'Ready');
  expect(ready?.status).toBe('False');
});
