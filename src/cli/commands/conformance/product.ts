import { join } from 'node:path';
import type { Clock } from '../../../runtime/clock.ts';
import type { RunCommandLine, Surroundings } from '../../session/command.ts';
import { makeFolder, writeTextFile } from '../../session/files.ts';
import type { Output } from '../../terminal/terminal.ts';
import type { StoreModel } from './ground.ts';

/** Result of one run of a command. */
export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A manifest, or a document of the operator's configuration. */
export interface Doc {
  readonly kind: string;
  readonly name: string;
  readonly spec: object;
}

/** Runs Portolan's own commands in this process, with their own configuration, ledger and folder of manifests. */
export type Workplace = ReturnType<typeof openWorkplace>;

/** Longer than the longest settle window. */
const LEAP_MS = 30 * 60_000;

interface WorkplaceOptions {
  /** Address of the proxy. */
  readonly url: string;
  readonly header: string;
  readonly tokenEnv: string;
  readonly store: StoreModel | undefined;
  readonly runCommand: RunCommandLine;
}

export function openWorkplace(options: WorkplaceOptions, surroundings: Surroundings) {
  const folder = makeFolder(join(surroundings.temporaryFolder, 'portolan-conformance-'));
  const file = join(folder, 'manifests.yaml');
  writeTextFile(join(folder, 'portolan.yaml'), yamlOf(configurationOf(options)));
  const clock = skippingClock(surroundings.clock);
  const env = {
    ...withoutOurs(surroundings.env, [options.tokenEnv, options.store?.keyEnv]),
    PORTOLAN_CONFIG: join(folder, 'portolan.yaml'),
    PORTOLAN_LEDGER: join(folder, 'ledger.db'),
  };
  const run = async (...args: readonly string[]): Promise<Run> => {
    const text = { out: '', err: '' };
    const output = (name: 'out' | 'err'): Output => ({
      write: (part) => void (text[name] += part),
      isTerminal: false,
      columns: 120,
      rows: 24,
      color: false,
    });
    const { ask: _, ...terminal } = { ...surroundings.terminal, out: output('out'), err: output('err') };
    const code = await options.runCommand(args, { ...surroundings, terminal, env, clock });
    return { code, ...text };
  };
  let confirmed: readonly string[] = [];
  return {
    /** Folder of all its files. The code that opened the workplace removes it. */
    folder,
    /** Replaces all manifests. */
    write: (docs: readonly Doc[]): void => {
      // Installing is safe, because the applications are disposable.
      confirmed = docs.flatMap((doc) => firstInstallInto(doc));
      writeTextFile(file, yamlOf(docs));
    },
    run,
    apply: (...args: readonly string[]): Promise<Run> => run('apply', '-f', file, '--yes', ...confirmed, ...args),
    /** Plans with --detailed-exitcode: 2 means that changes are pending. */
    plan: (): Promise<Run> => run('plan', '-f', file, '--detailed-exitcode', ...confirmed),
    /** Lets time pass for the commands only. The proxy has waited until the server finished every request. */
    skipSettling: (): void => clock.skip(LEAP_MS),
  };
}

function configurationOf({ url, header, tokenEnv, store }: WorkplaceOptions): readonly Doc[] {
  const platform = { url, auth: { header, value: { env: tokenEnv } } };
  const documents = [{ kind: 'Platform', name: 'default', spec: platform }];
  if (store === undefined) return documents;
  const accessKey = store.keyEnv === undefined ? {} : { accessKey: { env: store.keyEnv } };
  const spec = { url: store.url, domain: store.domain, type: store.type, ...accessKey };
  return [...documents, { kind: 'Store', name: 'store', spec }];
}

function firstInstallInto({ kind, spec }: Doc): readonly string[] {
  const { team, region, appId } = spec as Readonly<Record<string, unknown>>;
  return kind === 'Application' ? ['--first-install', `default/${team}/${region}/${appId}`] : [];
}

/** Returns documents as JSON, which is valid YAML. */
function yamlOf(docs: readonly Doc[]): string {
  return docs
    .map(({ kind, name, spec }) => JSON.stringify({ apiVersion: 'portolan/v1', kind, metadata: { name }, spec }))
    .join('\n---\n');
}

/** Removes the settings of the user who runs the suite. */
function withoutOurs(env: Surroundings['env'], kept: readonly (string | undefined)[]): Surroundings['env'] {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('PORTOLAN_') || kept.includes(name)),
  );
}

function skippingClock(clock: Clock): Clock & { skip(ms: number): void } {
  let skippedMs = 0;
  return {
    now: () => clock.now() + skippedMs,
    monotonic: () => clock.monotonic() + skippedMs,
    sinceBoot: () => {
      const { boot, uptimeMs } = clock.sinceBoot();
      return { boot, uptimeMs: uptimeMs + skippedMs };
    },
    sleep: (ms, signal) => clock.sleep(ms, signal),
    skip: (ms) => void (skippedMs += ms),
  };
}
