import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { PortolanError } from '../../../model/errors.ts';

/** `--expect DIGEST`: no other plan. */
export function expectOption() {
  return new Option(
    '--expect <digest>',
    'refuse any plan but the one of this digest (with 4), before anything is sent',
  ).argParser(digestArgument);
}

export function saveOption() {
  return new Option('--save <file>', 'keep the plan in this file, for apply FILE to carry out exactly this one');
}

function digestArgument(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Expected the whole digest of a plan: 64 characters of 0-9 and a-f.');
}

/** Flags that say what to plan: a saved plan has them in it. */
const OF_THE_PLAN = {
  filename: '-f',
  revision: '--revision',
  var: '--var',
  varFile: '--var-file',
  target: '--target',
  prune: '--prune',
  adopt: '--adopt',
  maxShare: '--max-share',
  maxPrunes: '--max-prunes',
  allowEmpty: '--allow-empty',
  allowShrunk: '--allow-shrunk',
  allowRewind: '--allow-rewind',
  firstInstall: '--first-install',
} as const;

/**
 * A saved plan goes before variables, as a flag does; a flag that contradicts it is a mistake.
 * @param sourceOf where an option has its value from, as commander says: `cli`, `env`, `default`.
 * @throws PortolanError `invalid`
 */
export function checkFlagsBeside(
  file: string,
  sourceOf: (option: string) => string | undefined,
  source: { readonly given: string; readonly saved: string },
): void {
  const flag = Object.entries(OF_THE_PLAN).find(([name]) => sourceOf(name) === 'cli')?.[1];
  if (flag !== undefined) {
    throw new PortolanError({
      code: 'cli/flag-of-the-plan',
      disposition: 'invalid',
      message: `${flag} cannot be used with the saved plan ${file}: what is planned is fixed in it. Nothing was done.`,
      remedy: `Leave ${flag} out, or plan again with it: portolan plan … ${flag} … --save ${file}.`,
    });
  }
  if ((sourceOf('source') ?? 'default') === 'default' || source.given === source.saved) return;
  throw new PortolanError({
    code: 'plan/other-source',
    disposition: 'invalid',
    message: `${file} is a plan of the source "${source.saved}", and --source (or PORTOLAN_SOURCE) names "${source.given}". Nothing was done.`,
    remedy: 'Leave --source out: the plan knows its own. Or plan again for that source.',
  });
}
