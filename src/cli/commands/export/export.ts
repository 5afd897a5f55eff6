import type { Command } from '@commander-js/extra-typings';
import PQueue from 'p-queue';
import { operatorNames } from '../../../configuration/configuration.ts';
import { exportApplications, type ExportedApplication } from '../../../manifest/export.ts';
import { renderProblems } from '../../../manifest/render.ts';
import { invalidInput, PortolanError } from '../../../model/errors.ts';
import { scopeKey } from '../../../model/ids.ts';
import { safeLine } from '../../../model/text.ts';
import { renderPlanText } from '../../../report/text.ts';
import {
  type ApplicationReader,
  createApplicationReader,
  type ExportTarget,
} from '../../../reconcile/read-application.ts';
import { defineCommand, type OptionsOf, type Surroundings } from '../../session/command.ts';
import { readConfiguration } from '../../session/configuration.ts';
import { EXIT, exitCodeOf } from '../../session/exit-codes.ts';
import { FILE_BYTES_MAX, filesOf, type ManifestFile, refuseClashes, writeFiles } from './export-files.ts';
import { type Proof, prove } from './export-proof.ts';
import { exportTargets } from './export-targets.ts';
import { type Input, loadInput } from '../../session/input.ts';
import {
  addLogOptions,
  addVariableOptions,
  collect,
  configOption,
  filenameOption,
  parallelismOption,
  platformOption,
} from '../../session/options.ts';
import { worstOf } from '../../session/plan-view.ts';
import { type Platforms, withPlatforms } from '../../session/platforms.ts';
import { refuseFaults, screenOf } from '../../session/problems.ts';
import { Progress } from '../../terminal/progress.ts';
import { own, type Terminal } from '../../terminal/terminal.ts';
import { count } from '../../terminal/text.ts';

const parameters = (command: Command) =>
  addLogOptions(
    addVariableOptions(
      command
        .option('--app <address>', 'an application, TEAM/REGION/APP-ID; may be repeated', collect)
        .option('--team <team>', 'all applications of a team (or TEAM/REGION); may be repeated', collect)
        .option('--list <file>', 'file with one application on each line; - for standard input')
        .option('--component <id>', 'only this component of the application (service_id); may be repeated', collect)
        .addOption(filenameOption())
        .addOption(configOption())
        .addOption(platformOption())
        .option('--to <folder>', 'write one file for each application to this folder, instead of standard output')
        .option('--force', 'replace existing files')
        .option('--store <name>', 'Store of the configuration for installs whose store is not known')
        .option(
          '--schemas <place>',
          'folder or URL of the JSON Schemas of each kind, for editors (default: the schema that init wrote)',
        ),
    ).addOption(parallelismOption()),
  );

type ExportOptions = OptionsOf<typeof parameters>;

export const exportCommand = defineCommand({
  isData: true,
  about:
    'Reads applications from the platform and writes them as manifests, then proves that a plan of the manifests is empty. Use it to bring existing applications into git. Writes only files.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['adopt', 'init', 'plan'],
  examples: `
Sends no write to the platform. The manifests are planned against the same readings: an empty plan proves that nothing
would change.

A server that supports only the documented API lists neither components nor rules nor installs. There, name components
with --component, in the list, or with -f and existing manifests. Each file, and stderr, says what could not be read.
A resource that existing manifests (-f) name keeps its name.

Examples:
  portolan export --app team-a/region-1/42
  portolan export --app team-a/region-1/42 --component 6f3c1d5e8a9b40c7a2e4d6f8091b3c5d
  portolan export --team team-a --to manifests/team-a     # one file for each application
  portolan export --list applications.txt --to manifests  # lines: TEAM/REGION/APP-ID [SERVICE-ID …]
  portolan export -f manifests/ --to now                  # the current state of what the manifests name
  portolan export -f manifests/ --team team-b --to manifests/team-b   # no name is used twice

To adopt the exported resources: portolan adopt -f manifests/`,
  parameters,
  async run(surroundings, options) {
    const { terminal } = surroundings;
    const input = await readInput(options, surroundings);
    refuseFaults(input.problems);
    refuseUnknownStore(options.store, input);
    return withPlatforms(input, options, surroundings, async (platforms) => {
      const { targets, others } = await exportTargets(options, input.desired, platforms, terminal);
      const { applications, errors } = await readAll(targets, options, platforms, surroundings);
      const readOf = new Map(applications.map((application) => [application.live, application]));
      const reconciled = await surroundings.kinds.reconciled();
      const written = exportApplications([...readOf.keys()], {
        kinds: reconciled,
        stores: input.configuration.stores,
        store: options.store,
        others,
      });
      const { redaction, declarations } = surroundings;
      const layout = { to: options.to, schemas: options.schemas, redact: redaction.redact, kinds: declarations };
      const files = written.map((application) => filesOf(application, layout));
      const proof = await prove(
        { declared: surroundings.declarations, reconciled },
        files.flat(),
        new Map(written.map(({ name, live }) => [name, readOf.get(live)])),
        operatorNames(input.configuration),
        surroundings.clock.now(),
      );
      if (options.to !== undefined)
        await refuseClashes(files.flat(), options.to, options.filename !== undefined, surroundings);
      writeManifests(options, files.flat(), terminal);
      reportWritten(options, written, files, terminal);
      if (written.length > 0) reportProof(proof, terminal);
      for (const { target, error } of errors) reportError(target, error, terminal);
      const codes = [
        ...errors.map(({ error }) => exitCodeOf(error.disposition)),
        ...(proof.holds ? [] : [EXIT.failed]),
      ];
      return worstOf(codes) ?? EXIT.ok;
    });
  },
});

