import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../cli/running.ts';
import { git } from '../source/repositories.ts';
import { builtPackage } from '../support/program.ts';
import { type Context, interpolate, isMet, type Scalar } from './expressions.ts';

export interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: Scalar;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly with?: Readonly<Record<string, Scalar>>;
  readonly env?: Readonly<Record<string, Scalar>>;
}

export interface Job {
  readonly if?: Scalar;
  readonly env?: Readonly<Record<string, Scalar>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: Step[];
}

export interface Workflow {
  readonly permissions?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: Scalar }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

/** What the forge knows when it starts a job. */
export interface Started {
  /** Where it is cloned from. */
  readonly repository: string;
  /** The commit that is checked out. */
  readonly sha: string;
  readonly apiUrl: string;
  readonly eventName: string;
  readonly event: object;
  readonly inputs?: Readonly<Record<string, string>>;
  /** 1 by default; a run that is started again keeps its commit. */
  readonly attempt?: number;
  /** Aborted when somebody cancels the run: the process of the step gets SIGINT, and nothing that this started does. */
  readonly cancelled?: AbortSignal;
  readonly vars: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

export interface JobRun {
  /** Of the first step that failed, or 0; undefined: the job was skipped. */
  readonly code: number | undefined;
  readonly log: string;
  readonly summary: string;
  /** By the id of the step. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Names of what was uploaded → its files. */
  readonly artifacts: ReadonlyMap<string, string>;
}

const TOKEN = 'forge-token';
/** Of the repository, at the forge. */
const NAME = 'acme/shop';

let built: string | undefined;
afterAll(() => {
  if (built !== undefined) rmSync(built, { recursive: true, force: true });
});

/** What a runner has on its PATH: `portolan` as it is shipped, a copy for all tests of a file. */
export function programOnPath(): string {
  if (built === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'portolan-ci-program-'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    cpSync(join(builtPackage(), 'dist'), join(folder, 'dist'), { recursive: true });
    writeFileSync(
      join(folder, 'portolan'),
      // Each step has a home of its own; what the program compiled is kept beside it for all of them.
      `#!/bin/sh\nXDG_CACHE_HOME='${folder}/cache' exec '${process.execPath}' '${folder}/dist/portolan.js' "$@"\n`,
    );
    chmodSync(join(folder, 'portolan'), 0o755);
    built = folder;
  }
  return `${built}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
}

export function scratch(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `portolan-ci-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a job of a workflow as a runner does: its steps in bash, with the files and variables of the forge. */
export async function runJob(workflow: Workflow, name: string, started: Started): Promise<JobRun> {
  const job = workflow.jobs[name];
  if (job === undefined) throw new Error(`there is no job ${name}`);
  const machine = new Machine(started);
  const context = machine.context({ inputs: started.inputs ?? {}, steps: {} });
  if (!isMet(job.if, context)) return { code: undefined, log: '', summary: '', outputs: {}, artifacts: new Map() };
  const env = machine.values(job.env, context);
  const outputs = await machine.steps(job.steps, started.inputs ?? {}, env, machine.workspace);
  return { ...machine.result(), outputs };
}

type Values = Record<string, string>;

class Machine {
  readonly workspace = scratch('workspace');
  readonly #temp = scratch('temp');
  readonly #path = programOnPath();
  readonly #started: Started;
  readonly #artifacts = new Map<string, string>();
  #code = 0;
  #log = '';
  #summary = '';

  constructor(started: Started) {
    this.#started = started;
  }

  result() {
    return { code: this.#code, log: this.#log, summary: this.#summary, artifacts: this.#artifacts };
  }

  context(more: Context): Context {
    const { sha, event, eventName, vars, secrets } = this.#started;
    return {
      github: { repository: NAME, sha, event, event_name: eventName, token: TOKEN },
      vars,
      secrets,
      runner: { temp: this.#temp },
      success: () => this.#code === 0,
      always: () => true,
      cancelled: () => false,
      ...more,
    };
  }

  values(given: Readonly<Record<string, Scalar>> | undefined, context: Context): Values {
    return Object.fromEntries(Object.entries(given ?? {}).map(([key, value]) => [key, interpolate(value, context)]));
  }

  async steps(steps: readonly Step[], inputs: Values, env: Values, actionPath: string) {
    const outputs: Record<string, Values> = {};
    for (const step of steps) {
      const done = Object.fromEntries(Object.entries(outputs).map(([id, values]) => [id, { outputs: values }]));
      const context = this.context({ inputs, steps: done });
      if (!isMet(step.if, context)) continue;
      const stepEnv = { ...env, ...this.values(step.env, context) };
      const given = this.values(step.with, context);
      const made =
        step.run === undefined ? await this.#use(step, given, stepEnv) : await this.#run(step.run, stepEnv, actionPath);
      if (step.id !== undefined) outputs[step.id] = made;
    }
    return outputs;
  }

  async #use({ uses = '' }: Step, given: Values, env: Values): Promise<Values> {
    if (uses.startsWith('actions/checkout@')) {
      git(this.workspace, 'clone', '--quiet', this.#started.repository, '.');
      git(this.workspace, 'checkout', '--quiet', this.#started.sha);
      return {};
    }
    if (uses.startsWith('actions/setup-node@')) return {};
    if (uses.startsWith('actions/upload-artifact@')) {
      const kept = scratch('artifact');
      cpSync(given['path'] ?? '', kept, { recursive: true });
      this.#artifacts.set(given['name'] ?? '', kept);
      return {};
    }
    if (!uses.startsWith('./')) throw new Error(`an action that this runner does not have: ${uses}`);
    const folder = join(this.workspace, uses);
    const action = parse(readFileSync(join(folder, 'action.yml'), 'utf8')) as Action;
    const unknown = Object.keys(given).find((key) => !Object.hasOwn(action.inputs, key));
    if (unknown !== undefined) throw new Error(`${uses} has no input ${unknown}`);
    const defaults = Object.entries(action.inputs).map(([key, input]) => [key, String(input.default ?? '')] as const);
    const inner = await this.steps(action.runs.steps, { ...Object.fromEntries(defaults), ...given }, env, folder);
    const steps = Object.fromEntries(Object.entries(inner).map(([id, values]) => [id, { outputs: values }]));
    return Object.fromEntries(
      Object.entries(action.outputs).map(([key, { value }]) => [key, interpolate(value, this.context({ steps }))]),
    );
  }

  async #run(script: string, env: Values, actionPath: string): Promise<Values> {
    const folder = scratch('step');
    const file = (name: string): string => join(folder, name);
    writeFileSync(file('script.sh'), script);
    for (const name of ['output', 'summary']) writeFileSync(file(name), '');
    writeFileSync(file('event.json'), JSON.stringify(this.#started.event));
    const values = {
      PATH: this.#path,
      HOME: folder,
      GITHUB_ACTIONS: 'true',
      GITHUB_ACTION_PATH: actionPath,
      GITHUB_API_URL: this.#started.apiUrl,
      GITHUB_EVENT_PATH: file('event.json'),
      GITHUB_OUTPUT: file('output'),
      GITHUB_REF_NAME: 'main',
      GITHUB_REPOSITORY: NAME,
      GITHUB_RUN_ATTEMPT: String(this.#started.attempt ?? 1),
      GITHUB_SHA: this.#started.sha,
      GITHUB_STEP_SUMMARY: file('summary'),
      GITHUB_WORKSPACE: this.workspace,
      RUNNER_TEMP: this.#temp,
      ...env,
    };
    const { code, text } = await bash(file('script.sh'), this.workspace, values, this.#started.cancelled);
    if (this.#code === 0) this.#code = code;
    this.#log += text;
    this.#summary += readFileSync(file('summary'), 'utf8');
    const lines = readFileSync(file('output'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
  }
}

/** As GitHub starts `shell: bash`, and GitLab a script. */
export function bash(
  file: string,
  cwd: string,
  env: Values,
  cancelled?: AbortSignal,
): Promise<{ readonly code: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', file], { cwd, env });
    let text = '';
    for (const output of [child.stdout, child.stderr])
      output.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
      });
    cancelled?.addEventListener('abort', () => void child.kill('SIGINT'));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, text }));
  });
}

/** The files of examples/ci/github where they belong in a repository. */
export function installGithub(root: string): void {
  const from = join(projectRoot, 'examples', 'ci', 'github');
  const action = join(root, '.github', 'actions', 'portolan-plan');
  mkdirSync(action, { recursive: true });
  for (const name of ['action.yml', 'forge.mjs']) cpSync(join(from, name), join(action, name));
  if (!existsSync(join(action, 'action.yml'))) throw new Error('there is no action');
}

export function workflowOf(name: string): Workflow {
  return parse(readFileSync(join(projectRoot, 'examples', 'ci', 'github', name), 'utf8')) as Workflow;
}
