import { expect, test } from 'vitest';
import type { SourceReading } from '../../../src/source/feed.ts';
import { both, twoLeaders, WEST } from './two-leaders.ts';

const LOAD_MS = 60_000;

/** `one` leads the source and the east, and `two` the west. `one` loads a large commit. */
async function loading() {
  const { group, one, two } = await twoLeaders();
  await group.commit(both('www.example.com'));
  await group.until(
    () => one.ready('Application/east') === 'True InSync' && two.ready(WEST) === 'True InSync',
    'in sync',
  );
  const files = Object.entries(both('www.example.com', 'new.example.com'));
  const contents = await one.workbench.files(files.map(([path, content]) => ({ path, content })));
  const load = contents.load.bind(contents);
  Object.assign(contents, {
    load: async (...parts: Parameters<typeof load>) => {
      await group.clock.sleep(LOAD_MS);
      return load(...parts);
    },
  });
  const id = '2'.padStart(40, '0');
  const reading: SourceReading = {
    revision: `main@sha1:${id}`,
    commit: { id, committedMs: group.clock.now(), author: 'Ann <ann@example.com>', subject: 'Large' },
    contents,
    observedMs: group.clock.now(),
    descentFrom: async () => 'descends',
  };
  const said = one.feed.says({ type: 'read', reading, askedMs: group.clock.monotonic() });
  await group.pass(1_000);
  return { group, one, two, said };
}

test('while a leader loads a commit, it takes over what others share and corrects drift, and then follows the commit', async () => {
  const { group, one, two, said } = await loading();
  await two.controller.api.suspend(WEST, 'a person', 'a test');
  await group.pass(20_000);
  expect(one.controller.api.application(WEST)?.pause).toMatchObject({ type: 'suspended', by: 'a person' });
  const rules = group.platforms.east.rules;
  rules.delete([...rules.all()].find(({ domain }) => domain === 'www.example.com')?.id ?? '');
  await one.controller.api.sync(['Application/east'], 'a person');
  await group.pass(10_000);
  expect(group.domains('east')).toEqual(['www.example.com']);
  await said;
  await group.until(() => group.domains('east').includes('new.example.com'), 'the commit is applied');
});

test('while a leader loads a commit, it takes over a platform at once', async () => {
  const { group, one, two, said } = await loading();
  await two.leadership.release('platform:west');
  const fromMs = group.clock.monotonic();
  await one.leadership.take('platform:west');
  expect(group.clock.monotonic() - fromMs).toBeLessThan(1_000);
  await said;
});
