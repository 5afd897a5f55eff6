import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Configuration } from '../../configuration/configuration.ts';
import { nearest } from '../../manifest/suggest.ts';
import { PortolanError } from '../../model/errors.ts';
import { parseScopeKey, type ResourceId, type ScopeKey, scopeKey } from '../../model/ids.ts';
import type { DesiredState } from '../../model/resource.ts';
import { shareLimits } from '../../plan/guard.ts';
import type { Windows } from '../../plan/window-guard.ts';
import type { PassOptions } from '../../reconcile/reconcile.ts';
import { requiredReason } from '../commands/ledger/words.ts';
import { collect, collectOrAll, integerArgument } from './options.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What `plan` and `apply` let through; the two take the same flags, so that a plan shows what the apply would do. */
export interface ScopeFlags {
  readonly prune?: boolean | undefined;
  readonly adopt?: readonly string[] | true | undefined;
  readonly target?: readonly string[] | undefined;
  readonly maxShare?: number | undefined;
  readonly maxPrunes?: number | undefined;
  readonly allowEmpty?: boolean | undefined;
  readonly allowShrunk?: boolean | undefined;
  readonly allowRewind?: boolean | undefined;
  readonly ignoreWindows?: boolean | undefined;
  /** Why a limit is overridden, for the history. */
  readonly reason?: string | undefined;
  /** Scopes that a first install may go into; `asked`: all of them, because a person is asked before anything is sent. */
  readonly firstInstall?: readonly string[] | 'asked' | undefined;
  readonly parallelism: number;
}

export const PARALLELISM_DEFAULT = 10;

export function pruneOption() {
  return new Option('--prune', 'also remove what is ours and git no longer names; without it nothing is removed');
}

export function adoptOption() {
  return new Option(
    '--adopt [resource]',
    'take over what exists and is not ours: all, or Kind/name (may be repeated). On a server that cannot list rules, only Kind/name records a change that was made in the console',
  ).argParser(collectOrAll);
}

export function targetOption() {
  return new Option('--target <resource>', 'only this Kind/name (may be repeated); never prunes').argParser(collect);
}

export function maxShareOption() {
  return new Option(
    '--max-share <share>',
    'override: the share of objects on record that one run may change, 0 to 1, however few there are; by default 0.3, from ten objects on',
  ).argParser(shareArgument);
}

export function maxPrunesOption() {
  return new Option('--max-prunes <n>', 'override: how many objects one run may remove').argParser(
    integerArgument(0, 1_000_000),
  );
}

export function allowEmptyOption() {
  return new Option(
    '--allow-empty',
    'override: go on although the source names nothing while the ledger holds objects of it',
  );
}

export function allowShrunkOption() {
  return new Option(
    '--allow-shrunk',
    'override: remove things although the source names less than half of what it did',
  );
}

export function allowRewindOption() {
  return new Option(
    '--allow-rewind',
    'override: remove things although the commit does not descend from the one applied before it',
  );
}

export function ignoreWindowsOption() {
  return new Option(
    '--ignore-windows',
    'override: go on outside of the windows of Settings; needs --reason, which the history keeps',
  );
}

export function overrideReasonOption() {
  return new Option('--reason <text>', 'why a limit is overridden, for the history');
}

export function firstInstallOption() {
  return new Option(
    '--first-install <scope>',
    'confirm the first install into an application that this ledger does not know: platform/team/region/appId (may be repeated)',
  ).argParser(collect);
}

/**
 * First installs are confirmed by the question of `apply`, where a person sees the plan and answers. A plan that was agreed to
 * before names its own.
 */
export function askingFlags(
  { yes }: { readonly yes?: boolean | undefined },
  agreed: { readonly expect?: string | undefined; readonly opened?: unknown },
  { ask }: Pick<Terminal, 'ask'>,
): Pick<ScopeFlags, 'firstInstall'> {
  const isAsked = yes !== true && ask !== undefined && agreed.opened === undefined && agreed.expect === undefined;
  return isAsked ? { firstInstall: 'asked' } : {};
}

