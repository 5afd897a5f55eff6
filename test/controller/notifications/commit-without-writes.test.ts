import { expect, test } from 'vitest';
import { APPLICATION, FILES, SHOP, started } from '../shop.ts';
import { startForge } from './forge.ts';

test('a commit that needs no write becomes a success at the forge', async () => {
  const world = started();
  const statesOf = startForge(world.controller.api, world.clock);
  const { 'blog.yaml': _, ...files } = FILES;
  await world.commit(files);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  await world.pass(60_000);
  const id = await world.commit({ ...files, 'app.yaml': APPLICATION.replace('env: prod', 'env: prod, tier: front') });
  await world.pass(60_000);
  expect(statesOf(id)).toEqual(['pending', 'success']);
});
