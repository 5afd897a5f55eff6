import { once } from 'node:events';
import { Option } from '@commander-js/extra-typings';
import { parse } from 'yaml';
import { PortolanError } from '../../model/errors.ts';
import { checkFaultRules } from '../../sandbox/faults.ts';
import { checkSeed } from '../../sandbox/seed-check.ts';
import { type Sandbox, SANDBOX_TOKEN, type SandboxOptions, startSandbox } from '../../sandbox/server.ts';
import { defineCommand } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { readNamedFile } from '../session/files.ts';
import { createLog } from '../session/logging.ts';
import { addLogOptions, integerArgument } from '../session/options.ts';

const DEFAULT_PORT = 7070;

export const sandboxCommand = defineCommand({
  about:
    "Serves the platform's API on 127.0.0.1, with a small team, three applications and a store. For trials and tests: it can inject faults.",
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.interrupted],
  seeAlso: ['demo', 'init'],
  examples: `
The sandbox serves the platform's API on this machine (127.0.0.1 only), with a small team, three applications'
worth of components and a store. Its state is lost when it ends, unless --data keeps it.

It also accepts the token with -plain at its end (in place of -admin, if present): the token of a user without rights in
the enterprise.

Below /_sandbox/ it serves tests and tools: GET health, GET or DELETE requests, GET, POST or DELETE faults, GET state,
POST regions/NAME, POST components/ID, POST stores.

Examples:
  portolan sandbox
  portolan sandbox --port 0 --data ./sandbox-data --dialect documented
  portolan sandbox --seed seed.yaml --faults faults.yaml

The JSON Schema of a seed is printed by portolan schema seed, that of faults by portolan schema faults.

Example of a seed:
  enterprise: { id: e1 }
  regions:
  - { id: r1, name: region-1 }
  teams:
  - { id: t1, name: team-a }
  applications:
  - id: 42
    team: team-a
    region: region-1
    name: shop
    components:
    - name: shop-web
      id:
        6f3c1d5e8a9b40c7a2e4d6f8091b3c5d
      ports:
      - { port: 8080, outer: true }

Example of a faults file:
  # The answer to a write is lost.
  - operation: addPort
    times: 1
    fault: { type: drop, when: after }
  # Someone edits a rule.
  - operation: listRules
    times: 1
    fault: { type: edit-rule }
  # One of ten requests fails.
  - path: "**/ports"
    probability: 0.1
    fault:
      type: status
      when: before
      status: 503`,
  parameters: (command) =>
    addLogOptions(
      command
        .option('--port <n>', 'port to listen on, 0 for any free one', integerArgument(0, 65535), DEFAULT_PORT)
        .option('--data <dir>', 'folder to keep the state in')
        .option('--seed <file>', 'initial state, as YAML or JSON; ignored if --data has a state')
        .addOption(
          new Option('--dialect <dialect>', 'documented: only the documented API; extended: as a real server')
            .choices(['documented', 'extended'])
            .default('extended' as const),
        )
        .option('--token <token>', `accepted token (default: ${SANDBOX_TOKEN})`)
        .option('--latency <ms>', 'delay of every answer', integerArgument(0, 600_000), 0)
        .option('--faults <file>', 'faults to inject, as YAML or JSON'),
    ),
  /** Runs until a signal comes. The signal is the normal end, so the exit code is 0. */
  async run(surroundings, options) {
    const { terminal, clock, random, signal } = surroundings;
    const settings: SandboxOptions = {
      clock,
      random,
      port: options.port,
      dialect: options.dialect,
      token: options.token ?? SANDBOX_TOKEN,
      latencyMs: options.latency,
      log: await createLog(options, surroundings),
      ...(options.data === undefined ? {} : { dataDir: options.data }),
      ...(options.seed === undefined ? {} : { seed: checkSeed(readData(options.seed, 'the seed')) }),
      ...(options.faults === undefined ? {} : { faults: checkFaultRules(readData(options.faults, 'the fault rules')) }),
    };
    const running = await startSandbox(settings);
    try {
      terminal.out.write(greeting(running, options));
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await running.close();
    }
    terminal.err.write('sandbox closed\n');
  },
});

/** Returns the first output, with instructions. A token that the user gave is not shown, because it may be a real one. */
function greeting(
  { url, dialect }: Sandbox,
  { token, data }: { readonly token?: string | undefined; readonly data?: string | undefined },
): string {
  const isOwn = token !== undefined && token !== SANDBOX_TOKEN;
  return `sandbox platform (${dialect} dialect) on ${url}

  token      ${isOwn ? 'the given token' : SANDBOX_TOKEN}
  state      ${data === undefined ? 'in memory, lost when it ends' : `kept in ${data}`}
  try        curl -H 'Authorization: ${isOwn ? '…' : SANDBOX_TOKEN}' ${url}/openapi/v1/regions
  manage it  set PORTOLAN_TOKEN to the token, and write into portolan.yaml:

             apiVersion: portolan/v1
             kind: Platform
             metadata: { name: default }
             spec:
               url: ${url}
               auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }

Ctrl-C ends it.
`;
}

/** Parses YAML, which includes JSON. Aliases could make a small file large, so they are refused. */
function readData(path: string, what: string): unknown {
  const text = new TextDecoder().decode(readNamedFile(path, what));
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PortolanError({
      code: 'cli/invalid-yaml',
      disposition: 'invalid',
      message: `${what} in ${path} is neither YAML nor JSON: ${why}`,
      remedy: 'Correct the file.',
      cause: error,
    });
  }
}
