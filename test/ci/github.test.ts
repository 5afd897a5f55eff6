/**
 * The files of examples/ci/github, run as a runner of GitHub would: their steps in bash, against the sandbox, with the
 * real program. Only the API of the forge is a stand-in.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { beside, alterRule } from '../cli/saved.ts';
import { collectingTerminal, projectRoot, runHere } from '../cli/running.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from '../cli/scene.ts';
import { commit, git, repository, temporaryFolder } from '../source/repositories.ts';
import { type Forge, openForge } from './forge.ts';
import { installGithub, type JobRun, runJob, type Started, type Workflow, workflowOf } from './runner.ts';

const SECRETS = { VIEWER: 'viewer-viewer-viewer-viewer', OPERATOR: 'operator-operator-operator' };
const www = (weight: number): string => rule('www', 'www.example.com', `weight: ${weight}`);

interface Project {
  readonly scene: Scene;
  readonly root: string;
  readonly forge: Forge;
  /** What the variables and secrets of the repository say. */
  readonly settings: Pick<Started, 'vars' | 'secrets'>;
  /** Commits to a branch, and runs what a pull request of it starts. */
  propose(files: Readonly<Record<string, string | undefined>>): Promise<JobRun>;
  /** Merges the branch, and runs what that starts. @param meanwhile after the plan was reviewed. */
  merge(job: string, workflow?: Workflow): Promise<JobRun>;
  /** Merges the branch. Returns the commit on `main`. */
  mergeOnly(): string;
  /** Runs a job on the branch as it is. */
  start(job: string, changes?: Partial<Started>, workflow?: Workflow): Promise<JobRun>;
}

async function project(scene: Scene, settings: Project['settings']): Promise<Project> {
  const root = repository();
  const forge = await openForge(root);
  installGithub(root);
  commit(root, { 'manifests/shop.yaml': shop(web(PORTS), www(50), rule('old', 'old.example.com')) });
  const started = (changes: Partial<Started>): Started => ({
    repository: root,
    sha: git(root, 'rev-parse', 'main'),
    apiUrl: forge.url,
    eventName: 'push',
    event: {},
    ...settings,
    ...changes,
  });
  const mergeOnly = (): string => {
    const sha = git(root, 'rev-parse', 'change');
    git(root, 'merge', '--quiet', '--no-ff', '--message', 'merge', 'change');
    const merged = git(root, 'rev-parse', 'main');
    forge.merged.push({ number: 7, merge_commit_sha: merged, head: { sha } });
    return merged;
  };
  const pullRequest = workflowOf('pull-request.yml');
  const mergeWorkflow = workflowOf('merge.yml');
  return {
    scene,
    root,
    forge,
    settings,
    propose: (files) => {
      // In a folder of its own: a controller watches what is checked out in the root.
      const branch = join(temporaryFolder(), 'change');
      git(root, 'worktree', 'add', '--quiet', '-B', 'change', branch);
      commit(branch, files);
      git(root, 'worktree', 'remove', branch);
      const repo = { full_name: 'acme/shop' };
      const head = { sha: git(root, 'rev-parse', 'change'), repo };
      const event = { pull_request: { number: 7, head } };
      return runJob(pullRequest, 'plan', started({ sha: head.sha, eventName: 'pull_request', event }));
    },
    mergeOnly,
    merge: (job, workflow = mergeWorkflow) => {
      mergeOnly();
      return runJob(workflow, job, started({}));
    },
    start: (job, changes = {}, workflow = mergeWorkflow) => runJob(workflow, job, started(changes)),
  };
}

