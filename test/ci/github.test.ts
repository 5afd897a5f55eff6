/**
 * The files of examples/ci/github, run as a runner of GitHub would: their steps in bash, against the sandbox, with the
 * real program. Only the API of the forge is a stand-in.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { alterRule, beside } from '../cli/saved.ts';
import { projectRoot, runHere } from '../cli/running.ts';
import { PORTS, rule, shop, web } from '../cli/scene.ts';
import { commit, git } from '../source/repositories.ts';
import { besideLedger, change, domains, type Project, rulesOf, www } from './github.ts';
import { type Workflow, workflowOf } from './runner.ts';

const digestIn = (text: string): string => /[0-9a-f]{64}/.exec(text)?.[0] ?? '';

test('a pull request is planned, commented once, annotated, and its digest is written on its head', async () => {
  const { scene, forge, propose } = await besideLedger();
  const run = await propose(change);
  expect(run.code, run.log).toBe(0);
  expect(run.outputs['plan']).toMatchObject({
    'exit-code': '2',
    changes: 'true',
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const digest = run.outputs['plan']?.['digest'] ?? '';
  expect(run.summary).toContain(digest);
  expect(run.log).toMatch(/^::(?:notice|warning) .*file=manifests\/shop\.yaml/m);
  const comments = () => forge.comments.filter(({ user }) => user.type === 'Bot').map(({ body }) => body);
  expect(comments()).toEqual([run.summary]);
  const head = [...forge.statuses.values()].flat();
  expect(head.map(({ context, description }) => `${context} ${description}`)).toEqual([
    `portolan/plan ${digest}`,
    `portolan/plan/shop ${digest}`,
  ]);
  const files = readdirSync(run.artifacts.get('portolan-plan') ?? '');
  expect(files.sort()).toEqual(['approvals.txt', 'comment.md', 'messages.txt', 'plan.json', 'plan.sarif', 'plan.xml']);
  expect(scene.traffic().writes).toEqual([]);

  const again = await propose({ 'manifests/shop.yaml': shop(web(PORTS), www(61)) });
  expect(comments()).toEqual([again.summary]);
  expect(again.summary).not.toContain(digest);

  const broken = await propose({ 'manifests/shop.yaml': 'kind: Nothing\n::error::injected\n' });
  expect(broken.code).toBe(3);
  expect(comments()).toEqual([expect.stringContaining('### No plan')]);
  expect(forge.comments).toHaveLength(2);
  expect(forge.refused).toEqual([]);
});

test('what was reviewed is applied when it is merged, and once more nothing is left to do', async () => {
  const { scene, propose, merge, start } = await besideLedger();
  await propose(change);
  scene.traffic();
  const run = await merge('apply');
  expect(run.code, run.log).toBe(0);
  expect(scene.traffic().writes.toSorted()).toEqual(['deleteRule', 'updateRule']);
  expect(domains(scene)).not.toContain('old.example.com');
  expect(run.summary).toContain('### Applied: 2 done');
  const again = await start('apply');
  expect(again.code, again.log).toBe(0);
  expect(again.log).toContain('Nothing of this plan is left to do');
  expect(scene.traffic().writes).toEqual([]);
});

test('no job that has a token that may write runs on the runner of pull requests', () => {
  const runnerOf = (file: string): string[] =>
    [...readFileSync(join(projectRoot, 'examples/ci/github', file), 'utf8').matchAll(/runs-on: .*vars\.(\w+)/g)].map(
      ([, name = '']) => name,
    );
  expect(runnerOf('merge.yml')).toEqual(['PORTOLAN_APPLY_RUNNER', 'PORTOLAN_APPLY_RUNNER']);
  expect(runnerOf('pull-request.yml')).toEqual(['PORTOLAN_RUNNER']);
});

test('a run that is started again sends nothing once the branch has moved', async () => {
  const { scene, forge, root, propose, merge, start } = await besideLedger();
  await propose(change);
  const sha = (await merge('apply')).code === 0 ? git(root, 'rev-parse', 'main') : '';
  // Somebody undoes it by another merge, which applied it.
  alterRule(scene, 'www.example.com', { weight: 50 });
  scene.traffic();
  forge.branches.set('main', 'f'.repeat(40));
  const late = await start('apply', { sha, attempt: 2 });
  expect(late.code, late.log).toBe(4);
  expect(late.log).toContain(`this run is of ${sha}, and main is at ${'f'.repeat(40)} by now. Nothing was sent.`);
  expect(scene.traffic().writes).toEqual([]);
  forge.branches.set('main', sha);
  const early = await start('apply', { sha, attempt: 2 });
  expect(early.log).not.toContain('by now');
});

test('a run that is cancelled finishes and records its request, and starts no other', async () => {
  const { scene, propose, mergeOnly, start } = await besideLedger();
  await propose(change);
  const sha = mergeOnly();
  scene.traffic();
  const stop = new AbortController();
  scene.sandbox.setFaults(
    ['updateRule', 'deleteRule'].map((operation) => ({
      operation,
      fault: { type: 'delay', ms: 1_500, when: 'after' },
    })),
  );
  const run = start('apply', { sha, cancelled: stop.signal });
  await expect.poll(() => rulesOf(scene)).toContain('www.example.com 60');
  stop.abort();
  const { code, log, summary } = await run;
  expect(code, log).not.toBe(0);
  expect(scene.traffic().writes).toEqual(['updateRule']);
  expect(summary).toContain('### Applied: 1 done, 0 failed, 1 skipped');
  const history = await scene.portolan(['history', 'HttpGatewayRule/www']);
  expect(history.out, history.err).toContain('weight: 50 → 60');
});

test.for<readonly [string, (made: Project) => void]>([
  ['the platform drifted', ({ scene }) => scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' })],
  ['a value is another one', ({ scene }) => alterRule(scene, 'www.example.com', { weight: 3 })],
  [
    'another change was merged',
    ({ root }) =>
      void commit(root, { 'manifests/more.yaml': shop(rule('new', 'new.example.com')).split('---\n')[1] ?? '' }),
  ],
])('nothing is sent, and the job ends with 4, when in between %s', async ([, meanwhile]) => {
  const made = await besideLedger();
  const { scene, propose, merge } = made;
  const proposed = await propose(change);
  meanwhile(made);
  scene.traffic();
  const run = await merge('apply');
  expect(run.code, run.log).toBe(4);
  expect(run.log).toContain(`${proposed.outputs['plan']?.['digest']} was expected. Nothing was sent.`);
  expect(run.summary).toContain('### Nothing was sent');
  expect(scene.traffic().writes).toEqual([]);
});

test('a push that no pull request brought is not applied, until a person gives the digest of its plan', async () => {
  const { scene, root, start } = await besideLedger();
  commit(root, change);
  const run = await start('apply');
  expect(run.code).toBe(1);
  expect(run.log).toContain('no pull request was merged as ');
  expect(scene.traffic().writes).toEqual([]);
  const planned = await runHere(['plan', '-f', join(root, 'manifests'), '--prune', ...beside(scene)], {
    env: scene.env,
  });
  const asked = await start('apply', { eventName: 'workflow_dispatch', inputs: { digest: digestIn(planned.out) } });
  expect(asked.code, asked.log).toBe(0);
  expect(scene.traffic().writes.toSorted()).toEqual(['deleteRule', 'updateRule']);
});

test('a plan that a limit holds is applied with its digest and the override that it names, and with nothing else', async () => {
  const { scene, propose, merge, start } = await besideLedger('\n  prune: { maxObjects: 0 }\n');
  const proposed = await propose(change);
  expect(proposed.code, 'without a controller, the check of the pull request fails').toBe(4);
  const { digest = '' } = proposed.outputs['plan'] ?? {};
  expect(proposed.summary).toContain('--max-prunes 1');
  const held = await merge('apply');
  expect(held.code, held.log).toBe(1);
  expect(held.log).toContain('has no plan on its last commit');
  const asked = (override: string) => start('apply', { eventName: 'workflow_dispatch', inputs: { digest, override } });
  for (const text of ['--set=prune.maxObjects=5', '--max-prunes=1\n--set=scopes.allow=x', '--max-prunes=']) {
    const other = await asked(text);
    expect(other.code, text).toBe(3);
    expect(other.log).toContain('the input override is not the override of a limit');
  }
  expect(scene.traffic().writes).toEqual([]);
  const run = await asked('--max-prunes=1');
  expect(run.code, run.log).toBe(0);
  expect(scene.traffic().writes.toSorted()).toEqual(['deleteRule', 'updateRule']);
});

const FILES = ['action.yml', 'pull-request.yml', 'merge.yml'].map(
  (name) => [name, readFileSync(join('examples/ci/github', name), 'utf8')] as const,
);

test.for(FILES)(
  '%s: nothing of strangers is in a script, actions are pinned, permissions are the least',
  ([name, text]) => {
    const parsed = workflowOf(name) as unknown as Workflow & { runs?: { steps: Workflow['jobs'][string]['steps'] } };
    const jobs = Object.values(parsed.jobs ?? {});
    const steps = [...jobs.flatMap((job) => job.steps), ...(parsed.runs?.steps ?? [])];
    expect(steps.length).toBeGreaterThan(2);
    for (const { run, uses } of steps) {
      expect(run ?? '').not.toContain('${{');
      if (uses !== undefined) expect(uses).toMatch(/^\.\/|^actions\/[a-z-]+@[0-9a-f]{40}$/);
    }
    expect(text).not.toContain('pull_request_target');
    if (jobs.length === 0) return;
    expect(parsed.permissions).toEqual({});
    for (const { permissions = {} } of jobs)
      for (const [scope, level] of Object.entries(permissions))
        if (level !== 'read') expect(`${name} ${scope}`).toMatch(/^pull-request\.yml (?:pull-requests|statuses)$/);
  },
);
