import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ComponentSpec } from '../../src/kinds/component/spec.ts';
import { addressOf } from '../../src/platform/address.ts';
import type { BenchOptions, Figure } from './figures.ts';
import { COMPONENTS_PER_APPLICATION, configurationFor, fleetApplications, fleetManifests, REGION } from './fleet.ts';
import { fleetSeed, serviceId, writeFiles } from './fleet.ts';
import { portolan, program, type SandboxProcess, startSandboxProcess, TOKEN } from './processes.ts';

/** 1,002 components, without rules: who works by hand checks the ports. */
const SIZE = { applications: 334, teams: 20, rulesPerApplication: 0 };
const ROUNDS = 3;
/** Of the components; an Ansible task takes about a tenth of a second for each. */
const PLAYED = 50;

/**
 * The same check of 1,000 components as people do it without Portolan: a loop of curl with 8 at once that holds what the
 * manifests say of a component against its answer, and a playbook of Ansible where that is installed.
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
  const manifests = fleetManifests(SIZE);
  writeFiles(source, manifests);
  const config = join(folder, 'portolan.yaml');
  writeFileSync(config, configurationFor(sandbox.url));
  const flags = ['-f', source, '--config', config, '--ledger', join(folder, 'portolan.db')];
  await portolan(['apply', ...flags, '--yes', '--adopt', '--parallelism', '32']);
  const loops = curlLoops(folder, manifests, sandbox.url).map((loop) => ({ ...loop, samples: [] as number[] }));
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(run(process.execPath, [program(), 'plan', ...flags, '--detailed-exitcode']));
    for (const { command, samples } of loops) samples.push(run('sh', ['-c', command]));
  }
  return [
    { name: 'portolan plan of 1,002 components in sync', unit: 's', samples: ours },
    ...loops.map(({ name, isSameCheck, samples }) =>
      isSameCheck ? timesFaster(name, samples, ours, 10) : { name, unit: 's', samples, floor: ours },
    ),
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

/** What a manifest says of a port, made of what the platform says: other fields of an answer are nobody's business. */
const PORTS_OF_ANSWER =
  '[.data.list[] | {port: .container_port, protocol, alias: .port_alias, inner: .is_inner_service, outer: .is_outer_service}]';

type Manifests = ReturnType<typeof fleetManifests>;

interface Loop {
  readonly name: string;
  /** For a shell. It ends with anything but 0 where a component does not answer, or differs from what it is compared with. */
  readonly command: string;
  readonly isSameCheck: boolean;
}

/**
 * Loops over all components, 8 at once. Those that do less than ours say what the rest costs. The one that makes the same check
 * compares the ports of each answer with a file that was made beforehand of the component's manifest; it needs `jq`.
 */
function curlLoops(folder: string, manifests: Manifests, url: string): readonly Loop[] {
  const list = join(folder, 'addresses');
  const lines = components().map(({ id, path }) => `${id} ${url}${path}\n`);
  writeFileSync(list, lines.join(''));
  const ask = `curl -sf -H "Authorization: ${TOKEN}" "$1"`;
  const forEach = (work: string): string => `xargs -P 8 -n 2 sh -c '${work}' < ${list}`;
  const compare = (answer: string, wanted: string): string =>
    forEach(`${answer} | cmp -s - "${wanted}/$0" || { echo "$0 is not as wanted" >&2; exit 1; }`);
  const [before, wanted] = [join(folder, 'before'), join(folder, 'wanted')];
  mkdirSync(before);
  run('sh', ['-c', forEach(`${ask} > "${before}/$0"`)]);
  const loops: Loop[] = [
    { name: 'curl that only asks', command: forEach(`${ask} > /dev/null`), isSameCheck: false },
    { name: 'curl and cmp: bytes as before', command: compare(ask, before), isSameCheck: false },
  ];
  if (spawnSync('jq', ['--version'], { stdio: 'ignore' }).status !== 0) {
    process.stderr.write('by-hand: no jq on this machine, so no loop makes the same check\n');
    return loops;
  }
  mkdirSync(wanted);
  for (const [id, ports] of wantedPorts(manifests)) writeFileSync(join(wanted, id), ports);
  const command = compare(`${ask} | jq -c "${PORTS_OF_ANSWER}"`, wanted);
  noticesDrift(command, join(wanted, components()[0]?.id ?? ''));
  return [...loops, { name: 'curl, jq and cmp: the same check', command, isSameCheck: true }];
}

/** Id of a component → what the platform must say of its ports, as `PORTS_OF_ANSWER` says it. */
function wantedPorts(manifests: Manifests): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>();
  for (const text of manifests.values()) {
    const { kind, spec } = parse(text) as { readonly kind: string; readonly spec: ComponentSpec };
    if (kind !== 'Component' || spec.serviceId === undefined) continue;
    const ports = spec.ports.map(({ port, protocol, alias, inner, outer }) => ({
      port,
      protocol,
      alias,
      inner,
      outer,
    }));
    wanted.set(spec.serviceId, `${JSON.stringify(ports)}\n`);
  }
  return wanted;
}

/** @throws Error for a loop that would be content with anything. */
function noticesDrift(compare: string, wanted: string): void {
  const text = readFileSync(wanted, 'utf8');
  writeFileSync(wanted, text.replace('8080', '8888'));
  const { status } = spawnSync('sh', ['-c', compare], { stdio: 'ignore' });
  writeFileSync(wanted, text);
  if (status === 0) throw new Error('the loop of curl did not notice a port that is not as wanted');
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
      return { id, path: addressOf({ team, region: REGION, appId }, undefined, ['services', id, 'ports']) };
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
