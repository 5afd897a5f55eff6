import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeViolations, overflow, settled, visit } from './browsing.ts';
import { openWorld, until, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ settings: '  controller: { resyncInterval: 5s }' });
  await until(async () => (await world.api<{ counts: { ready: number } }>('/api/v1/status')).counts.ready === 2);
});
afterAll(() => world.close());

/** Requests a sync of everything again and again, as people do while they wait. */
async function syncing<T>(until: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const sync = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await world.portolan(['sync', '--all']);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const syncs = sync();
  try {
    return await until();
  } finally {
    stop.abort();
    await syncs;
  }
}

/** What the page must say of a controller whose only fault can be its delay: `12 ms; at most 34 ms in 5 minutes`. */
function delayFault(delay: string): string {
  const mostMs = Number(/at most (\d+) ms/.exec(delay)?.[1]);
  return mostMs < 500 ? 'No fault' : `1 fault The process did not respond for ${(mostMs / 1000).toFixed(1)} s`;
}

test('question 6: is the fault in the platform or in the controller?', async () => {
  const page = await visit(world.url, '/');
  await page.getByRole('link', { name: 'Platform' }).click();
  await settled(page);
  const side = (name: string) =>
    page
      .getByRole('region', { name: 'Faults by side' })
      .getByRole('article')
      .filter({
        has: page.getByRole('heading', { name, exact: true }),
      });
  const fact = (card: string, name: string) =>
    page.getByRole('region', { name: card, exact: true }).getByRole('term').filter({ hasText: name }).locator('+ dd');
  // A busy machine can hold the process up. The page then says so, with the delay that it shows, and no other fault.
  const expectControllerWithoutFault = async (): Promise<void> => {
    await expect
      .poll(async () => {
        const delay = await fact('Controller', 'Event-loop delay').innerText();
        return (await side('Controller').innerText()).replaceAll(/\s+/g, ' ').includes(delayFault(delay));
      })
      .toBe(true);
  };
  for (const name of ['Platform', 'Source']) await side(name).getByText('No fault').waitFor();
  await expectControllerWithoutFault();
  const region = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'region-1' }) });
  await region.getByText('Accepts changes').waitFor();
  await region.getByRole('link', { name: '2' }).waitFor();

  // The region fails: its circuit breaker opens, and the page shows that without a reload.
  world.sandbox.setFaults([
    {
      path: '**/regions/region-1/**',
      fault: { type: 'status', when: 'before', status: 502, body: { msg: 'bad gateway' } },
    },
  ]);
  await syncing(() => region.getByText('Circuit breaker open').waitFor());
  await side('Platform')
    .getByText(/Region region-1 is paused \(circuit breaker open\)/)
    .waitFor();
  await side('Platform')
    .getByText(/requests to default failed in the last 5 minutes/)
    .waitFor();
  await expectControllerWithoutFault();
  expect(await axeViolations(page)).toEqual([]);

  // It works again, but slowly.
  world.sandbox.setFaults([{ fault: { type: 'delay', ms: 700 } }]);
  await syncing(() => region.getByText('Accepts changes').waitFor());
  await page
    .getByRole('definition')
    .filter({ hasText: /^(?:7|8|9)\d\d ms$|^1\.\d+e?3? ms$|^1\d{3} ms$/ })
    .first()
    .waitFor();
  world.sandbox.setFaults([]);

  // A faulty commit is a fault of the source.
  world.commit({ 'broken.yaml': 'apiVersion: portolan/v1\nkind: [Component\n' });
  await side('Source')
    .getByText(/broken\.yaml:/)
    .waitFor();
  await page.getByRole('region', { name: 'Source' }).getByText('Rejected').waitFor();
  world.commit({ 'broken.yaml': undefined });
  await side('Source').getByText('No fault').waitFor();

  // Ledger and process.
  expect(await fact('Ledger', 'Size').innerText()).toMatch(/^\d+(?:\.\d+)? [KM]iB$/);
  expect(await fact('Ledger', 'Epoch').innerText()).toBe('1');
  expect(await fact('Ledger', 'Last write').innerText()).toMatch(/just now|ago$/);
  expect(await fact('Controller', 'Heap').innerText()).toMatch(/[MG]iB of /);
  expect(await fact('Controller', 'Event-loop delay').innerText()).toMatch(/^\d+ ms/);
  expect(await overflow(page)).toBe(0);
});
