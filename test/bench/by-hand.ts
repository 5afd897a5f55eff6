import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { paths } from '../../src/platform/operations.ts';
import type { BenchOptions, Figure } from './figures.ts';
import { COMPONENTS_PER_APPLICATION, configurationFor, fleetApplications, fleetManifests } from './fleet.ts';
import { fleetSeed, serviceId, writeFiles } from './fleet.ts';
import { portolan, program, type SandboxProcess, startSandboxProcess, TOKEN } from './processes.ts';

/** 1,002 components, without rules: who works by hand checks the ports. */
const SIZE = { applications: 334, teams: 20, rulesPerApplication: 0 };
const ROUNDS = 3;
/** Of the components; an Ansible task takes about a tenth of a second for each. */
const PLAYED = 50;

/**
 * The same check of 1,000 components as people do it without Portolan: a loop of curl with 8 at once, whose answers are
 * compared in the end with those that are right, and a playbook of Ansible where that is installed.
 */
export async function byHand({ full }: BenchOptions): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const sandbox = await startSandboxProcess(folder, fleetSeed(SIZE, { withRules: false }));
  try {
    return await measure(folder, sandbox, full ? components().length : PLAYED);
  } finally {
    await sandbox.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, sandbox: SandboxProcess, played: number): Promise<readonly Figure[]> {
  const source = join(folder, 'source');
  writeFiles(source, fleetManifests(SIZE));
  const config = join(folder, 'portolan.yaml');
  writeFileSync(config, configurationFor(sandbox.url));
  const flags = ['-f', source, '--config', config, '--ledger', join(folder, 'portolan.db')];
  await portolan(['apply', ...flags, '--yes', '--adopt', '--parallelism', '32']);
  const curl = curlLoop(folder, sandbox.url);
  curl.accept();
  const [ours, loop]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(run(process.execPath, [program(), 'plan', ...flags, '--detailed-exitcode']));
    loop.push(curl.check());
  }
  return [
    { name: 'portolan plan of 1,002 components in sync', unit: 's', samples: ours },
    timesFaster('curl, 8 at once', loop, ours, 10),
    ...playbook(folder, sandbox.url, played, ours),
  ];
}

/** How many times as long as ours: the floor is ours, because theirs is what is compared with it. */
function timesFaster(name: string, theirs: readonly number[], ours: readonly number[], times: number): Figure {
  return {
    name,
    unit: 's',
    samples: theirs,
    floor: ours,
    goal: { text: `≥ ${times} × ours`, isMet: ({ ratio }) => ratio !== undefined && ratio >= times },
  };
}

/** A loop that asks for all, then one `diff` of all answers: cheaper than to look at each. */
function curlLoop(folder: string, url: string) {
  const [accepted, found] = [join(folder, 'accepted'), join(folder, 'found')];
  const list = join(folder, 'addresses');
  writeFileSync(
    list,
    components()
      .map(({ id, path }) => `${id} ${url}${path}\n`)
      .join(''),
  );
  const ask = (into: string): string =>
    `xargs -P 8 -n 2 sh -c 'curl -sf -H "Authorization: ${TOKEN}" -o "${into}/$0.json" "$1"' < ${list}`;
  mkdirSync(accepted);
  mkdirSync(found);
  return {
    accept: () => run('sh', ['-c', ask(accepted)]),
    check: () => run('sh', ['-c', `${ask(found)} && diff -r ${accepted} ${found}`]),
  };
}

/** Nothing where there is no Ansible. Measured on a few components, and told for all of them. */
function playbook(folder: string, url: string, played: number, ours: readonly number[]): readonly Figure[] {
  if (spawnSync('ansible-playbook', ['--version'], { stdio: 'ignore' }).status !== 0) {
    process.stderr.write('by-hand: no ansible-playbook on this machine, so nothing is said of Ansible\n');
    return [];
  }
  const all = components();
  const file = join(folder, 'check.yaml');
  const tasks = [
    {
      name: 'the ports of a component',
      'ansible.builtin.uri': { url: `${url}{{ item }}`, headers: { Authorization: TOKEN }, return_content: true },
      loop: all.slice(0, played).map(({ path }) => path),
    },
  ];
  const play = { hosts: 'localhost', connection: 'local', gather_facts: false, tasks };
  writeFileSync(file, JSON.stringify([play]));
  const seconds = run('ansible-playbook', ['-i', 'localhost,', file]);
  return [
    timesFaster(
      `Ansible uri, ${played} asked, × ${all.length}/${played}`,
      [(seconds * all.length) / played],
      ours,
      200,
    ),
  ];
}

function components(): readonly { readonly id: string; readonly path: string }[] {
  return fleetApplications(SIZE).flatMap(({ appId, team }) =>
    Array.from({ length: COMPONENTS_PER_APPLICATION }, (_, component) => {
      const id = serviceId(appId, component);
      return { id, path: paths.ports({ team, region: 'region-1', appId }, id) };
    }),
  );
}

/** Seconds. @throws Error when it ends with anything but 0. */
function run(command: string, args: readonly string[]): number {
  const began = performance.now();
  const env = { ...process.env, PORTOLAN_TOKEN: TOKEN };
  const { status, stderr } = spawnSync(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr.toString().slice(0, 2_000)}`);
  return (performance.now() - began) / 1000;
}
