import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { seededRandom } from '../support/virtual-clock.ts';
import type { Run } from './running.ts';
import { install, PORTS, PushedClock, rule, type Scene, type SceneSettings, setScene, shop, web } from './scene.ts';

/** The plans that every format is shown with: how each comes to be, on a real sandbox and ledger. */

/** Of `--out`, by format; the endings are those that choose the format by themselves. */
export const FILES = {
  text: 'plan.txt',
  json: 'plan.json',
  jsonl: 'plan.jsonl',
  yaml: 'plan.yaml',
  markdown: 'plan.md',
  github: 'plan.github',
  sarif: 'plan.sarif',
  junit: 'plan.xml',
  html: 'plan.html',
} as const;

export type Format = keyof typeof FILES;

/** Time that passes only where somebody waits, from a moment of its own: what is written with it is always the same. */
class StillClock extends PushedClock {
  #nowMs = Date.UTC(2026, 10, 21, 3);

  override now(): number {
    return this.#nowMs;
  }

  override push(ms: number): void {
    super.push(ms);
    this.#nowMs += ms;
  }
}

interface Stage {
  readonly scene: Scene;
  /** Runs a command as the scene does, with chance and time that are the same in every run. */
  run(command: 'plan' | 'apply', ...args: readonly string[]): Promise<Run>;
}

interface Golden {
  readonly name: string;
  readonly settings?: SceneSettings;
  /** Sets everything up. @returns the command line that is shown. */
  prepare(stage: Stage): Promise<readonly ['plan' | 'apply', ...string[]]>;
}

const www = rule('www', 'www.example.com', 'weight: 50');
const extra = rule('extra', 'extra.example.com', 'path: /v1');
const inFull = shop(web(PORTS), www);

const SETTINGS: SceneSettings = { manifests: { 'shop.yaml': inFull } };

function application(name: string, team: string, appId: number): string {
  return `apiVersion: portolan/v1\nkind: Application\nmetadata: { name: ${name} }\nspec: { team: ${team}, region: ${demo.region}, appId: ${appId} }\n`;
}

export const PLANS: readonly Golden[] = [
  {
    name: 'empty',
    settings: SETTINGS,
    prepare: async ({ run }) => {
      await run('apply');
      return ['plan'];
    },
  },
  { name: 'first-apply', prepare: async () => ['plan'] },
  {
    name: 'drift',
    settings: SETTINGS,
    prepare: async ({ scene, run }) => {
      await run('apply');
      scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
      scene.alterPort(demo.webServiceId, 9000, { protocol: 'http' });
      scene.write('shop.yaml', shop(web(PORTS.replace('RPC', 'CALLS')), www));
      return ['plan'];
    },
  },
  {
    name: 'mixed',
    settings: { manifests: { 'shop.yaml': shop(web(PORTS), www, extra), 'old.yaml': rule('old', 'old.example.com') } },
    prepare: async ({ scene, run }) => {
      await run('apply');
      scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
      scene.write('old.yaml', undefined);
      scene.write('shop.yaml', shop(web(PORTS), www.replace('50', '60'), rule('new', 'new.example.com')));
      scene.write('db/install.yaml', install('db'));
      return ['plan', '--prune'];
    },
  },
  {
    name: 'held',
    settings: { ...SETTINGS, settings: '{ scopes: { allow: ["team-a/*/42"] } }' },
    prepare: async ({ scene, run }) => {
      await run('apply', '--ledger', join(scene.folder, 'other.db'));
      scene.write('blog.yaml', `${application('blog', demo.team, 43)}---\n${install('cache').replace('shop', 'blog')}`);
      return ['plan'];
    },
  },
  {
    name: 'not-observed',
    settings: SETTINGS,
    prepare: async ({ scene }) => {
      scene.write('gone.yaml', application('gone', demo.team, 999));
      return ['plan'];
    },
  },
  {
    name: 'partly-failed',
    settings: { manifests: { 'shop.yaml': shop(web(PORTS), www, extra), 'install.yaml': install('db') } },
    prepare: async ({ scene }) => {
      const refused = { code: 20400, msg: 'alias is taken', msg_show: 'the alias is taken', data: {} };
      scene.sandbox.setFaults([
        { operation: 'addPort', times: 1, fault: { type: 'status', when: 'before', status: 400, body: refused } },
        { operation: 'createRule', times: 1, fault: { type: 'drop', when: 'after' } },
      ]);
      return ['apply', '--yes', '--parallelism', '1'];
    },
  },
];

/** Sets a plan up, runs its command once, and reads what it wrote in every format. */
/** The still clock moves by tenths of a second while a request is under way, more or fewer of them on a busy machine. */
function inWholeSeconds(text: string): string {
  return text
    .replaceAll(/(\d\d\\?:\d\d\\?:\d\d)\.\d00Z/g, '$1.000Z')
    .replaceAll(/([uU]ntilMs"?: ?\d{10})\d00\b/g, '$1000');
}

export async function written({ settings, prepare }: Golden) {
  const random = seededRandom(7);
  const clock = new StillClock();
  const scene = await setScene({ ...settings, sandbox: { random: seededRandom(8), clock: clock.unhurried() } });
  const before = process.cwd();
  // Positions are of the files as the working directory names them.
  process.chdir(scene.folder);
  try {
    const run: Stage['run'] = (command, ...args) => scene.run(command, ['-f', 'manifests', ...args], { random, clock });
    const [command, ...args] = await prepare({ scene, run });
    mkdirSync('out');
    const outs = Object.entries(FILES).flatMap(([format, file]) => ['--out', `${format}=out/${file}`]);
    const shown = await run(command, ...args, ...outs);
    const files = new Map<Format, string>();
    const { host } = new URL(scene.sandbox.url);
    for (const [format, file] of Object.entries(FILES)) {
      const text = readFileSync(join('out', file), 'utf8');
      const lasting = text.replaceAll(packageFile.version, 'VERSION').replaceAll(host, 'platform');
      files.set(format as Format, inWholeSeconds(lasting));
    }
    return { run: { ...shown, out: inWholeSeconds(shown.out) }, files };
  } finally {
    process.chdir(before);
  }
}

export function goldenPath(plan: string, format: Format): string {
  return join(import.meta.dirname, '..', 'plan', 'golden', plan, FILES[format]);
}
