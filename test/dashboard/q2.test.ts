import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf, axeViolations, overflow, settled, visit } from './browsing.ts';
import { eventually, type FleetWorld, openFleetWorld } from './fleet-world.ts';

let world: FleetWorld;
let id = '';
beforeAll(async () => {
  world = await openFleetWorld();
  await world.until((counts) => counts['in-sync'] === 12);
  await world.portolan(['suspend', 'app-7', '--reason', 'moves to another team']);
  const files = Array.from({ length: 12 }, (_, at) => world.componentFile(at + 1));
  id = world.commit(
    Object.fromEntries(files.map((file) => [file, (world.files.get(file) ?? '').replace('"P00"', '"Q00"')])),
    'Rename the first port',
  );
  await eventually(async () => (await progressOf(id)) === 11);
});
afterAll(() => world.close());

async function progressOf(sha: string): Promise<number> {
  const { items } = await world.api<{
    readonly items: readonly { readonly id: string; readonly progress: { readonly applied: number } }[];
  }>('/api/v1/commits');
  return items.find((one) => one.id === sha)?.progress.applied ?? 0;
}

test('question 2: is my commit live, and why is the last application waiting', async () => {
  const page = await visit(world.url, '/');
  await settled(page);
  await page.keyboard.press('/');
  await page.keyboard.type(id.slice(0, 10));
  await page.keyboard.press('Enter');
  await page.getByText('Applied to 11 of 12 applications that it changed; 1 waits.').waitFor();
  expect((await addressOf(page)).pathname).toBe(`/commits/${id.slice(0, 10)}`);
  const facts = await page.getByRole('region', { name: 'Progress' }).innerText();
  for (const fact of ['Rename the first port', id, 'Ann']) expect(facts).toContain(fact);
  const row = page.getByRole('row', { name: /app-7/ });
  expect(await row.innerText()).toMatch(/Suspended[\s\S]*suspended by admin: moves to another team/);
  expect(await page.getByRole('region', { name: 'Applied', exact: true }).getByRole('link').count()).toBe(11);
  expect(await axeViolations(page)).toEqual([]);
  // It goes on by itself, and the page says so without a reload.
  await world.portolan(['resume', 'app-7']);
  await page.getByText('This commit is live: applied to 12 of 12 applications that it changed.').waitFor();
  expect(await world.portolan(['commits', id])).toMatchObject({ code: 0, out: expect.stringContaining('is live') });
});

test('a commit with faults says where they are; an unknown and an ambiguous one say what to do', async () => {
  const file = world.componentFile(2);
  const text = world.files.get(file) ?? '';
  const faulty = world.commit({ [file]: text.replace('spec:\n', 'spec:\n  sise: 3\n') }, 'Break it');
  await expect.poll(() => world.log()).toContain(`HEAD@sha1:${faulty} was rejected`);
  const page = await visit(world.url, `/commits/${faulty}`, { width: 360 });
  await page.getByText('This commit was rejected. None of it is applied.').waitFor();
  expect(await page.locator('.remedy code').allInnerTexts()).toEqual(['portolan validate']);
  await page.getByText(`${file}:6:3`).waitFor();
  expect(await overflow(page)).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
  world.commit({ [file]: text.replace('"P00"', '"Q00"') }, 'Repair it');
  const unknown = await visit(world.url, '/commits/0123456789', { expects: /404/ });
  await unknown.getByText(/has no commit 0123456789/).waitFor();
  const broken = await visit(world.url, '/commits/main', { expects: /400/ });
  await broken.getByText('"main" is not the id of a commit.').waitFor();
});

test('commits that were pushed together belong to the one that was read', async () => {
  await world.stop();
  const between = world.commit({ 'README.md': 'one' }, 'Between');
  const last = world.commit({ 'README.md': 'two' }, 'Last');
  await world.start();
  await expect
    .poll(async () => (await world.api<{ items: { id: string }[] }>('/api/v1/commits')).items[0]?.id)
    .toBe(last);
  const page = await visit(world.url, `/commits/${between}`);
  await page.getByText(`This commit is part of HEAD@${last.slice(0, 12)}, which was read in its place.`).waitFor();
  // The restart has forgotten nothing.
  expect(await progressOf(id)).toBe(12);
});