/** Without a controller: the ledger and the configuration are on the runner. */
async function besideLedger(settings?: string): Promise<Project> {
  const scene = await setScene({ manifests: {}, ...(settings === undefined ? {} : { settings }) });
  const [, config = '', , ledger = ''] = beside(scene);
  const made = await project(scene, {
    vars: { PORTOLAN_CONFIG: config, PORTOLAN_LEDGER: ledger },
    secrets: {
      PORTOLAN_READ_TOKEN: scene.env['PORTOLAN_TOKEN'] ?? '',
      PORTOLAN_TOKEN: scene.env['PORTOLAN_TOKEN'] ?? '',
    },
  });
  const first = await runHere(['apply', '-f', join(made.root, 'manifests'), ...beside(scene), '--yes'], {
    env: scene.env,
  });
  expect(first.code, first.err).toBe(0);
  scene.traffic();
  return made;
}

const change = { 'manifests/shop.yaml': shop(web(PORTS), www(60)) };
const domains = ({ sandbox }: Scene): string[] => [...sandbox.state.rules.all()].map(({ domain }) => domain).sort();
const rulesOf = ({ sandbox }: Scene): string[] =>
  [...sandbox.state.rules.all()].map(({ domain, weight }) => `${domain} ${weight}`);
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
  const other = await asked('--set=prune.maxObjects=5');
  expect(other.code).toBe(3);
  expect(other.log).toContain('--set=prune.maxObjects=5 is not an override of a limit');
  expect(scene.traffic().writes).toEqual([]);
  const run = await asked('--max-prunes=1');
  expect(run.code, run.log).toBe(0);
  expect(scene.traffic().writes.toSorted()).toEqual(['deleteRule', 'updateRule']);
});

const CONTROLLER = `
  source: { ref: main }
  prune: { maxObjects: 0 }
  server:
    listen: 127.0.0.1:0
    tokens:
      - { name: ci, role: viewer, value: { env: VIEWER } }
      - { name: merge, role: operator, value: { env: OPERATOR } }
`;

/** With a controller that follows `main`, and asks before it removes anything. */
async function besideController(settings = CONTROLLER): Promise<Project & { status(): Promise<string> }> {
  const scene = await setScene({ manifests: {}, settings });
  const vars: Record<string, string> = {};
  const made = await project(scene, {
    vars,
    secrets: { PORTOLAN_VIEWER_TOKEN: SECRETS.VIEWER, PORTOLAN_OPERATOR_TOKEN: SECRETS.OPERATOR },
  });
  const stop = new AbortController();
  const { terminal, text } = collectingTerminal();
  const manifests = join(made.root, 'manifests');
  const ended = runHere(['run', '-f', manifests, ...beside(scene)], {
    terminal,
    env: { ...scene.env, ...SECRETS },
    clock: systemClock,
    signal: stop.signal,
  });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  await expect.poll(() => text.err).toMatch(/listening +url=\S+/);
  vars['PORTOLAN_SERVER'] = /listening +url=(\S+)/.exec(text.err)?.[1] ?? '';
  const env = { PORTOLAN_SERVER: vars['PORTOLAN_SERVER'], PORTOLAN_SERVER_TOKEN: SECRETS.VIEWER };
  const status = async (): Promise<string> => (await runHere(['status'], { env })).out;
  await expect.poll(status).toContain('1 ready');
  scene.traffic();
  return { ...made, status };
}

/** The workflow, with less patience. */
function hasty(): Workflow {
  const workflow = workflowOf('merge.yml');
  const [step] = workflow.jobs['approve']?.steps.splice(-1) ?? [];
  if (step === undefined) throw new Error('the job has no steps');
  workflow.jobs['approve']?.steps.push({ ...step, env: { ...step.env, PAUSE_SECONDS: '0.5' } });
  return workflow;
}

