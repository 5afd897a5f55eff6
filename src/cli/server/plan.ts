import { invalidInput, PortolanError } from '../../model/errors.ts';
import type { ApplicationDetails } from '../../model/status.ts';
import type { PlanDocument } from '../../model/plan-document.ts';
import type { Surroundings } from '../session/command.ts';
import { checkEmpty, warnMisnamed } from '../session/empty-input.ts';
import type { ExitCode } from '../session/exit-codes.ts';
import { loadManifests } from '../../manifest/load.ts';
import { readInputFiles } from '../session/input.ts';
import { openOutputs, type Outputs } from '../session/outputs.ts';
import type { PlanOptions } from '../session/planning-options.ts';
import { refuseFaults } from '../session/problems.ts';
import { endOfPlan } from '../commands/saved/agreed.ts';
import { applicationOf, presentPlan } from './applications.ts';
import { openServer, type ServerClient } from './client.ts';
import { applicationArgument } from './options.ts';

/** Flags of `plan` that the operator sets on the server. */
const OF_THE_SERVER = {
  maxShare: '--max-share',
  maxPrunes: '--max-prunes',
  allowEmpty: '--allow-empty',
  allowShrunk: '--allow-shrunk',
  allowRewind: '--allow-rewind',
  ignoreWindows: '--ignore-windows',
  ignorePolicies: '--ignore-policies',
  firstInstall: '--first-install',
} as const;

/**
 * Sends the manifests to a running controller and shows its plan. This needs neither the platform's credentials nor the
 * ledger. Output and exit code are those of a local plan.
 */
export async function planOnServer(options: PlanOptions, surroundings: Surroundings): Promise<ExitCode> {
  refuseLimits(options);
  const outputs = openOutputs(options, surroundings);
  return outputs.showFaultsOf(() => plannedOnServer(options, outputs, surroundings));
}

/** @throws PortolanError for a flag that overrides a limit, which only the operator of the server can do. */
export function refuseLimits(options: PlanOptions): void {
  refuseFlags(options, OF_THE_SERVER, 'with --server: the server has its own limits');
}

/** Flags of `plan` that need manifests. */
const OF_MANIFESTS = { adopt: '--adopt', prune: '--prune', revision: '--revision', target: '--target' } as const;

function refuseFlags(options: PlanOptions, flags: Readonly<Record<string, string>>, where: string): void {
  for (const [name, flag] of Object.entries(flags)) {
    if (options[name as keyof PlanOptions] === undefined) continue;
    throw invalidInput(
      'cli/flag-of-the-server',
      `${flag} cannot be used ${where}.`,
      `Leave out ${flag} and its variable, or --server.`,
    );
  }
}

/**
 * Returns the name that a command line gives instead of manifests; undefined: it names files.
 * @param paths the arguments. One word without a folder or an extension is an application.
 */
export function applicationIn(paths: readonly string[]): string | undefined {
  const [path = '', ...more] = paths;
  const name = applicationArgument(path);
  return more.length > 0 || /^\.*$|[/\\]|^-$|\.(?:ya?ml|json)$/i.test(name) ? undefined : name;
}

/** Shows the plan that a running controller makes of one application of its source, and whether it waits for an approval. */
export async function planOfApplication(
  name: string,
  options: PlanOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  refuseFlags(options, { ...OF_THE_SERVER, ...OF_MANIFESTS }, 'for an application: the server plans its own source');
  const outputs = openOutputs(options, surroundings);
  const server = openServer(options, surroundings);
  const { id, approval } = await namedApplication(server, name);
  const plan = await presentPlan(server, name);
  const report = { plan, applied: undefined };
  await outputs.show(report, new Map());
  if (approval !== null) {
    const state =
      approval.digest === plan.digest
        ? 'This plan waits for an approval'
        : `The plan ${approval.digest} waits for an approval, but it has changed since`;
    surroundings.terminal.err.write(
      `${state}: portolan approve ${id.slice(id.indexOf('/') + 1)} --server ${server.url}\n`,
    );
  }
  return outputs.keep(report, new Map(), endOfPlan(plan, options, surroundings).exitCode);
}

/** Returns the status of an application. The error also explains how to name a folder. */
async function namedApplication(server: ServerClient, name: string): Promise<ApplicationDetails> {
  try {
    return await applicationOf(server, name);
  } catch (error) {
    if (!(error instanceof PortolanError) || error.code !== 'controller/unknown-application') throw error;
    const { code, disposition, message } = error;
    const remedy = `${error.remedy} To plan manifests in a folder of this name, pass -f ${name}.`;
    throw new PortolanError({ code, disposition, message, remedy });
  }
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
