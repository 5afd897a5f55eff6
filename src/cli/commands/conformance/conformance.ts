import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import packageFile from '../../../../package.json' with { type: 'json' };
import { invalidInput, PortolanError } from '../../../model/errors.ts';
import { checkPlatformUrl } from '../../../platform/url.ts';
import { defineCommand, type OptionsOf, type RunCommandLine, type Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { readNamedFile, removeFolder } from '../../session/files.ts';
import { collect, integerArgument, outputOption } from '../../session/options.ts';
import { openSecret } from '../../session/secrets.ts';
import { createFindings } from './findings.ts';
import { cleanUp, type Ground, prepareGround, type StoreModel } from './ground.ts';
import { checkInstalls } from './installs.ts';
import { checkLostAnswers } from './lost.ts';
import { checkPorts } from './ports.ts';
import { openWorkplace, type Workplace } from './product.ts';
import { startProxy } from './proxy.ts';
import { checkReads } from './reads.ts';
import { AREAS, type Area, type ConformanceReport, type Finding, renderConformance, summaryOf } from './report.ts';
import { checkRules } from './rules.ts';
import { openServer } from './server.ts';
import type { Suite } from './suite.ts';
import { checkWorkflows } from './workflows.ts';

const HELP = `
Works in an application of its own, which it creates where the server can, or in the one that --app names, if --disposable
says that everything in it may be changed. With a store, it also installs. It removes its rules and ports at the end;
the report lists what stays: installs, entries of stores, applications, and on the documented dialect rules and ports.

Part of the run uses a proxy on 127.0.0.1 that loses the answers of writes. Secrets are read from variables and are
never shown.

Examples:
  portolan conformance --url https://console.example.com --token-env PORTOLAN_TOKEN --team team-a --region region-1 \\
    --store-url https://store.example.com --store-domain market-1 --store-key-env STORE_KEY --model 0a1b2c@8.0.36
  portolan conformance --url http://127.0.0.1:7070 --token-env PORTOLAN_TOKEN --team team-a --region region-1 \\
    --app 42 --disposable
  portolan conformance --url http://127.0.0.1:7070 --token-env PORTOLAN_TOKEN --team team-a --region region-1 \\
    --app 42 --disposable --only ports -o json`;

const withOptions = (command: Command) =>
  command
    .option('--url <address>', 'address of the server (required)')
    .option('--token-env <name>', 'variable that holds the token', 'PORTOLAN_TOKEN')
    .option('--auth-header <name>', 'header that carries the token', 'Authorization')
    .option('--ca-file <file>', 'certificates to trust beside those of the system, as PEM')
    .option('--allow-plain-http', 'allow http:// to another machine: the token travels in clear')
    .option('--team <team>', 'team of the application (required)')
    .option('--region <region>', 'region of the application (required)')
    .option(
      '--app <number>',
      'number of an application to work in; without it one is created',
      integerArgument(1, Number.MAX_SAFE_INTEGER),
    )
    .option('--disposable', 'everything in the application of --app may be changed and deleted')
    .option(
      '--component <id>',
      'component of --app to work with, where the server cannot list them; may be repeated',
      collect,
    )
    .option('--store-url <address>', 'address of a store to install from')
    .option('--store-domain <name>', 'name of the store')
    .option('--store-type <type>', 'type of the store', 'rainstore')
    .option('--store-key-env <name>', 'variable that holds the access key of the store')
    .option('--model <id@version>', 'model of the store to install', modelArgument)
    .option('--upgrade-to <version>', 'later version of the model')
    .option('--only <area>', `only one of: ${AREAS.join(', ')}; may be repeated`, areaArgument)
    .addOption(outputOption(['text', 'json']));

export const conformanceCommand = defineCommand({
  about:
    'Runs every operation and every workflow of Portolan against a server of the API, and reports where the server differs from what Portolan expects. It changes the server: use a disposable application.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['sandbox', 'regions', 'export'],
  examples: HELP,
  parameters: withOptions,
  run: (surroundings, options, _args, { tree }) => conformance(options, tree.run, surroundings),
});

type ConformanceOptions = OptionsOf<typeof withOptions>;

async function conformance(
  options: ConformanceOptions,
  runCommand: RunCommandLine,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { clock, random, terminal, signal } = surroundings;
  const started = { ms: clock.now(), monotonic: clock.monotonic() };
  const { url: address, team, region } = options;
  if (address === undefined || team === undefined || region === undefined) throw incomplete();
  const { url, warning } = checkPlatformUrl(address, options.allowPlainHttp);
  if (warning !== null) terminal.err.write(`warning: ${warning}\n`);
  const caPem = options.caFile && new TextDecoder().decode(readNamedFile(options.caFile, 'the CA'));
  const token = openSecret({ env: options.tokenEnv }, '--token-env', surroundings);
  const store = storeOf(options, surroundings);
  const auth = { header: options.authHeader, value: token };
  const server = openServer({ url, auth, caPem }, surroundings);
  const proxy = await startProxy(url, caPem);
  const findings: Finding[] = [];
  const folders: string[] = [];
  try {
    const { app: appId, component: components = [] } = options;
    const target = { team, region, appId, isDisposable: options.disposable === true, components, store };
    const ground = await prepareGround(server, target, random);
    const open = (): Workplace => {
      const { authHeader: header, tokenEnv } = options;
      const opened = openWorkplace({ url: proxy.url, header, tokenEnv, store, runCommand }, surroundings);
      folders.push(opened.folder);
      return opened;
    };
    for (const area of AREAS) {
      if (signal.aborted || options.only?.includes(area) === false) continue;
      terminal.err.write(`checking ${area} …\n`);
      server.take();
      await checkArea(area, { ...ground, ...createFindings(area, findings, server.take), open, proxy, signal });
    }
    proxy.lose(undefined);
    await removeOurs(ground);
    const report: ConformanceReport = {
      formatVersion: 1,
      portolan: packageFile.version,
      server: url,
      dialect: ground.isExtended ? 'extended' : 'documented',
      ...ground.app,
      startedMs: started.ms,
      durationMs: Math.round(clock.monotonic() - started.monotonic),
      requests: server.requests(),
      summary: summaryOf(findings),
      isComplete: !signal.aborted,
      findings,
      remaining: ground.remaining,
    };
    terminal.out.write(options.output === 'json' ? `${JSON.stringify(report, null, 2)}\n` : renderConformance(report));
    if (signal.aborted) return EXIT.interrupted;
    return report.summary.differs + report.summary.failed === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    for (const folder of folders) removeFolder(folder);
    await proxy.close();
    await server.close();
  }
}

function incomplete(): PortolanError {
  return invalidInput(
    'cli/incomplete-target',
    'A server, a team and a region are required.',
    'Pass --url, --team and --region.',
  );
}

/** Removes what the run created. If the server fails now, the report is still written. */
async function removeOurs(ground: Ground): Promise<void> {
  try {
    await cleanUp(ground);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    ground.leave(`rules and ports of this run: they could not be removed (${error.message})`);
  }
}

const CHECKS: Readonly<Record<Area, (suite: Suite) => Promise<void>>> = {
  reads: checkReads,
  ports: checkPorts,
  rules: checkRules,
  installs: checkInstalls,
  workflows: checkWorkflows,
  'lost-answers': checkLostAnswers,
};

/** Checks one area. If it fails, the other areas are still checked, and the suite still cleans up. */
async function checkArea(area: Area, suite: Suite): Promise<void> {
  try {
    await CHECKS[area](suite);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    suite.fail('', 'the rest of the area', `${error.code}: ${error.message}`);
  }
}

function storeOf(options: ConformanceOptions, surroundings: Surroundings): StoreModel | undefined {
  const { storeUrl: url, storeDomain: domain, storeType: type, storeKeyEnv: keyEnv, model, upgradeTo } = options;
  if (url === undefined && domain === undefined && model === undefined) return undefined;
  if (url === undefined || domain === undefined || model === undefined) {
    throw invalidInput(
      'cli/incomplete-store',
      'A store requires an address, a name and a model.',
      'Pass --store-url, --store-domain and --model together.',
    );
  }
  return {
    url,
    domain,
    type,
    accessKey: keyEnv === undefined ? null : openSecret({ env: keyEnv }, '--store-key-env', surroundings)(),
    keyEnv,
    modelId: model.id,
    version: model.version,
    upgradeTo,
  };
}

function modelArgument(text: string): { readonly id: string; readonly version: string } {
  const [, id, version] = /^([^@\s]+)@([^@\s]+)$/.exec(text) ?? [];
  if (id === undefined || version === undefined) throw new InvalidArgumentError('Expected ID@VERSION.');
  return { id, version };
}

function areaArgument(value: string, earlier: readonly Area[] | undefined): readonly Area[] {
  const area = AREAS.find((one) => one === value);
  if (area === undefined) throw new InvalidArgumentError(`Expected one of: ${AREAS.join(', ')}.`);
  return [...(earlier ?? []), area];
}
