import { invalidInput, type PortolanError } from '../../../model/errors.ts';
import type { Session, SessionOptions } from '../../session/session.ts';
import type { SavedPlan } from '../../../plan/saved.ts';
import { shellWord } from '../../terminal/text.ts';
import type { OpenedPlan } from './open.ts';

/** Flags that determine the plan. A saved plan includes their values. */
const OF_THE_PLAN = {
  filename: '-f',
  revision: '--revision',
  maxShare: '--max-share',
  maxPrunes: '--max-prunes',
  varFile: '--var-file',
  var: '--var',
  target: '--target',
  prune: '--prune',
  adopt: '--adopt',
  allowEmpty: '--allow-empty',
  allowShrunk: '--allow-shrunk',
  allowRewind: '--allow-rewind',
  firstInstall: '--first-install',
} as const;

/** Flags that name the configuration, the ledger and the source of a plan. */
const AROUND_THE_PLAN = { config: '--config', ledger: '--ledger', source: '--source' } as const;

/**
 * Refuses flags that contradict a saved plan. The plan takes precedence over environment variables.
 * @param sourceOf returns the origin of an option's value: `cli`, `env` or `default`.
 * @throws PortolanError `invalid`
 */
export function checkFlagsBeside(
  file: string,
  sourceOf: (option: string) => string | undefined,
  source: { readonly given: string; readonly saved: string },
): void {
  const flag = Object.entries(OF_THE_PLAN).find(([name]) => sourceOf(name) === 'cli')?.[1];
  if (flag !== undefined) {
    throw invalidInput(
      'cli/flag-of-the-plan',
      `${flag} cannot be used with the saved plan ${file}, which has its own value. Nothing was done.`,
      `Omit ${flag}, or plan again with it: portolan plan … ${flag} … --save ${file}.`,
    );
  }
  if ((sourceOf('source') ?? 'default') === 'default' || source.given === source.saved) return;
  throw invalidInput(
    'plan/other-source',
    `${file} is a plan of the source "${source.saved}", and --source (or PORTOLAN_SOURCE) names "${source.given}". Nothing was done.`,
    'Omit --source, because the plan includes it; or plan again for that source.',
  );
}

/** Returns the arguments of `plan` that make the same plan. Values of variables are left out. */
export function planCommandOf(options: SessionOptions): readonly string[] {
  const given = {
    ...options,
    source: options.source === 'default' ? undefined : options.source,
    var: options.var?.map((assignment) => `${assignment.replace(/=.*$/s, '')}=VALUE`),
    firstInstall: options.firstInstall === 'asked' ? undefined : options.firstInstall,
  };
  return argumentsOf({ ...OF_THE_PLAN, ...AROUND_THE_PLAN }, given);
}

/** Returns the command that applies a plan saved with these options. */
export function applyCommandOf(file: string, { config, ledger }: SessionOptions): string {
  return commandLine(['apply', file, ...argumentsOf(AROUND_THE_PLAN, { config, ledger })]);
}

type Value = string | number | boolean | readonly string[] | undefined;

function argumentsOf<Name extends string>(
  flags: Readonly<Record<Name, string>>,
  values: { readonly [N in NoInfer<Name>]?: Value },
): readonly string[] {
  return (Object.keys(flags) as Name[]).flatMap((name) => {
    const value = values[name];
    if (value === undefined || value === false) return [];
    return value === true ? [flags[name]] : [value].flat().flatMap((each) => [flags[name], String(each)]);
  });
}

/** Returns a command as a person may copy it to a shell. */
export function commandLine(args: readonly string[]): string {
  return ['portolan', ...args].map(shellWord).join(' ');
}

/** Returns the options with those that determine the plan taken from the saved file. */
export function flagsOf<Flags extends SessionOptions>(saved: SavedPlan, flags: Flags): Flags {
  const { adopt, targets, maxShare, maxPrunes, ...allowed } = saved.allowed;
  return {
    ...flags,
    firstInstall: undefined,
    ...allowed,
    source: saved.plan.source,
    adopt: adopt === 'all' ? true : adopt.length === 0 ? undefined : adopt,
    target: targets ?? undefined,
    maxShare: maxShare ?? undefined,
    maxPrunes: maxPrunes ?? undefined,
  };
}

/**
 * Checks that ledger, platforms and stores are those of the saved plan, before any request.
 * @throws PortolanError `invalid` where one differs.
 */
export function checkCircumstances({ file, saved }: OpenedPlan, { ledger, input }: Session): void {
  const { lineage } = saved.ledger ?? ledger;
  if (lineage !== ledger.lineage) {
    throw invalidInput(
      'plan/other-ledger',
      `${file} was planned with another ledger (${lineage}) than the one at ${ledger.location} (${ledger.lineage}). Nothing was sent.`,
      'Pass the ledger of the plan with --ledger, or plan again with this one.',
    );
  }
  for (const { name, url } of saved.platforms) {
    const now = input.configuration.platforms.get(name)?.url;
    if (now !== url) throw elsewhere(file, `Platform/${name}`, url, now);
  }
  for (const { name, ...store } of saved.stores) {
    const now = input.configuration.stores.get(name);
    const isSame = now?.url === store.url && now.domain === store.domain && now.type === store.type;
    if (!isSame) throw elsewhere(file, `Store/${name}`, placeOf(store), now && placeOf(now));
  }
}

function placeOf({ url, domain, type }: Omit<SavedPlan['stores'][number], 'name'>): string {
  return `${url} (domain ${domain}, type ${type})`;
}

function elsewhere(file: string, name: string, then: string, now: string | undefined): PortolanError {
  return invalidInput(
    'plan/other-platform',
    `${file} was planned with ${name} at ${then}, and the configuration has ${now === undefined ? 'none of that name' : `it at ${now}`}. Nothing was sent.`,
    'Pass the configuration of the plan with --config, or plan again with this one.',
  );
}
