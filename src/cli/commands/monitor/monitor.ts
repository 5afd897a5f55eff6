import { type Command, Option } from '@commander-js/extra-typings';
import { formatDuration } from '../../../model/duration.ts';
import { invalidInput } from '../../../model/errors.ts';
import { type Scope, scopeKey } from '../../../model/ids.ts';
import type { MonitoringMark } from '../../../model/monitoring.ts';
import { shortRevision } from '../../../model/revision.ts';
import { safeLine } from '../../../model/text.ts';
import { defineCommand, type OptionsOf, type Surroundings } from '../../session/command.ts';
import { asciiOption, glyphsFor } from '../../terminal/drawing/glyphs.ts';
import type { TimeWindow } from '../../../model/series.ts';
import { addServerOptions, applicationArgument } from '../../server/options.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import {
  addLogOptions,
  addVariableOptions,
  collect,
  configOption,
  filenameOption,
  integerArgument,
  outputOption,
} from '../../session/options.ts';
import { paintFor } from '../../session/plan-view.ts';
import { readMonitoring, sourceInWords } from '../../../platform/monitoring.ts';
import { type Platforms, withPlatforms } from '../../session/platforms.ts';
import { textOfLines, wrap } from '../../terminal/text.ts';
import { intervalOf, watch, watchOption } from '../watch.ts';
import { chartsOf } from '../../../views/charts.ts';
import { monitorCsv, monitorDocument, type Seen } from './formats.ts';
import { overviewLines, type View } from './overview.ts';
import { heightWithin, plotLines } from './plots.ts';
import { targetOf } from './target.ts';
import { type When, whenArgument, windowOf } from './window.ts';

const WATCH_MS = 15_000;

const HELP = `
APP is the name of an Application manifest (with -f) or of an application of a running controller (with --server), or
PLATFORM/TEAM/REGION/APP-ID.
Samples come from the region's metrics where the platform has a range query, else from the documented endpoint of the
application, from which a real server loses every sample; the output names the source.
Units are not part of the API: they are guessed from the names of the items. Where samples are missing there is a gap,
never a zero; components without the performance plugin do not appear at all.

Examples:
  portolan monitor shop -f manifests/
  portolan monitor shop -f manifests/ --overview --watch 30s
  portolan monitor shop --server http://127.0.0.1:7780       # through a running controller, with changes and drift
  portolan monitor default/team-a/region-1/42 --since 6h --step 300 --component shop-web --item request_time
  portolan monitor shop -f manifests/ --since 2026-11-20T08:00:00Z --until 2026-11-20T09:00:00Z -o csv > shop.csv`;

const withOptions = (command: Command) =>
  addLogOptions(
    addVariableOptions(
      addServerOptions(command.argument('<app>', 'Application manifest, or PLATFORM/TEAM/REGION/APP-ID'))
        .addOption(
          new Option('--since <when>', 'start: a duration ago, or a time')
            .argParser(whenArgument)
            .default({ type: 'ago', ms: 3_600_000 } as When, '1h'),
        )
        .addOption(
          new Option('--until <when>', 'end: a duration ago, or a time')
            .argParser(whenArgument)
            .default({ type: 'ago', ms: 0 } as When, 'now'),
        )
        .option('--step <seconds>', 'seconds between samples', integerArgument(1, 86_400), 60)
        .option('--outer', 'only components with an outer port')
        .option('--component <name>', 'only this component, by name or id; may be repeated', collect)
        .option('--item <name>', 'only this item; may be repeated', collect)
        .option('--overview', 'a line for each series, no plots')
        .addOption(watchOption('15s'))
        .addOption(asciiOption())
        .addOption(filenameOption())
        .addOption(configOption()),
    ).addOption(outputOption(['text', 'json', 'csv'])),
  );

export const monitorCommand = defineCommand({
  isEndless: true,
  about: 'Reads the monitoring history of an application from the platform and draws each series. Read-only.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['status', 'events'],
  examples: HELP,
  parameters: withOptions,
  async run(surroundings, options, [app]) {
    windowOf(options, surroundings.clock.now());
    const intervalMs = intervalOf(options.watch, WATCH_MS);
    if (intervalMs !== undefined && options.output === 'csv')
      throw invalidInput(
        'monitor/csv-watch',
        '-o csv is one table, so it cannot be watched.',
        'Leave --watch out, or pass -o json: it writes one line for each observation.',
      );
    const name = applicationArgument(app);
    if (options.server !== undefined && options.filename === undefined && !name.includes('/')) {
      const { observeServer } = await import('./server.ts');
      return await show(observeServer(name, options, surroundings), intervalMs, options, surroundings);
    }
    const { operator, scopeOf } = await targetOf(app, options, surroundings);
    return await withPlatforms(operator, options, surroundings, async (platforms) => {
      const scope = await scopeOf(platforms);
      const observe = (): Promise<Seen> => observeScope(scope, platforms, options, surroundings);
      return await show(observe, intervalMs, options, surroundings);
    });
  },
});

