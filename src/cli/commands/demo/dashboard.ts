import { join } from 'node:path';
import { PortolanError } from '../../../model/errors.ts';
import { Secret } from '../../../model/secret.ts';
import { createHttpTransport } from '../../../platform/http.ts';
import { SANDBOX_TOKEN, startSandbox } from '../../../sandbox/server.ts';
import { rejectOnAbort } from '../../../runtime/clock.ts';
import type { CommandTree, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { makeFolder, removeFolder, writeTextFile } from '../../session/files.ts';
import type { Output, Terminal } from '../../terminal/terminal.ts';
import { beginActivity } from './activity.ts';
import { createCheckout } from './checkout.ts';
import { configurationOf, fleetSeed } from './fleet.ts';

/** Hexadecimal digits of the token. */
const TOKEN_BYTES = 16;
/** Lines of the controller's log that a failure shows. */
const LINES_SHOWN = 5;

export interface DashboardOptions {
  readonly dialect: 'documented' | 'extended';
  /** Time between two activities. */
  readonly everyMs: number;
}

/**
 * Runs a sandbox, a git checkout and a controller with its dashboard until a signal comes, while things happen to them.
 * Whatever ends it, everything is stopped and removed.
 */
export async function runDashboard(
  options: DashboardOptions,
  run: CommandTree['run'],
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { clock, random, terminal, signal } = surroundings;
  const folder = makeFolder(join(surroundings.temporaryFolder, 'portolan-demo-'));
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const sandbox = await startSandbox({ clock, random, dialect: options.dialect, seed: fleetSeed });
  const transport = createHttpTransport({
    url: sandbox.url,
    connections: 2,
    clock,
    auth: { header: 'Authorization', value: () => new Secret(SANDBOX_TOKEN, 'the sandbox') },
  });
  let controller: ReturnType<typeof startController> | undefined;
  try {
    const checkout = await createCheckout(folder, surroundings);
    const say = (text: string): void => terminal.out.write(`${timeOf(clock.now())}  ${text}\n`);
    const steps = (await beginActivity({ checkout, sandbox, transport, say }))();
    const token = random.hex(TOKEN_BYTES);
    writeTextFile(join(folder, 'portolan.yaml'), configurationOf(sandbox.url));
    controller = startController({ folder, checkout: checkout.folder, token, until }, run, surroundings);
    const url = await Promise.race([controller.url, controller.failed, rejectOnAbort(signal)]);
    terminal.out.write(greeting(url, token, folder));
    const ended = Promise.race([controller.failed, rejectOnAbort(signal)]);
    ended.catch(() => {}); // One of the waits below throws it.
    for (;;) {
      await Promise.race([clock.sleep(options.everyMs, until), ended]);
      await Promise.race([steps.next(), ended]);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return EXIT.ok;
  } finally {
    stop.abort(new Error('the demo ends'));
    await controller?.ended;
    await transport.close();
    await sandbox.close();
    removeFolder(folder);
    terminal.err.write('demo ended; its files are removed\n');
  }
}

interface ControllerOptions {
  readonly folder: string;
  readonly checkout: string;
  readonly token: string;
  /** Aborted when the controller must end. */
  readonly until: AbortSignal;
}

/** Starts the real `portolan run`, whose log contains its address. */
function startController(
  { folder, checkout, token, until }: ControllerOptions,
  run: CommandTree['run'],
  surroundings: Surroundings,
) {
  const listening = Promise.withResolvers<string>();
  const lines: string[] = [];
  const read = (text: string): void => {
    for (const line of text.split('\n').filter((one) => one !== '')) {
      lines.push(line);
      if (lines.length > LINES_SHOWN) lines.shift();
      const url = urlIn(line);
      if (url !== undefined) listening.resolve(url);
    }
  };
  const args = [
    '-f',
    checkout,
    '--ref',
    'main',
    '--config',
    join(folder, 'portolan.yaml'),
    '--ledger',
    join(folder, 'portolan.db'),
  ];
  const ended = run(['run', ...args, '--listen', '127.0.0.1:0', '--log-format', 'json'], {
    ...surroundings,
    terminal: terminalTo(read, surroundings.terminal),
    signal: until,
    env: { PATH: surroundings.env['PATH'], PORTOLAN_TOKEN: SANDBOX_TOKEN, PORTOLAN_DEMO_TOKEN: token },
  });
  const failed = ended.then((code): never => {
    throw new PortolanError({
      code: 'demo/controller-ended',
      disposition: 'give-up',
      message: `The controller of the demo ended with ${code}. Its last lines:\n${lines.join('\n')}`,
      remedy: 'Read the lines above. If they do not explain the failure, report a bug.',
    });
  });
  failed.catch(() => {}); // It ends with the demo, too.
  return { url: listening.promise, failed, ended };
}

/** Returns the address in a line of the log. */
function urlIn(line: string): string | undefined {
  if (!line.includes('server: listening')) return undefined;
  const { url } = JSON.parse(line) as { readonly url?: unknown };
  return typeof url === 'string' ? url : undefined;
}

/** Returns a terminal whose standard error is read here and whose output is dropped. */
function terminalTo(read: (text: string) => void, { input }: Terminal): Terminal {
  const output = (write: (text: string) => void): Output => ({
    write,
    isTerminal: false,
    columns: 80,
    rows: 24,
    color: false,
  });
  return { out: output(() => {}), err: output(read), input };
}

function greeting(url: string, token: string, folder: string): string {
  return `
── The dashboard
  open      ${url}
  sign in   with this token, which is valid only for this demo:
            ${token}

  files     ${folder} (configuration, ledger and git checkout; removed at the end)
  try       approve a plan that a guard refused, watch a region fail and recover, see what drifted
Ctrl-C ends the demo.

── Activity
`;
}

/** Returns `12:00:59` in the time zone of the user. */
function timeOf(nowMs: number): string {
  return new Date(nowMs).toTimeString().slice(0, 8);
}
