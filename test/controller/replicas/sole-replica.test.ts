import { expect, test } from 'vitest';
import { FILES, started } from '../shop.ts';

test('a controller with a ledger of its own is one replica that leads every platform and its source', async () => {
  const world = started();
  await world.commit(FILES);
  const { isShared, isCurrent, replicas, units } = await world.controller.api.replicas();
  expect({ isShared, isCurrent }).toEqual({ isShared: false, isCurrent: true });
  expect(replicas).toMatchObject([{ isSelf: true, isDraining: false, leads: 2 }]);
  expect(units.map(({ unit }) => unit)).toEqual(['platform:default', 'source:default']);
  for (const unit of units) expect(unit).toMatchObject({ leader: replicas[0]?.name, leaseLeftMs: null });
  await world.controller.drain();
  expect((await world.controller.api.replicas()).replicas).toMatchObject([{ isDraining: true }]);
});
