/** The template of examples/ci/gitlab: its scripts in bash, with variables and artifacts as a runner of GitLab hands them on. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { beside } from '../cli/saved.ts';
import { projectRoot, runHere } from '../cli/running.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from '../cli/scene.ts';
import { commit, git, repository } from '../source/repositories.ts';
import { builtProgram } from '../support/program.ts';
import { bash, programOnPath, scratch } from './runner.ts';

interface Job {
  readonly extends?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly rules: readonly { readonly if?: string; readonly when?: string }[];
  readonly allow_failure?: { readonly exit_codes: readonly number[] };
  readonly environment?: { readonly name: string };
  readonly resource_group?: string;
  readonly image?: { readonly name: string; readonly entrypoint: readonly string[] };
  readonly stage?: string;
  readonly before_script?: readonly string[];
  readonly script: readonly string[];
  readonly artifacts?: {
    readonly paths: readonly string[];
    readonly reports?: { readonly junit?: string; readonly codequality?: string; readonly dotenv?: string };
  };
}

const template = parse(
  readFileSync(join(projectRoot, 'examples', 'ci', 'gitlab', 'portolan.gitlab-ci.yml'), 'utf8'),
) as Readonly<Record<string, Job>>;

interface Ran {
  readonly code: number;
  readonly text: string;
  readonly folder: string;
  /** Of `reports: dotenv`. */
  readonly handed: Readonly<Record<string, string>>;
}

interface Pipeline {
  readonly scene: Scene;
  readonly root: string;
  /** @param from the job whose artifacts and variables it needs. */
  run(name: string, from?: Ran, variables?: Readonly<Record<string, string>>): Promise<Ran>;
}

/** An entry of GitLab's code quality report. */
interface QualityEntry {
  readonly check_name: string;
  readonly fingerprint: string;
}

async function pipeline(settings?: string): Promise<Pipeline> {
  const scene = await setScene({ manifests: {}, ...(settings === undefined ? {} : { settings }) });
  const root = repository({ 'manifests/shop.yaml': text(50, rule('old', 'old.example.com')) });
  const first = await runHere(['apply', '-f', join(root, 'manifests'), ...beside(scene), '--yes'], { env: scene.env });
  expect(first.code, first.err).toBe(0);
  scene.traffic();
  const [, config = '', , ledger = ''] = beside(scene);
  return {
    scene,
    root,
    run: async (name, from, variables = {}) => {
      const job = template[name];
      const base = template[job?.extends ?? ''];
      if (job === undefined || base === undefined) throw new Error(`there is no job ${name}`);
      const folder = scratch('gitlab');
      git(folder, 'clone', '--quiet', root, '.');
      if (from !== undefined)
        for (const path of template['portolan save']?.artifacts?.paths ?? [])
          cpSync(join(from.folder, path), join(folder, path), { recursive: true });
      const script = join(scratch('script'), 'script.sh');
      writeFileSync(script, [...(base.before_script ?? []), ...job.script].join('\n'));
      const env = { PATH: programOnPath(), HOME: folder, CI: 'true', GITLAB_CI: 'true' };
      const ours = { PORTOLAN_CONFIG: config, PORTOLAN_LEDGER: ledger, ...scene.env };
      const all = { ...env, ...ours, ...base.variables, ...job.variables, ...from?.handed, ...variables };
      const { code, text: said } = await bash(script, folder, all);
      const dotenv = code === 0 ? job.artifacts?.reports?.dotenv : undefined;
      const lines = dotenv === undefined ? [] : readFileSync(join(folder, dotenv), 'utf8').trim().split('\n');
      const handed = Object.fromEntries(lines.map((line) => [line.split('=')[0] ?? '', line.split('=')[1] ?? '']));
      return { code, text: said, folder, handed };
    },
  };
}

function text(weight: number, ...more: readonly string[]): string {
  return shop(web(PORTS), rule('www', 'www.example.com', `weight: ${weight}`), ...more);
}

