import { Option } from '@commander-js/extra-typings';
import type { ApplicationSpec } from '../kinds/application/spec.ts';
import { didYouMean } from '../manifest/suggest.ts';
import { formatDuration } from '../model/duration.ts';
import { PortolanError } from '../model/errors.ts';
import { type Scope, scopeKey } from '../model/ids.ts';
import type { ComponentMonitor } from '../model/observed.ts';
import type { Resource } from '../model/resource.ts';
import { resolveScope } from '../reconcile/resolve-scope.ts';
import type { CommandDefinition, Surroundings } from './command.ts';
import { type OperatorConfiguration, readConfiguration } from './configuration.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type InputOptions, loadInput } from './input.ts';
import type { LogOptions } from './logging.ts';
import { type MonitorWindow, renderMonitors } from './monitor-report.ts';
import {
  configOption,
  filenameOption,
  integerArgument,
  logFormatOption,
  logLevelOption,
  outputOption,
  varFileOption,
  varOption,
} from './options.ts';
import type { Platforms } from './platforms.ts';
import { reportProblems } from './problems.ts';
import { safeLine } from '../model/text.ts';
import { sentences } from './text.ts';
import { epochMsOf, type When, whenArgument } from './when.ts';
import { withOpenPlatforms } from './with-platforms.ts';

/** What metrics systems of this kind answer in one series, at most. */
const SAMPLES_MAX = 11_000;

const HELP = `
APP is the name of an Application manifest (with -f), or PLATFORM/TEAM/REGION/APP-ID.
Units are not part of the API: they are guessed from the names of the items.

Examples:
  portolan monitor shop -f manifests/
  portolan monitor default/team-a/region-1/42 --since 6h --step 300
  portolan monitor shop -f manifests/ --since 2026-11-20T08:00:00Z --until 2026-11-20T09:00:00Z -o json`;

export const monitorCommand: CommandDefinition = {
  define(command, invoke) {
    command
      .argument('<app>', 'Application manifest, or PLATFORM/TEAM/REGION/APP-ID')
      .addOption(
        new Option('--since <when>', 'from: so long ago, or a time')
          .argParser(whenArgument)
          .default({ type: 'ago', ms: 3_600_000 } as When, '1h'),
      )
      .addOption(
        new Option('--until <when>', 'to: so long ago, or a time')
          .argParser(whenArgument)
          .default({ type: 'ago', ms: 0 } as When, 'now'),
      )
      .addOption(
        new Option('--step <seconds>', 'seconds between samples').argParser(integerArgument(1, 86_400)).default(60),
      )
      .addOption(new Option('--outer', 'only components with an outer port'))
      .addOption(filenameOption())
      .addOption(configOption())
      .addOption(varOption())
      .addOption(varFileOption())
      .addOption(outputOption(['text', 'json']))
      .addOption(logLevelOption())
      .addOption(logFormatOption())
      .addHelpText('after', HELP)
      .action((app, options) => invoke((surroundings) => monitor(app, options, surroundings)));
  },
};

interface MonitorOptions extends InputOptions, LogOptions {
  readonly since: When;
  readonly until: When;
  readonly step: number;
  readonly outer?: true | undefined;
  readonly output: 'text' | 'json';
}

async function monitor(app: string, options: MonitorOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { terminal, clock } = surroundings;
  const window = windowOf(options, clock.now());
  const { operator, scopeOf } = app.includes('/')
    ? byAddress(parseAddress(app), options)
    : await byManifest(app, options, surroundings);
  const invalid = reportProblems(operator.problems, terminal);
  if (invalid !== undefined) return invalid;
  return await withOpenPlatforms(operator, options, surroundings, async (platforms) => {
    const scope = await scopeOf(platforms);
    const { startSeconds: start, endSeconds: end, stepSeconds } = window;
    const query = { start, end, stepSeconds, ...(options.outer === true ? { outerOnly: true } : {}) };
    const monitors = await platforms.client(scope.platform).monitor(scope, query);
    terminal.out.write(
      options.output === 'json' ? json(scope, window, monitors) : text(scope, window, monitors, terminal.out.columns),
    );
    return EXIT.ok;
  });
}