type MonitorOptions = OptionsOf<typeof withOptions>;

/** Writes the observation once, or repeatedly. @param intervalMs time between two observations; undefined: one. */
async function show(
  observe: () => Promise<Seen>,
  intervalMs: number | undefined,
  options: MonitorOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  if (intervalMs === undefined) {
    write(await observe(), options, surroundings);
    return EXIT.ok;
  }
  return watch(
    {
      intervalMs,
      observe,
      draw: (seen, rows) => textLines(seen, options, surroundings, rows),
      print: (seen) =>
        options.output === 'json' ? `${JSON.stringify(monitorDocument(seen))}\n` : textOf(seen, options, surroundings),
    },
    surroundings,
  );
}

async function observeScope(
  scope: Scope,
  platforms: Platforms,
  options: MonitorOptions,
  { clock }: Surroundings,
): Promise<Seen> {
  const window = windowOf(options, clock.now());
  const { startSeconds: start, endSeconds: end, stepSeconds } = window;
  const query = { start, end, stepSeconds, outerOnly: options.outer === true };
  const monitoring = await readMonitoring(platforms.client(scope.platform), scope, query);
  return { scope, window, components: chartsOf(monitoring.monitors, options), monitoring };
}

function write(seen: Seen, options: MonitorOptions, surroundings: Surroundings): void {
  const { out, err } = surroundings.terminal;
  switch (options.output) {
    case 'text':
      out.write(textOf(seen, options, surroundings));
      break;
    case 'json':
      out.write(`${JSON.stringify(monitorDocument(seen), null, 2)}\n`);
      break;
    case 'csv':
      out.write(monitorCsv(seen));
      // A component without samples has no line in the table.
      for (const { name, charts } of seen.components)
        if (charts.every(({ samples }) => samples.length === 0))
          err.write(`note: no data for ${safeLine(name)}: it reports no monitoring history\n`);
      break;
  }
}

function textOf(seen: Seen, options: MonitorOptions, surroundings: Surroundings): string {
  return textOfLines(textLines(seen, options, surroundings, undefined));
}

/** @param rows number of available rows; undefined: unlimited. */
function textLines(
  { scope, window, components, monitoring, marks = [] }: Seen,
  { overview, ascii }: MonitorOptions,
  { terminal: { out }, env }: Surroundings,
  rows: number | undefined,
): readonly string[] {
  const { columns, isTerminal } = out;
  const view: View = { window, columns, isCut: isTerminal, glyphs: glyphsFor(env, ascii), paint: paintFor(out) };
  const head = [headOf(scope, window), `source: ${sourceInWords(monitoring)}`];
  const lines = [...(isTerminal ? head.flatMap((line) => wrap(line, columns)) : head), ''];
  if (components.length === 0) {
    const nothing =
      'no data: no component of the application reports monitoring history (components without the performance plugin never do)';
    return [...lines, ...(isTerminal ? wrap(nothing, columns) : [nothing])];
  }
  lines.push(...overviewLines(components, view));
  if (marks.length > 0)
    lines.push('', ...markLines(marks).flatMap((line) => (isTerminal ? wrap(line, columns) : [line])));
  if (overview === true) return lines;
  const height = heightWithin(components, view, rows === undefined ? undefined : rows - lines.length - 1);
  if (height === undefined)
    return [...lines, '', 'no room for plots: make the window higher, or pass --component and --item'];
  return [...lines, '', ...plotLines(components, view, height)];
}

/** Returns changes and drift of the window, oldest first. */
function markLines(marks: readonly MonitoringMark[]): readonly string[] {
  return marks.map(({ atMs, resource, revision, message }) => {
    const what = resource === null ? message : `${resource}: ${message}`;
    const commit = revision === null ? '' : `  ${shortRevision(revision)}`;
    return safeLine(`${new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z')}  ${what}${commit}`);
  });
}

function headOf(scope: Scope, { startSeconds, endSeconds, stepSeconds }: TimeWindow): string {
  const [from, to] = [startSeconds, endSeconds].map((seconds) =>
    new Date(seconds * 1000).toISOString().replace('.000', ''),
  );
  const span = formatDuration((endSeconds - startSeconds) * 1000);
  return `${safeLine(scopeKey(scope))}  ${from} to ${to} (${span}), a sample every ${formatDuration(stepSeconds * 1000)}`;
}
