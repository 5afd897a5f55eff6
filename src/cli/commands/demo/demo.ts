import { join } from 'node:path';
import { styleText } from 'node:util';
import { Option } from '@commander-js/extra-typings';
import { PortolanError } from '../../../model/errors.ts';
import { Secret } from '../../../model/secret.ts';
import { createHttpTransport, type HttpTransport } from '../../../platform/http.ts';
import { demo } from '../../../sandbox/seeds/demo.ts';
import { SANDBOX_TOKEN, type Sandbox, startSandbox } from '../../../sandbox/server.ts';
import { own } from '../../terminal/terminal.ts';
import { type CommandTree, defineCommand, type Surroundings } from '../../session/command.ts';
import { durationArgument } from '../../session/options.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { makeFolder, readNamedFile, removeFolder, writeTextFile } from '../../session/files.ts';

export const demoCommand = defineCommand({
  about:
    'Starts a sandbox, plans and applies the examples, shows that a second plan is empty, causes drift and corrects it. --dashboard runs a controller with its dashboard instead. Needs no account, and leaves no files behind.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.interrupted],
  seeAlso: ['sandbox', 'init', 'plan'],
  examples: `
Starts the sandbox with a small team, and lets the real commands manage it: a plan, an apply, an empty second plan, drift made
through the API, the plan that shows it, and the apply that corrects it. Needs no account and no network.

Examples:
  portolan demo
  portolan demo --dialect documented   # where rules cannot be listed
  portolan demo --keep                 # keeps its configuration and ledger
  portolan demo --dashboard            # a controller with its dashboard, until Ctrl-C`,
  parameters: (command) =>
    command
      .addOption(
        new Option('--dialect <dialect>', 'dialect of the sandbox')
          .choices(['documented', 'extended'])
          .default('extended' as const),
      )
      .option('--keep', 'keep the folder with configuration and ledger')
      .addOption(
        new Option(
          '--dashboard',
          'run a controller with its dashboard until Ctrl-C, while changes and faults happen',
        ).conflicts('keep'),
      )
      .addOption(
        new Option('--every <duration>', 'with --dashboard: time between two changes or faults')
          .argParser(durationArgument)
          .default(15_000, '15s'),
      ),
  async run(surroundings, { dialect, keep, dashboard, every: everyMs }, _args, { tree: { run } }) {
    if (dashboard === true) {
      const { runDashboard } = await import('./dashboard.ts');
      return runDashboard({ dialect, everyMs }, run, surroundings);
    }
    const { clock, random, terminal } = surroundings;
    const startedMs = clock.monotonic();
    const folder = makeFolder(join(surroundings.temporaryFolder, 'portolan-demo-'));
    const sandbox = await startSandbox({ clock, random, dialect });
    const transport = createHttpTransport({
      url: sandbox.url,
      connections: 2,
      clock,
      auth: { header: 'Authorization', value: () => new Secret(SANDBOX_TOKEN, 'the sandbox') },
    });
    const stage = stageOf(run, surroundings, folder, sandbox);
    try {
      await present(stage, sandbox, () => causeDrift(transport, surroundings));
      const seconds = Math.round((clock.monotonic() - startedMs) / 1000);
      terminal.out.write(whereabouts(folder, sandbox, seconds, surroundings, keep === true));
      // After a failure the folder stays, because the message names it.
      if (keep !== true) removeFolder(folder);
      return EXIT.ok;
    } finally {
      await transport.close();
      await sandbox.close();
    }
  },
});

async function present(stage: Stage, { url, dialect }: Sandbox, causeDrift: () => Promise<void>): Promise<void> {
  stage.title('A platform to manage', `The sandbox answers the platform's API at ${url} (${dialect} dialect).`);
  await stage.run(['regions'], EXIT.ok);
  stage.title(
    'The plan, and the apply',
    'The manifests under examples/ name two applications of team-a. apply shows the plan first, and on a terminal asks. Each write is preceded by an intent in the ledger, and followed by its outcome.',
  );
  // Where installs cannot be listed, the first install into an application with components needs confirmation.
  const first =
    dialect === 'documented' ? ['--first-install', `default/${demo.team}/${demo.region}/${demo.appId}`] : [];
  await stage.run(['apply', ...stage.manifests, ...stage.ledger, '--yes', ...first], EXIT.ok);
  stage.title('In sync', 'A second plan is empty, and exits with 0 even with --detailed-exitcode.');
  await stage.run(['plan', ...stage.manifests, ...stage.ledger, '--detailed-exitcode'], EXIT.ok);
  stage.title('Drift', 'Another client closes outer access of shop-web and renames a port through the API:');
  await causeDrift();
  stage.title(
    'The plan shows the drift',
    'The plan shows each drifted field with its former value. With --detailed-exitcode, the exit code is 2.',
  );
  await stage.run(['plan', ...stage.manifests, ...stage.ledger, '--detailed-exitcode'], EXIT.changesPending);
  stage.title('Corrected', 'The same command as before corrects the drift.');
  await stage.run(['apply', ...stage.manifests, ...stage.ledger, '--yes'], EXIT.ok);
  await stage.run(['status', ...stage.manifests, ...stage.ledger], EXIT.ok);
}

