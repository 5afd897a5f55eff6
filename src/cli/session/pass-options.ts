import type { Configuration } from '../../configuration/configuration.ts';
import { nearest } from '../../manifest/suggest.ts';
import { invalidInput } from '../../model/errors.ts';
import { parseScopeKey, type ResourceId, type ScopeKey, scopeKey } from '../../model/ids.ts';
import type { DesiredState } from '../../model/resource.ts';
import { shareLimits, type Windows } from '../../plan/guard.ts';
import type { PassOptions } from '../../reconcile/reconcile.ts';
import { requiredReason } from '../commands/ledger/words.ts';

/**
 * Holds the permissions of `plan` and `apply`. Both take the same flags, so that a plan shows what the apply would do.
 */
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
  readonly ignorePolicies?: boolean | undefined;
  /** Why a limit is overridden, for the history. */
  readonly reason?: string | undefined;
  /**
   * Scopes that a first install may go into; `asked`: all of them, because a person confirms the plan before anything is
   * sent.
   */
  readonly firstInstall?: readonly string[] | 'asked' | undefined;
  readonly parallelism: number;
}

/** Parses a scope. @throws PortolanError `invalid` for a text that is not a scope. */
function scopeArgument(name: string): ScopeKey {
  const scope = parseScopeKey(name);
  if (scope !== undefined) return scopeKey(scope);
  throw invalidInput(
    'cli/no-scope',
    `--first-install names ${JSON.stringify(name)}, which is not a scope. Nothing was done.`,
    'Write platform/team/region/appId, such as default/team-a/region-1/42.',
  );
}

/**
 * Returns the options of a pass. @throws PortolanError `invalid` when a flag names a resource that the manifests do not
 * have.
 */
export function passOptions(
  flags: ScopeFlags,
  facts: {
    readonly configuration: Configuration;
    readonly desired: DesiredState;
    readonly readOnly: boolean;
    readonly ledgerKnown: boolean;
    /** undefined: Settings have no windows. */
    readonly windowsAt: Windows['at'] | undefined;
  },
): PassOptions {
  const { settings } = facts.configuration;
  const ignoredBecause = flags.ignoreWindows === true ? requiredReason(flags.reason) : undefined;
  const policiesIgnoredBecause = flags.ignorePolicies === true ? requiredReason(flags.reason) : undefined;
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
      // Every job passes --yes, so that flag does not permit a first install.
      firstInstall: (scope) => firstInstall === 'asked' || firstInstall?.includes(scope) === true,
    },
    limits: {
      ...shareLimits(flags.maxShare ?? settings.prune.maxShare),
      maxPrunes: flags.maxPrunes ?? settings.prune.maxObjects,
      allowedScopes: settings.scopes.allow,
      policiesIgnoredBecause,
      ...(facts.windowsAt === undefined ? {} : { windows: { at: facts.windowsAt, ignoredBecause } }),
    },
    targets,
    readOnly: facts.readOnly,
    ledgerKnown: facts.ledgerKnown,
  };
}

/** Returns `Did you mean Component/shop-web? `, or '' when no name is similar. Ignores case and a missing kind. */
function suggestion(name: string, all: readonly string[]): string {
  const folded = name.toLowerCase();
  const named = all.filter(
    (id) => id.toLowerCase() === folded || id.slice(id.indexOf('/') + 1).toLowerCase() === folded,
  );
  const meant = named.length > 0 ? named.slice(0, 3).join(' or ') : nearest(name, all);
  return meant === undefined ? '' : `Did you mean ${meant}? `;
}

/**
 * Checks the resources that a command line names. @throws PortolanError `invalid` for one that the manifests do not have.
 */
export function known(names: readonly string[], desired: DesiredState, flag: string): ResourceId[] {
  return names.map((name) => {
    if (desired.has(name as ResourceId)) return name as ResourceId;
    const all = [...desired.keys()].filter((id) => !id.startsWith('Application/')).sort();
    throw invalidInput(
      'cli/unknown-resource',
      `${flag} names ${name}, which is not among the manifests. Nothing was done.`,
      `${suggestion(name, all)}Name one of: ${all.slice(0, 20).join(', ')}${all.length > 20 ? `, … (${all.length} in all)` : ''}.`,
    );
  });
}
