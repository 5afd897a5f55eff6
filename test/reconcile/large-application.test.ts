import { expect, onTestFinished, test, vi } from 'vitest';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

/** Several times as many as are observed at once. */
const RULES = 1_000;
/** As many as may be observed in one turn of the event loop. */
const AT_ONCE = 256;

test('many resources of one application are observed in parts, because one answer continues all that wait for it', async () => {
  const ports = [{ port: 8080, alias: 'WEB', inner: true, outer: true }];
  const web = manifest('Component', 'web', { application: 'shop', serviceId: SERVICE, ports });
  const rules = Array.from({ length: RULES }, (_, index) =>
    manifest('HttpGatewayRule', `r${index}`, {
      application: 'shop',
      component: 'web',
      port: 8080,
      domain: `r${index}.example.com`,
      path: '/',
    }),
  );
  const calls = reconciledKinds.get('HttpGatewayRule')?.calls;
  if (calls === undefined) throw new Error('the kind is reconciled');
  const { observe } = calls;
  let open = 0;
  let mostAtOnce = 0;
  const observing = vi.spyOn(calls, 'observe').mockImplementation(async (context) => {
    open += 1;
    mostAtOnce = Math.max(mostAtOnce, open);
    const seen = await observe(context);
    open -= 1;
    return seen;
  });
  onTestFinished(() => observing.mockRestore());
  const world = new ScopeWorld(smallShop({ ports }), 'extended');
  await world.pass(workOf(ADDRESS, [web, ...rules]), { ...allowEverything, readOnly: true });
  expect(observing.mock.calls.length).toBeGreaterThanOrEqual(RULES);
  expect(mostAtOnce).toBeLessThanOrEqual(AT_ONCE);
});
