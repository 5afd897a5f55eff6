/** A repository as GitHub has it, with the files of examples/ci/github, and what its pull requests and merges start. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { beside } from '../cli/saved.ts';
import { runHere } from '../cli/running.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from '../cli/scene.ts';
import { commit, git, repository, temporaryFolder } from '../source/repositories.ts';
import { type Forge, openForge } from './forge.ts';
import { installGithub, type JobRun, runJob, type Started, type Workflow, workflowOf } from './runner.ts';

export const www = (weight: number): string => rule('www', 'www.example.com', `weight: ${weight}`);

export interface Project {
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

export async function project(scene: Scene, settings: Project['settings']): Promise<Project> {
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
export async function besideLedger(settings?: string): Promise<Project> {
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

export const change = { 'manifests/shop.yaml': shop(web(PORTS), www(60)) };
export const domains = ({ sandbox }: Scene): string[] =>
  [...sandbox.state.rules.all()].map(({ domain }) => domain).sort();
export const rulesOf = ({ sandbox }: Scene): string[] =>
  [...sandbox.state.rules.all()].map(({ domain, weight }) => `${domain} ${weight}`);