/** @throws PortolanError `invalid` for a text that is not a scope. */
function scopeArgument(name: string): ScopeKey {
  const scope = parseScopeKey(name);
  if (scope !== undefined) return scopeKey(scope);
  throw new PortolanError({
    code: 'cli/no-scope',
    disposition: 'invalid',
    message: `--first-install names ${JSON.stringify(name)}, which is not a scope. Nothing was done.`,
    remedy: 'Write platform/team/region/appId, such as default/team-a/region-1/42.',
  });
}

export function parallelismOption() {
  return new Option('--parallelism <n>', 'applications worked on at once; within one, requests go one by one')
    .argParser(integerArgument(1, 1000))
    .default(PARALLELISM_DEFAULT);
}

function shareArgument(text: string): number {
  const share = /^(?:0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?)$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(share)) throw new InvalidArgumentError('Expected a number from 0 to 1, such as 0.5.');
  return share;
}

/** @throws PortolanError `invalid` when a flag names a resource that the manifests do not have. */
export function passOptions(
  flags: ScopeFlags,
  facts: {
    readonly configuration: Configuration;
    readonly desired: DesiredState;
    readonly readOnly: boolean;
    readonly ledgerKnown: boolean;
    /** undefined: Settings have none. */
    readonly windowsAt: Windows['at'] | undefined;
  },
): PassOptions {
  const { settings } = facts.configuration;
  const ignoredBecause = flags.ignoreWindows === true ? requiredReason(flags.reason) : undefined;
  const adopted =
    flags.adopt === true || flags.adopt === undefined
      ? flags.adopt
      : new Set(known(flags.adopt, facts.desired, '--adopt'));
  const firstInstall = flags.firstInstall === 'asked' ? flags.firstInstall : flags.firstInstall?.map(scopeArgument);
  const targets = flags.target === undefined ? undefined : new Set(known(flags.target, facts.desired, '--target'));
  return {
    permissions: {
      adopt: (resource) => adopted === true || adopted?.has(resource) === true,
      adoptNamed: (resource) => adopted !== true && adopted?.has(resource) === true,
      prune: flags.prune === true,
      // Every job passes --yes, so that says nothing about installs.
      firstInstall: (scope) => firstInstall === 'asked' || firstInstall?.includes(scope) === true,
    },
    limits: {
      ...shareLimits(flags.maxShare ?? settings.prune.maxShare),
      maxPrunes: flags.maxPrunes ?? settings.prune.maxObjects,
      allowedScopes: settings.scopes.allow,
      ...(facts.windowsAt === undefined ? {} : { windows: { at: facts.windowsAt, ignoredBecause } }),
    },
    targets,
    readOnly: facts.readOnly,
    ledgerKnown: facts.ledgerKnown,
  };
}

/** `Did you mean Component/shop-web? `: case does not count, and neither does a kind that is left out; '' for nothing near. */
function suggestion(name: string, all: readonly string[]): string {
  const folded = name.toLowerCase();
  const named = all.filter(
    (id) => id.toLowerCase() === folded || id.slice(id.indexOf('/') + 1).toLowerCase() === folded,
  );
  const meant = named.length > 0 ? named.slice(0, 3).join(' or ') : nearest(name, all);
  return meant === undefined ? '' : `Did you mean ${meant}? `;
}

/** Resources that a command line names. @throws PortolanError `invalid` for one that the manifests do not have. */
export function known(names: readonly string[], desired: DesiredState, flag: string): ResourceId[] {
  return names.map((name) => {
    if (desired.has(name as ResourceId)) return name as ResourceId;
    const all = [...desired.keys()].filter((id) => !id.startsWith('Application/')).sort();
    throw new PortolanError({
      code: 'cli/unknown-resource',
      disposition: 'invalid',
      message: `${flag} names ${name}, which is not among the manifests. Nothing was done.`,
      remedy: `${suggestion(name, all)}Name one of: ${all.slice(0, 20).join(', ')}${all.length > 20 ? `, … (${all.length} in all)` : ''}.`,
    });
  });
}