/** Which application is meant, and the configuration to reach it with. */
interface Target {
  readonly operator: OperatorConfiguration;
  /** Asked only when the configuration and the manifests have no problem. */
  readonly scopeOf: (platforms: Platforms) => Promise<Scope>;
}

function byAddress(scope: Scope, options: MonitorOptions): Target {
  return { operator: readConfiguration(options.config), scopeOf: async () => scope };
}

async function byManifest(name: string, options: MonitorOptions, surroundings: Surroundings): Promise<Target> {
  const input = await loadInput(options, surroundings);
  return {
    operator: input,
    scopeOf: async (platforms) => {
      const application = applicationOf(name, [...input.desired.values()]);
      return (await resolveScope(application, { client: platforms.client(application.spec.platform) })).scope;
    },
  };
}

function windowOf(options: MonitorOptions, nowMs: number): MonitorWindow {
  const startSeconds = Math.floor(epochMsOf(options.since, nowMs) / 1000);
  const endSeconds = Math.floor(epochMsOf(options.until, nowMs) / 1000);
  const stepSeconds = options.step;
  const refuse = (message: string, remedy: string): never => {
    throw new PortolanError({ code: 'monitor/bad-window', disposition: 'invalid', message, remedy });
  };
  if (startSeconds >= endSeconds) refuse('--since is not before --until; nothing was asked.', 'Swap or correct them.');
  const samples = Math.floor((endSeconds - startSeconds) / stepSeconds);
  if (samples > SAMPLES_MAX) {
    const least = Math.ceil((endSeconds - startSeconds) / SAMPLES_MAX);
    refuse(
      `That is ${samples} samples per series, more than a platform answers; nothing was asked.`,
      `Pass --step ${least} or more.`,
    );
  }
  return { startSeconds, endSeconds, stepSeconds };
}

function applicationOf(name: string, resources: readonly Resource[]): Resource<ApplicationSpec> {
  const applications = resources.filter(({ kind }) => kind === 'Application') as readonly Resource<ApplicationSpec>[];
  const found = applications.find((application) => application.name === name);
  if (found !== undefined) return found;
  const names = applications.map((application) => application.name);
  throw new PortolanError({
    code: 'monitor/no-application',
    disposition: 'invalid',
    message: `The manifests have no Application called ${name}. Nothing was asked.`,
    remedy: sentences(
      didYouMean(name, names),
      names.length === 0 ? 'They have none at all.' : `They have: ${names.join(', ')}.`,
      'PLATFORM/TEAM/REGION/APP-ID works without manifests.',
    ),
  });
}

function parseAddress(text: string): Scope {
  const [platform = '', team = '', region = '', appId = '', ...rest] = text.split('/');
  const complete = platform !== '' && team !== '' && region !== '' && /^[0-9]{1,15}$/.test(appId) && rest.length === 0;
  if (complete) return { platform, team, region, appId: Number(appId) };
  throw new PortolanError({
    code: 'monitor/bad-address',
    disposition: 'invalid',
    message: `${text} is not PLATFORM/TEAM/REGION/APP-ID. Nothing was asked.`,
    remedy: 'Write it like default/team-a/region-1/42: the last part is the number of the application.',
  });
}

function text(scope: Scope, window: MonitorWindow, monitors: readonly ComponentMonitor[], columns: number): string {
  const [from, to] = [window.startSeconds, window.endSeconds].map((seconds) => new Date(seconds * 1000).toISOString());
  const [span, step] = [(window.endSeconds - window.startSeconds) * 1000, window.stepSeconds * 1000].map(
    formatDuration,
  );
  const head = `${safeLine(scopeKey(scope))}  ${from} to ${to} (${span}), a sample every ${step}\n\n`;
  return head + renderMonitors(monitors, window, columns);
}

function json(scope: Scope, window: MonitorWindow, components: readonly ComponentMonitor[]): string {
  return `${JSON.stringify({ scope, ...window, components }, null, 2)}\n`;
}
