/** The job `approve` of examples/ci/github/merge.yml, beside a controller that follows the branch. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDaemonHere } from '../cli/daemon-here.ts';
import { alterRule, beside } from '../cli/saved.ts';
import { runHere } from '../cli/running.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from '../cli/scene.ts';
import { commit, git } from '../source/repositories.ts';
import { besideLedger, change, domains, type Project, project, rulesOf, www } from './github.ts';
import { type Workflow, workflowOf } from './runner.ts';

const SECRETS = { VIEWER: 'viewer-viewer-viewer-viewer', OPERATOR: 'operator-operator-operator' };

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
  const manifests = join(made.root, 'manifests');
  const { url } = await startDaemonHere(['-f', manifests, ...beside(scene)], { ...scene.env, ...SECRETS });
  vars['PORTOLAN_SERVER'] = url;
  const env = { PORTOLAN_SERVER: url, PORTOLAN_SERVER_TOKEN: SECRETS.VIEWER };
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

test('a pass that takes longer than the patience of the job is waited for', async () => {
  const { scene, propose, merge } = await besideController();
  await propose({ 'manifests/shop.yaml': shop(web(PORTS), www(60), rule('old', 'old.example.com')) });
  // Six attempts take three seconds.
  scene.sandbox.setFaults([{ operation: 'updateRule', times: 1, fault: { type: 'delay', ms: 8_000 } }]);
  const run = await merge('approve', hasty());
  expect(run.code, run.log).toBe(0);
  expect(run.log).not.toContain('::notice::');
  expect(rulesOf(scene)).toContain('www.example.com 60');
});

test.for<[string, (scene: Scene) => void]>([
  [
    'fails',
    ({ sandbox }) => {
      // An answer that is on the list of definite refusals.
      const body = { code: 20400, msg: 'bad thing', msg_show: 'bad thing', data: {} };
      const fault = { type: 'status', when: 'before', status: 400, body } as const;
      sandbox.setFaults([{ operation: 'updateRule', fault }]);
    },
  ],
  [
    'waits for a person',
    ({ sandbox }) =>
      sandbox.alter((state) => {
        const [row] = state.rules.all();
        if (row === undefined) throw new Error('the sandbox has no rule');
        state.rules.put({ ...row, id: 'f'.repeat(32), row: row.row + 1_000, domain: 'taken.example.com' });
      }),
  ],
])('the job says why nothing could be approved: the application %s', async ([, meanwhile]) => {
  const { scene, propose, merge } = await besideController();
  const rules = [www(60), rule('old', 'old.example.com'), rule('taken', 'taken.example.com')];
  await propose({ 'manifests/shop.yaml': shop(web(PORTS), ...rules) });
  meanwhile(scene);
  const run = await merge('approve', hasty());
  expect(run.code, run.log).toBe(4);
  expect(run.log).toContain('was not approved: the application fails or waits for a person, see portolan attention');
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