type Stage = ReturnType<typeof stageOf>;

function stageOf(runCommand: CommandTree['run'], surroundings: Surroundings, folder: string, sandbox: Sandbox) {
  const { terminal, packageRoot } = surroundings;
  const examples = join(packageRoot, 'examples');
  const config = join(folder, 'portolan.yaml');
  const example = new TextDecoder().decode(readNamedFile(join(examples, 'portolan.yaml'), 'the example configuration'));
  writeTextFile(config, example.replace(/^( *url: )http:\/\/127\.0\.0\.1:7070$/m, `$1${sandbox.url}`));
  const env = {
    ...surroundings.env,
    PORTOLAN_CONFIG: config,
    PORTOLAN_TOKEN: SANDBOX_TOKEN,
    STORE_ACCESS_KEY: 'demo-store-key',
  };
  const bold = (text: string): string =>
    terminal.out.color ? own(terminal.out, styleText('bold', text, { validateStream: false })) : text;
  return {
    manifests: ['-f', join(examples, 'shop'), '-f', join(examples, 'blog')],
    ledger: ['--ledger', join(folder, 'portolan.db')],
    title: (heading: string, text: string): void => terminal.out.write(`\n${bold(`── ${heading}`)}\n${text}\n`),
    /** Shows a command line and runs it as typed. @throws PortolanError for an unexpected exit code. */
    async run(args: readonly string[], expected: ExitCode): Promise<void> {
      terminal.out.write(`\n${bold(`$ portolan ${args.join(' ')}`)}\n`);
      const code = await runCommand(args, { ...surroundings, env });
      terminal.out.write(`${bold(`exit code ${code}`)}\n`);
      if (code === expected) return;
      throw new PortolanError({
        code: 'demo/unexpected-end',
        disposition: 'give-up',
        message: `The demo stopped: portolan ${args[0]} ended with ${code}, and ${expected} was expected. Its files are in ${folder}.`,
        remedy: 'Read the output above. If it does not explain the failure, report a bug.',
      });
    },
  };
}

/** Makes two changes as another client of the platform would. */
async function causeDrift({ send }: HttpTransport, { terminal }: Surroundings): Promise<void> {
  const ports = `/openapi/v1/teams/${demo.team}/regions/${demo.region}/apps/${demo.appId}/services/${demo.webServiceId}/ports`;
  const changes = [
    { port: 8080, body: { action: 'close_outer' } },
    { port: 9000, body: { action: 'change_port_alias', port_alias: 'BY_HAND', k8s_service_name: 'shop-web' } },
  ];
  for (const { port, body } of changes) {
    terminal.out.write(`  PUT ${ports}/${port} ${JSON.stringify(body)}\n`);
    const response = await send({
      operation: 'updatePort',
      method: 'PUT',
      path: `${ports}/${port}`,
      query: {},
      body,
      isRead: false,
      timeoutMs: 10_000,
    });
    terminal.out.write(`      ${response.status}\n`);
  }
}

function whereabouts(
  folder: string,
  { url, requests }: Sandbox,
  seconds: number,
  { packageRoot }: Surroundings,
  isKept: boolean,
): string {
  const files = isKept
    ? `  configuration  ${join(folder, 'portolan.yaml')}
  ledger         ${join(folder, 'portolan.db')}`
    : '  ledger         a file that is now removed; portolan demo --keep keeps it';
  return `
── Files and addresses
  platform       ${url}, a sandbox in memory that ends with this demo (${requests().length} requests in ${seconds} s)
  manifests      ${join(packageRoot, 'examples')}
${files}

To continue yourself:
  portolan sandbox                            a sandbox that keeps running, at http://127.0.0.1:7070
  export PORTOLAN_TOKEN=${SANDBOX_TOKEN} STORE_ACCESS_KEY=any
  portolan plan --config examples/portolan.yaml -f examples/shop
  (from a checkout, \`npm run -s portolan --\` stands for \`portolan\`)
`;
}