/** Reads the configuration, and existing manifests when -f names some. */
async function readInput(
  options: ExportOptions,
  surroundings: Surroundings,
): Promise<Pick<Input, 'configuration' | 'file' | 'problems' | 'desired'>> {
  if (options.filename !== undefined) return loadInput(options, surroundings);
  return { ...readConfiguration(options.config, surroundings), desired: new Map() };
}

function refuseUnknownStore(
  store: string | undefined,
  { configuration: { stores } }: Pick<Input, 'configuration'>,
): void {
  if (store === undefined || stores.has(store)) return;
  throw invalidInput(
    'export/no-store',
    `The configuration has no Store called ${store}. Nothing was read.`,
    stores.size === 0 ? 'Add a document of kind Store to it.' : `Name one of: ${[...stores.keys()].join(', ')}.`,
  );
}

/** Reads several applications at once. One that cannot be read does not delay the others. */
async function readAll(
  targets: readonly ExportTarget[],
  { parallelism }: ExportOptions,
  platforms: Platforms,
  surroundings: Surroundings,
) {
  const kinds = await surroundings.kinds.reconciled();
  const readers = new Map<string, ApplicationReader>();
  for (const [name, ofPlatform] of Map.groupBy(targets, ({ scope }) => scope.platform))
    readers.set(name, createApplicationReader(kinds, platforms.client(name), ofPlatform));
  const progress = new Progress(surroundings);
  let begun = 0;
  const queue = new PQueue({ concurrency: parallelism });
  try {
    const results = await queue.addAll(
      targets.map((target) => async () => {
        begun += 1;
        progress.at('', `read ${begun}/${targets.length}  ${scopeKey(target.scope)}`);
        try {
          return { target, application: await readers.get(target.scope.platform)?.read(target) };
        } catch (error) {
          if (!(error instanceof PortolanError) || error.code === 'platform/stopped') throw error;
          return { target, error };
        }
      }),
    );
    return {
      applications: results.flatMap(({ application }) => application ?? []),
      errors: results.flatMap(({ target, error }) => (error === undefined ? [] : [{ target, error }])),
    };
  } finally {
    progress.clear();
  }
}

function writeManifests({ to, force }: ExportOptions, files: readonly ManifestFile[], { out, err }: Terminal): void {
  if (to !== undefined) {
    for (const { path, losses } of writeFiles(files, force === true))
      if (losses.length > 0)
        err.write(
          `note: ${safeLine(path)} was replaced. These parts of the former file are lost (git may still have them):\n${losses.map((loss) => `  lost: ${safeLine(loss)}\n`).join('')}`,
        );
    return;
  }
  const text = files.map(({ content }) => content).join('---\n');
  out.write(text);
  if (Buffer.byteLength(text) > FILE_BYTES_MAX)
    err.write('note: the output may exceed the limit of one manifest file; --to FOLDER writes several files\n');
}

/** Reports what was written and what could not be. A sentence that concerns several applications is written once. */
function reportWritten(
  { to }: ExportOptions,
  applications: readonly ExportedApplication[],
  files: readonly (readonly ManifestFile[])[],
  { err }: Terminal,
): void {
  const unseen = new Map<string, number>();
  for (const [index, { live, name, documents, left, unseen: sentences }] of applications.entries()) {
    const counts = [...Map.groupBy(documents.slice(1), ({ kind }) => kind)].map(([kind, all]) =>
      count(all.length, kind),
    );
    const where = to === undefined ? '' : ` → ${(files[index] ?? []).map(({ path }) => path).join(', ')}`;
    err.write(
      `${safeLine(`${scopeKey(live.scope)}  Application/${name}: ${counts.join(', ') || 'nothing else'}${where}`)}\n`,
    );
    for (const sentence of left) err.write(`  not written: ${safeLine(sentence)}\n`);
    for (const sentence of sentences) unseen.set(sentence, (unseen.get(sentence) ?? 0) + 1);
  }
  for (const [sentence, times] of unseen)
    err.write(`not shown${times > 1 ? ` (${count(times, 'application')})` : ''}: ${safeLine(sentence)}\n`);
}

function reportProof({ holds, problems, plan }: Proof, { err }: Terminal): void {
  const { inSync, unchangedFields } = plan.summary;
  if (holds) {
    const what = `${count(plan.scopes.length, 'application')}, ${count(inSync, 'resource')}, ${count(unchangedFields, 'field')}`;
    err.write(`proved: the plan of the written manifests is empty (${what})\n`);
    return;
  }
  err.write('not proved: the written manifests differ from the platform. Remaining changes:\n');
  err.write(problems.length > 0 ? own(err, renderProblems(problems, screenOf(err))) : renderPlanText(plan));
}

/** Remedies for errors whose own remedy names a field of a manifest, while the value came from the command line. */
const REMEDIES: Readonly<Record<string, string>> = {
  'platform/unknown-team': 'Correct the team in TEAM/REGION/APP-ID.',
  'platform/unknown-region': 'Correct the region in TEAM/REGION/APP-ID; portolan regions lists them.',
  'platform/unknown-component': 'Correct the id of the component, or the application that it is named with.',
};

function reportError({ scope }: ExportTarget, error: PortolanError, { err }: Terminal): void {
  const remedy = REMEDIES[error.code] ?? error.remedy;
  err.write(
    `error: ${safeLine(scopeKey(scope))} was not exported: ${safeLine(error.message)}\n  ${safeLine(remedy)}\n  [${error.code}]  (portolan docs ${error.code})\n`,
  );
}
