import { silentHooks } from '../../reconcile/apply/world.ts';
import { defineCommand } from '../session/command.ts';
import { checkEmpty } from '../session/empty-input.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { filesNamed, PATHS_ARGUMENT } from '../session/options.ts';
import { addManifestOptions, addOutputOptions, addPlanningOptions } from '../session/planning-options.ts';
import { openOutputs } from '../session/outputs.ts';
import { endOfPlan } from './saved/agreed.ts';
import { addServerOptions } from '../server/options.ts';
import { surveyAll, withSession } from '../session/session.ts';

export const planCommand = defineCommand({
  about:
    'Observes the platform, compares it with the manifests and with the values applied last, and prints every change that apply would make, with its reason. Writes to neither the platform nor the ledger.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.changesPending, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['apply', 'status', 'validate'],
  examples: `
Examples:
  portolan plan -f manifests/
  portolan plan -f manifests/ --detailed-exitcode     # 2 when changes are pending
  portolan plan -f manifests/ --ledger none -o json   # in CI, without the ledger
  portolan plan -f manifests/ --revision origin/main   # a commit, not the files on disk
  portolan plan -f manifests/ --target Component/shop-web
  portolan plan -f manifests/ --save plan.json         # then: portolan apply plan.json
  portolan plan -f manifests/ -o github --out plan.md --out plan.sarif   # for a pull request, all from one plan
  portolan plan -f manifests/ --server https://portolan.example.com   # in CI, with only a token
  portolan plan --server https://portolan.example.com shop            # of the source that it runs, held or not`,
  parameters: (command) =>
    addPlanningOptions(
      addOutputOptions(
        addServerOptions(
          addManifestOptions(
            command.argument('[paths...]', `${PATHS_ARGUMENT[1]}; with --server, an application of its source`),
          ),
        ),
      )
        .option('--detailed-exitcode', 'end with 2 when changes are pending')
        .option('--save <file>', 'save the plan to this file; apply FILE then applies exactly this plan'),
    ),
  /** Loads the code for saved plans and servers only when an option needs it. */
  async run(surroundings, given, [paths], { command }) {
    const options = filesNamed(paths, given, command);
    const saving = options.save === undefined ? undefined : await import('./saved/save.ts');
    if (options.save !== undefined) saving?.checkSaving(options.save, options);
    if (options.server !== undefined) {
      const { applicationIn, planOfApplication, planOnServer } = await import('../server/plan.ts');
      const application = command.getOptionValueSource('filename') === 'cli' ? undefined : applicationIn(paths);
      return application === undefined
        ? planOnServer(options, surroundings)
        : planOfApplication(application, given, surroundings);
    }
    // Writes only the files that options name: neither the platform nor the ledger.
    const outputs = openOutputs(options, surroundings);
    const plan = (): Promise<ExitCode> =>
      withSession(options, surroundings, true, async (session) => {
        const { desired } = session.input;
        await checkEmpty(session.input, options, surroundings.terminal, session);
        const { document } = await surveyAll(session, silentHooks);
        const report = { plan: document, applied: undefined };
        await outputs.show(report, desired);
        const end = endOfPlan(document, options, surroundings);
        const exitCode = await outputs.keep(report, desired, end.exitCode);
        if (options.save !== undefined && end.isExpected)
          await saving?.savePlan(options.save, document, session, options, surroundings);
        return exitCode;
      });
    return outputs.showFaultsOf(plan);
  },
});
