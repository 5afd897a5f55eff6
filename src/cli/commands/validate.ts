import { weightWarnings } from '../../kinds/http-gateway-rule/weights.ts';
import type { Problem } from '../../model/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import { manifestPolicyProblems } from '../session/policy-problems.ts';
import { own } from '../terminal/terminal.ts';
import { defineCommand } from '../session/command.ts';
import { checkEmpty, ifEmptyOption, warnMisnamed } from '../session/empty-input.ts';
import { EXIT } from '../session/exit-codes.ts';
import { type Input, loadInput } from '../session/input.ts';
import {
  addVariableOptions,
  configOption,
  filenameOption,
  filesNamed,
  PATHS_ARGUMENT,
  outputOption,
  revisionOption,
} from '../session/options.ts';
import { atCheckout } from '../session/outputs.ts';
import { PROBLEM_FORMATS, renderProblemsAs } from '../session/problems.ts';
import { count } from '../terminal/text.ts';

export const validateCommand = defineCommand({
  about:
    'Checks manifests and configuration as plan does, and reports every fault with file, line, column and expected value. With a configuration, it also reports what plan refuses whatever the platform says, such as an application outside of spec.scopes.allow or a manifest that a policy denies. It uses no platform, ledger or secret.',
  exitCodes: [EXIT.ok, EXIT.invalid],
  seeAlso: ['fmt', 'explain', 'plan'],
  examples: `
Examples:
  portolan validate -f manifests/
  portolan validate -f manifests/ --config portolan.yaml --var ENV=prod
  portolan validate -f manifests/ --revision HEAD     # the committed files
  kustomize build overlays/prod | portolan validate -f -
  portolan validate -f manifests/ -o json | jq '.problems[].code'
  portolan validate -f manifests/ -o github          # in GitHub Actions: each fault at its line`,
  parameters: (command) =>
    addVariableOptions(
      command
        .argument(...PATHS_ARGUMENT)
        .addOption(filenameOption())
        .addOption(ifEmptyOption())
        .addOption(revisionOption())
        .addOption(configOption()),
    ).addOption(outputOption(PROBLEM_FORMATS)),
  /** Reads only files: no platform, no ledger. */
  async run(surroundings, given, [paths], { command }) {
    const options = filesNamed(paths, given, command);
    const { terminal } = surroundings;
    const input = await loadInput(options, surroundings, true);
    const problems = checkedByPolicies(input, surroundings.clock);
    const faults = problems.filter(({ severity }) => severity !== 'warning');
    if (problems.length > 0 || options.output !== 'text') {
      // Readers of these formats expect file names relative to the checkout.
      const isOfCheckout = ['github', 'gitlab', 'sarif'].includes(options.output);
      const shown = isOfCheckout ? problems.map(atCheckout) : problems;
      const denied = new Set(faults.map(({ resource }) => resource));
      const valid = [...input.desired.keys()].filter((id) => !denied.has(id));
      const { out } = terminal;
      const text = await renderProblemsAs(options.output, shown, valid, out);
      out.write(options.output === 'text' ? own(out, text) : text);
    }
    warnMisnamed(input.misnamed, terminal);
    if (faults.length > 0) return EXIT.invalid;
    await checkEmpty(input, options, terminal);
    if (options.output === 'text') terminal.out.write(summary(input));
    for (const message of weightWarnings(input.desired).values()) terminal.err.write(`warning: ${message}.\n`);
    if (input.file === undefined) {
      terminal.err.write(
        'note: there is no configuration, so references to platforms and stores and spec.scopes.allow were not checked (pass --config FILE)\n',
      );
    }
  },
});

/** Returns the faults of the input; without any, the manifests that policies deny or warn about. */
function checkedByPolicies(input: Input, clock: Clock): readonly Problem[] {
  return input.problems.length > 0 ? input.problems : manifestPolicyProblems(input, clock);
}

/** Formats the result: `valid: 7 resources in 4 files (1 Application, 2 Component, …)`. */
function summary({ desired, files, file, commit }: Input): string {
  const kinds = new Map<string, number>();
  for (const { kind } of desired.values()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const parts = [...kinds]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([kind, amount]) => `${amount} ${kind}`);
  const listed = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  const configuration = file === undefined ? '' : `, and ${file}`;
  const at = commit === undefined ? '' : ` of ${commit.name}`;
  return `valid: ${count(desired.size, 'resource')} in ${count(files, 'file')}${at}${listed}${configuration}\n`;
}
