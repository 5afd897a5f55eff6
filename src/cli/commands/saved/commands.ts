import type { SessionOptions } from '../../session/session.ts';

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
