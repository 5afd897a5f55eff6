import { invalidInput } from '../../model/errors.ts';
import type { PlanDocument } from '../../plan/document.ts';
import type { Surroundings } from '../session/command.ts';
import { checkEmpty, warnMisnamed } from '../session/empty-input.ts';
import type { ExitCode } from '../session/exit-codes.ts';
import { loadManifests } from '../../manifest/load.ts';
import { readInputFiles } from '../session/input.ts';
import { openOutputs, type Outputs } from '../session/outputs.ts';
import type { PlanOptions } from '../session/planning-options.ts';
import { refuseFaults } from '../session/problems.ts';
import { endOfPlan } from '../commands/saved/agreed.ts';
import { openServer } from './client.ts';

/** Flags of `plan` that the operator sets on the server. */
const OF_THE_SERVER = {
  maxShare: '--max-share',
  maxPrunes: '--max-prunes',
  allowEmpty: '--allow-empty',
  allowShrunk: '--allow-shrunk',
  allowRewind: '--allow-rewind',
  ignoreWindows: '--ignore-windows',
  firstInstall: '--first-install',
} as const;

/**
 * Sends the manifests to a running controller and shows its plan. This needs neither the platform's credentials nor the
 * ledger. Output and exit code are those of a local plan.
 */
export async function planOnServer(options: PlanOptions, surroundings: Surroundings): Promise<ExitCode> {
  for (const [name, flag] of Object.entries(OF_THE_SERVER)) {
    if (options[name as keyof typeof OF_THE_SERVER] === undefined) continue;
    throw invalidInput(
      'cli/flag-of-the-server',
      `${flag} cannot be used with --server: the server has its own limits.`,
      `Leave out ${flag} and its variable, or --server.`,
    );
  }
  const outputs = openOutputs(options, surroundings);
  return outputs.showFaultsOf(() => plannedOnServer(options, outputs, surroundings));
}

async function plannedOnServer(options: PlanOptions, outputs: Outputs, surroundings: Surroundings): Promise<ExitCode> {
  const server = openServer(options, surroundings);
  const input = await readInputFiles(options, surroundings);
  const { terminal } = surroundings;
  warnMisnamed(input.misnamed, terminal);
  refuseFaults(input.problems);
  // Bytes that are not text are decoded loosely: the server then refuses them with their position.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const body = {
    files: input.files.map(({ path, content }) => ({
      path,
      content: typeof content === 'string' ? content : decoder.decode(content),
    })),
    variables: Object.fromEntries(input.variables),
    prune: options.prune === true,
    adopt: options.adopt === true ? 'all' : (options.adopt ?? []),
    ...(options.target === undefined ? {} : { targets: options.target }),
  };
  const planned = (await server.post('plan', 'formatVersion', body)) as PlanDocument;
  const document = { ...planned, revision: input.commit?.name ?? planned.revision };
  // The server does not know positions, so they are read from the local files.
  const { desired } = loadManifests({
    kinds: surroundings.declarations,
    files: input.files,
    variables: input.variables,
  });
  if (document.refusals.length === 0)
    await checkEmpty({ paths: input.paths, files: input.files.length, desired }, options, terminal);
  const report = { plan: document, applied: undefined };
  await outputs.show(report, desired);
  return outputs.keep(report, desired, endOfPlan(document, options, surroundings).exitCode);
}
