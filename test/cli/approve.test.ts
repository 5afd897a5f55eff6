import { expect, test } from 'vitest';
import { application, planOf, troubled } from '../server/controller.ts';
import { serve, TOKENS } from '../server/serving.ts';
import { collectingTerminal, runHere } from './running.ts';

test('approve shows the held plan and asks; plan --server NAME shows it too, for any viewer', async () => {
  const serving = await serve();
  const plan = planOf('Application/blog');
  const blog = troubled('blog');
  const setHeld = (digest: string) => {
    serving.api.list = [application('shop'), { ...blog, approval: { digest, refusals: [], sinceMs: 1 } }];
  };
  setHeld(plan.digest);
  serving.api.planned = async () => plan;
  const asked = `approve Application/blog ${plan.digest} by operator`;
  const approve = async (answers: string[] | undefined, ...args: readonly string[]) => {
    serving.api.asked.length = 0;
    const { terminal, text } = collectingTerminal(answers === undefined ? {} : { answers });
    const env = { PORTOLAN_SERVER: serving.url, PORTOLAN_SERVER_TOKEN: TOKENS.operator };
    const { code } = await runHere(['approve', 'blog', ...args], { terminal, env });
    return { code, ...text, asked: [...serving.api.asked] };
  };
  const yes = await approve(['y']);
  expect(yes).toMatchObject({ code: 0, asked: [asked] });
  expect(yes.out).toMatch(/^Application\/blog .*open outer access of port 80 .*Digest: .* is approved\n$/s);
  expect(yes.err).toContain(`Approve the plan ${plan.digest.slice(0, 12)} of Application/blog? [y/N]`);
  expect(await approve(['n'])).toMatchObject({ code: 0, asked: [] });
  const silent = await approve(undefined);
  expect(silent).toMatchObject({ code: 3, asked: [] });
  expect(silent.err).toContain('Pass --yes, or --expect DIGEST, to proceed without a question.');
  expect(await approve(undefined, '--yes')).toMatchObject({ code: 0, asked: [asked] });
  expect(await approve(undefined, '--expect', plan.digest)).toMatchObject({ code: 0, asked: [asked] });

  for (const digest of ['1234', 'not-hex-digits'])
    expect((await approve(undefined, digest)).err).toContain('Expected the digest that portolan status --server shows');

  // A viewer may see it.
  const ask = (args: readonly string[]) =>
    runHere(args, { env: { PORTOLAN_SERVER: serving.url, PORTOLAN_SERVER_TOKEN: TOKENS.viewer } });
  for (const name of ['blog', 'Application/blog']) {
    const shown = await ask(['plan', name, '--expect', plan.digest]);
    expect(shown).toMatchObject({
      code: 0,
      err: `This plan waits for an approval: portolan approve blog --server ${serving.url}\n`,
    });
    expect(yes.out).toContain(shown.out);
  }
  expect((await ask(['plan', 'blog', '--prune'])).err).toContain('--prune cannot be used for an application');
  expect((await ask(['plan', 'blgo'])).err).toMatch(/Did you mean blog\? .* pass -f blgo\./);
  expect((await ask(['plan', './blog'])).err).toContain('./blog');

  setHeld('abcdef0123');
  const changed = await approve(['y']);
  expect(changed).toMatchObject({ code: 4, asked: [] });
  expect(changed.err).toContain(`the controller holds abcdef0123, and the present plan is ${plan.digest}`);
  expect((await ask(['plan', 'blog'])).err).toContain('abcdef0123 waits for an approval, but it has');
  serving.api.list = [application('blog')];
  expect(await approve(['y'])).toMatchObject({ code: 4, out: '', asked: [] });
});