test('a controller is let through by the digest that was reviewed, and carries out that plan', async () => {
  const { scene, forge, propose, merge, status } = await besideController();
  const proposed = await propose(change);
  expect(proposed.code, proposed.log).toBe(0);
  expect(proposed.outputs['plan']).toMatchObject({ 'exit-code': '4', changes: 'true' });
  expect(forge.comments.at(-1)?.body).toContain('old.example.com');
  expect(scene.traffic().writes).toEqual([]);
  const run = await merge('approve', hasty());
  expect(run.code, run.log).toBe(0);
  expect(run.log).toContain('is approved');
  await expect.poll(() => domains(scene)).not.toContain('old.example.com');
  await expect.poll(status).toContain('1 ready');
  expect(scene.traffic().writes.toSorted()).toEqual(['deleteRule', 'updateRule']);
});

test('a controller that needs no approval is found to be done', async () => {
  const { scene, propose, merge } = await besideController();
  await propose({ 'manifests/shop.yaml': shop(web(PORTS), www(60), rule('old', 'old.example.com')) });
  const run = await merge('approve', hasty());
  expect(run.code, run.log).toBe(0);
  expect(run.log).not.toContain('is approved');
  expect(scene.traffic().writes).toEqual(['updateRule']);
});

test('a controller whose platform drifted is not let through by the digest of another plan', async () => {
  const { scene, propose, merge } = await besideController();
  const proposed = await propose(change);
  alterRule(scene, 'www.example.com', { weight: 3 });
  const run = await merge('approve', hasty());
  expect(run.code, run.log).toBe(4);
  expect(run.log).toContain(`the reviewed plan ${proposed.outputs['plan']?.['digest']} was not approved`);
  expect(scene.traffic().writes).toEqual([]);
  expect(domains(scene)).toContain('old.example.com');
});

test('a removal that only waits for its time needs no approval, and is no failure', async () => {
  const waiting = CONTROLLER.replace('prune: { maxObjects: 0 }', 'controller: { pruneAfter: 1h }');
  const { scene, propose, merge } = await besideController(waiting);
  await propose(change);
  const run = await merge('approve', hasty());
  expect(run.code, run.log).toBe(0);
  expect(run.log).toContain(
    '::notice::shop: nothing waits for an approval; the controller carries the plan out by itself',
  );
  expect(domains(scene)).toContain('old.example.com');
});

test('a commit that the controller has passed already is found to be done', async () => {
  const { scene, root, forge, propose, mergeOnly, start, status } = await besideController();
  await propose({ 'manifests/shop.yaml': shop(web(PORTS), www(60), rule('old', 'old.example.com')) });
  const sha = mergeOnly();
  commit(root, { 'manifests/shop.yaml': shop(web(PORTS), www(70), rule('old', 'old.example.com')) });
  await expect.poll(() => rulesOf(scene)).toContain('www.example.com 70');
  await expect.poll(status).toContain('1 ready');
  const run = await start('approve', { sha }, hasty());
  expect(run.code, run.log).toBe(0);
  expect(forge.refused).toEqual([]);
});

test('the job says why nothing could be approved: the application is paused', async () => {
  const { settings, propose, merge } = await besideController();
  const env = { PORTOLAN_SERVER: settings.vars['PORTOLAN_SERVER'] ?? '', PORTOLAN_SERVER_TOKEN: SECRETS.OPERATOR };
  const suspended = await runHere(['suspend', 'shop', '--reason', 'an incident'], { env });
  expect(suspended.code, suspended.err).toBe(0);
  await propose({ 'manifests/shop.yaml': shop(web(PORTS), www(60), rule('old', 'old.example.com')) });
  const run = await merge('approve', hasty());
  expect(run.code, run.log).toBe(4);
  expect(run.log).toMatch(/::error::shop: the reviewed plan [0-9a-f]{64} was not approved: the application is paused/);
});

test('with a controller nothing is applied by a job, and without one nothing is approved', async () => {
  const made = await besideLedger();
  expect((await made.start('approve')).code).toBeUndefined();
  const sha = git(made.root, 'rev-parse', 'main');
  const vars = { PORTOLAN_SERVER: 'http://127.0.0.1:1' };
  expect((await made.start('apply', { sha, vars })).code).toBeUndefined();
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