interface Note {
  readonly id: number;
  readonly author: { readonly id: number };
  readonly system: boolean;
  body: string;
}

/** The three calls of GitLab's API that the comment makes, answered as its documentation has them. The user of the token has the id 7. */
async function openGitlab() {
  const notes: Note[] = [
    { id: 1, author: { id: 3 }, system: false, body: '<!-- portolan:plan:default -->\nof somebody else' },
  ];
  const calls: string[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((sent) => {
      const { pathname } = new URL(request.url ?? '/', 'http://gitlab');
      calls.push(`${request.method} ${pathname}`);
      const { body } = (sent === '' ? {} : JSON.parse(sent)) as { body: string };
      const own = notes.find(({ id }) => pathname === `/api/v4/projects/42/merge_requests/5/notes/${id}`);
      let answer: unknown;
      if (request.headers['private-token'] !== 'gitlab-token') answer = undefined;
      else if (pathname === '/api/v4/user') answer = { id: 7 };
      else if (own !== undefined) answer = Object.assign(own, { body });
      else if (pathname === '/api/v4/projects/42/merge_requests/5/notes') {
        if (request.method === 'POST') notes.push({ id: notes.length + 1, author: { id: 7 }, system: false, body });
        answer = request.method === 'POST' ? notes.at(-1) : notes;
      }
      response.writeHead(answer === undefined ? 401 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  const variables = {
    CI_API_V4_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`,
    CI_MERGE_REQUEST_PROJECT_ID: '42',
    CI_MERGE_REQUEST_IID: '5',
    PORTOLAN_COMMENT_TOKEN: 'gitlab-token',
  };
  return { notes, calls, variables };
}

const change = { 'manifests/shop.yaml': text(60) };

test('in the image, a shell starts in place of the entrypoint, and finds its program', async () => {
  const { image, before_script: before = [] } = template['.portolan'] ?? {};
  expect(image?.entrypoint).toEqual(['']);
  const dockerfile = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8');
  const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  const program = (JSON.parse(entry) as string[]).at(-1) ?? '';
  const script = join(scratch('script'), 'script.sh');
  const lines = before.map((line) => line.replace(program, builtProgram()));
  expect(lines).not.toEqual(before);
  writeFileSync(script, [...lines, 'portolan validate --help'].join('\n'));
  const { code, text: said } = await bash(script, scratch('gitlab'), {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
  });
  expect(code, said).toBe(0);
  expect(said).toContain('Usage: portolan validate');
});

test('the jobs are in stages that a file without stages has', () => {
  expect(Object.hasOwn(template, 'stages')).toBe(false);
  const stages = Object.entries(template).flatMap(([name, { stage }]) => (name.startsWith('.') ? [] : [stage]));
  expect(new Set(stages)).toEqual(new Set(['test', 'deploy']));
});

test('a merge request shows its plan in every form, and the job keeps the code 2', async () => {
  const { scene, root, run } = await pipeline();
  const gitlab = await openGitlab();
  const comment = readFileSync(join(projectRoot, 'examples', 'ci', 'gitlab', 'portolan-comment.mjs'), 'utf8');
  commit(root, { ...change, 'ci/portolan-comment.mjs': comment });
  const ran = await run('portolan plan', undefined, gitlab.variables);
  expect(ran.code, ran.text).toBe(2);
  expect(template['portolan plan']?.allow_failure?.exit_codes).toContain(2);
  const read = (name: string): string => readFileSync(join(ran.folder, 'portolan-plan', name), 'utf8');
  const { digest } = JSON.parse(read('plan.json')) as { digest: string };
  expect(read('comment.md')).toContain(digest);
  expect(read('plan.xml')).toContain('<testsuites');
  expect(gitlab.notes.map(({ body }) => body)).toEqual([
    expect.stringContaining('of somebody else'),
    read('comment.md'),
  ]);
  const { codequality } = template['portolan plan']?.artifacts?.reports ?? {};
  const quality = JSON.parse(readFileSync(join(ran.folder, codequality ?? ''), 'utf8')) as readonly QualityEntry[];
  expect(quality).toContainEqual({
    check_name: 'plan/update',
    description: expect.stringMatching(/^HttpGatewayRule\/www: .*weight: 50 → 60/) as string,
    severity: 'info',
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    location: { path: 'manifests/shop.yaml', lines: { begin: expect.any(Number) as number } },
  });
  expect(new Set(quality.map(({ fingerprint }) => fingerprint)).size).toBe(quality.length);
  expect(ran.text).toContain('old.example.com');
  commit(root, { 'manifests/shop.yaml': 'kind: Nothing\n' });
  const faulty = await run('portolan plan', undefined, gitlab.variables);
  expect(faulty.code, faulty.text).toBe(3);
  expect(gitlab.notes).toHaveLength(2);
  expect(gitlab.notes[1]?.body).toMatch(/^<!-- portolan:plan:default -->\n\n### No plan\n[^]*ended with 3/);
  const faults = JSON.parse(readFileSync(join(faulty.folder, codequality ?? ''), 'utf8')) as readonly QualityEntry[];
  expect(faults).toMatchObject([{ severity: 'critical', location: { path: 'manifests/shop.yaml' } }]);
  expect(scene.traffic().writes).toEqual([]);
});

test('on the default branch the plan is saved, and the job that a person starts carries out exactly that', async () => {
  const { scene, root, run } = await pipeline();
  commit(root, change);
  const saved = await run('portolan save');
  expect(saved.code, saved.text).toBe(0);
  expect(saved.handed['PORTOLAN_PLANNED']).toMatch(/^[0-9a-f]{64}$/);
  expect(scene.traffic().writes).toEqual([]);
  const other = await run('portolan apply', saved, { PORTOLAN_REVIEWED: '0'.repeat(64) });
  expect(other.code, other.text).toBe(4);
  expect(scene.traffic().writes).toEqual([]);
  const applied = await run('portolan apply', saved, { PORTOLAN_REVIEWED: saved.handed['PORTOLAN_PLANNED'] ?? '' });
  expect(applied.code, applied.text).toBe(0);
  expect(scene.traffic().writes.toSorted()).toEqual(['deleteRule', 'updateRule']);
  const again = await run('portolan apply', saved);
  expect(again.code).toBe(0);
  expect(again.text).toContain('Nothing of this plan is left to do');
});

test('a plan that a limit holds is saved by a pipeline that has its override as a variable', async () => {
  const { scene, root, run } = await pipeline('\n  prune: { maxObjects: 0 }\n');
  commit(root, change);
  const held = await run('portolan save');
  expect(held.code, held.text).toBe(4);
  expect(held.text).toContain('--max-prunes 1');
  const variables = { PORTOLAN_PLAN_MAX_PRUNES: '1' };
  const saved = await run('portolan save', undefined, variables);
  expect(saved.code, saved.text).toBe(0);
  const applied = await run('portolan apply', saved, variables);
  expect(applied.code, applied.text).toBe(0);
  expect(scene.traffic().writes.toSorted()).toEqual(['deleteRule', 'updateRule']);
});

test('if the platform drifted before it was started, nothing is sent', async () => {
  const { scene, root, run } = await pipeline();
  commit(root, change);
  const saved = await run('portolan save');
  scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
  scene.traffic();
  const applied = await run('portolan apply', saved);
  expect(applied.code).toBe(4);
  expect(applied.text).toContain('+ Component/shop-web: change alias of port 8080 to WEB');
  expect(scene.traffic().writes).toEqual([]);
});

test('only a person applies, one at a time, in a protected environment, on the default branch', () => {
  const { rules, environment, resource_group: group } = template['portolan apply'] ?? {};
  expect(rules).toEqual([{ if: expect.stringContaining('$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH'), when: 'manual' }]);
  expect([environment?.name, group]).toEqual(['production', 'portolan']);
});
