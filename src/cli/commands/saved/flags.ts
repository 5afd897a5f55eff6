import { invalidInput, PortolanError } from '../../../model/errors.ts';
import type { Session, SessionOptions } from '../../session/session.ts';
import type { SavedPlan } from '../../../plan/saved.ts';
import type { OpenedPlan } from './open.ts';

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
    throw invalidInput(
      'cli/flag-of-the-plan',
      `${flag} cannot be used with the saved plan ${file}: what is planned is fixed in it. Nothing was done.`,
      `Leave ${flag} out, or plan again with it: portolan plan … ${flag} … --save ${file}.`,
    );
  }
  if ((sourceOf('source') ?? 'default') === 'default' || source.given === source.saved) return;
  throw invalidInput(
    'plan/other-source',
    `${file} is a plan of the source "${source.saved}", and --source (or PORTOLAN_SOURCE) names "${source.given}". Nothing was done.`,
    'Leave --source out: the plan knows its own. Or plan again for that source.',
  );
}

type Repeated = readonly string[] | undefined;

/** Arguments of `plan` that make such a plan again. Values of variables stay with whoever has them. */
export function planCommandOf(options: SessionOptions): readonly string[] {
  const valued: readonly (readonly [string, string | number | undefined])[] = [
    ['--revision', options.revision],
    ['--config', options.config],
    ['--ledger', options.ledger],
    ['--source', options.source === 'default' ? undefined : options.source],
    ['--max-share', options.maxShare],
    ['--max-prunes', options.maxPrunes],
  ];
  const flags = [
    options.prune === true ? '--prune' : '',
    options.adopt === true ? '--adopt' : '',
    options.allowEmpty === true ? '--allow-empty' : '',
    options.allowShrunk === true ? '--allow-shrunk' : '',
    options.allowRewind === true ? '--allow-rewind' : '',
  ];
  return [
    ...repeated('-f', options.filename),
    ...valued.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)])),
    ...repeated('--var-file', options.varFile),
    ...repeated(
      '--var',
      options.var?.map((assignment) => `${assignment.replace(/=.*$/s, '')}=VALUE`),
    ),
    ...repeated('--target', options.target),
    ...flags.filter((flag) => flag !== ''),
    ...(options.adopt === true ? [] : repeated('--adopt', options.adopt)),
    ...(options.firstInstall === 'asked' ? [] : repeated('--first-install', options.firstInstall)),
  ];
}

/** What to type to carry out a plan that was saved with these options. */
export function applyCommandOf(file: string, { config, ledger }: SessionOptions): string {
  const named = [
    ...(config === undefined ? [] : ['--config', config]),
    ...(ledger === undefined ? [] : ['--ledger', ledger]),
  ];
  return commandLine(['apply', file, ...named]);
}

/** As a person may copy it to a shell. */
export function commandLine(args: readonly string[]): string {
  return ['portolan', ...args].map(quoted).join(' ');
}

function quoted(argument: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

function repeated(flag: string, values: Repeated): readonly string[] {
  return (values ?? []).flatMap((value) => [flag, value]);
}

/** What decides about a plan, as the file has it; how it is carried out stays with the command line. */
export function flagsOf<Flags extends SessionOptions>(saved: SavedPlan, flags: Flags): Flags {
  const { prune, adopt, targets, maxShare, maxPrunes, allowEmpty, allowShrunk, allowRewind, firstInstall } =
    saved.allowed;
  return {
    ...flags,
    source: saved.plan.source,
    prune,
    adopt: adopt === 'all' ? true : adopt.length === 0 ? undefined : adopt,
    target: targets ?? undefined,
    maxShare: maxShare ?? undefined,
    maxPrunes: maxPrunes ?? undefined,
    allowEmpty,
    allowShrunk,
    allowRewind,
    firstInstall,
  };
}

/**
 * Whether ledger, platforms and stores are those that the plan was made with.
 * @throws PortolanError `invalid`; nothing has been asked of the platform then.
 */
export function checkCircumstances({ file, saved }: OpenedPlan, { ledger, input }: Session): void {
  const { lineage } = saved.ledger ?? ledger;
  if (lineage !== ledger.lineage) {
    throw other(
      'plan/other-ledger',
      `${file} was planned with another ledger (${lineage}) than the one at ${ledger.location} (${ledger.lineage})`,
      'Name the ledger it was planned with after --ledger, or plan again with this one.',
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

function placeOf({
  url,
  domain,
  type,
}: {
  readonly url: string;
  readonly domain: string;
  readonly type: string;
}): string {
  return `${url} (domain ${domain}, type ${type})`;
}

function elsewhere(file: string, name: string, then: string, now: string | undefined): PortolanError {
  return other(
    'plan/other-platform',
    `${file} was planned with ${name} at ${then}, and the configuration has ${now === undefined ? 'none of that name' : `it at ${now}`}`,
    'Use the configuration it was planned with (--config), or plan again with this one.',
  );
}

function other(code: string, message: string, remedy: string): PortolanError {
  return new PortolanError({ code, disposition: 'invalid', message: `${message}. Nothing was sent.`, remedy });
}
