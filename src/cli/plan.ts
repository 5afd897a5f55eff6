import { Option } from '@commander-js/extra-typings';
import type { CommandDefinition, Surroundings } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import {
  configOption,
  filenameOption,
  ledgerOption,
  logFormatOption,
  logLevelOption,
  outputOption,
  revisionOption,
  sourceOption,
  varFileOption,
  varOption,
} from './options.ts';
import {
  adoptOption,
  allowEmptyOption,
  allowRewindOption,
  allowShrunkOption,
  maxPrunesOption,
  maxShareOption,
  parallelismOption,
  pruneOption,
  targetOption,
} from './pass-options.ts';
import { planExitCode, writePlan } from './plan-view.ts';
import { type ServerFlags, serverOption, tokenFileOption } from './server/options.ts';
import { type SessionOptions, silentHooks, surveyAll, withSession } from './session.ts';

const EXAMPLES = `
Examples:
  portolan plan -f manifests/
  portolan plan -f manifests/ --detailed-exitcode     # 2 when changes are pending
  portolan plan -f manifests/ --ledger none -o json   # in CI, without the ledger at hand
  portolan plan -f manifests/ --revision origin/main   # a commit, whatever the files say
  portolan plan -f manifests/ --target Component/shop-web
  portolan plan -f manifests/ --server https://portolan.example.com   # in CI, with nothing but a token`;

export const planCommand: CommandDefinition = {
  define(command, invoke) {
    command
      .addOption(filenameOption())
      .addOption(revisionOption())
      .addOption(configOption())
      .addOption(ledgerOption())
      .addOption(sourceOption())
      .addOption(serverOption())
      .addOption(tokenFileOption())
      .addOption(varOption())
      .addOption(varFileOption())
      .addOption(outputOption(['text', 'json']))
      .addOption(new Option('--detailed-exitcode', 'end with 2 when changes are pending'))
      .addOption(targetOption())
      .addOption(pruneOption())
      .addOption(adoptOption())
      .addOption(maxShareOption())
      .addOption(maxPrunesOption())
      .addOption(allowEmptyOption())
      .addOption(allowShrunkOption())
      .addOption(allowRewindOption())
      .addOption(parallelismOption())
      .addOption(logLevelOption())
      .addOption(logFormatOption())
      .addHelpText('after', EXAMPLES)
      .action((options) => invoke((surroundings) => plan(options, surroundings)));
  },
};

export interface PlanOptions extends SessionOptions {
  readonly output: 'text' | 'json';
  readonly detailedExitcode?: boolean | undefined;
}

/** The packages for talking to a server are loaded only where there is one. */
async function plan(options: PlanOptions & ServerFlags, surroundings: Surroundings): Promise<ExitCode> {
  if (options.server === undefined) return runPlan(options, surroundings);
  const { planOnServer } = await import('./server/plan.ts');
  return planOnServer(options, surroundings);
}

/** Observes and plans, and writes nothing anywhere: not to the platform, not to the ledger. */
export function runPlan(options: PlanOptions, surroundings: Surroundings): Promise<ExitCode> {
  return withSession(options, surroundings, true, async (session) => {
    const survey = await surveyAll(session, silentHooks);
    writePlan(survey.document, options.output, surroundings.terminal.out);
    return planExitCode(survey.document, options.detailedExitcode === true);
  });
}
