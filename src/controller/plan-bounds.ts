import type { ApplicationSpec } from '../kinds/application/spec.ts';
import { PortolanError } from '../model/errors.ts';
import type { ResourceId, ScopeKey } from '../model/ids.ts';
import type { Resource } from '../model/resource.ts';
import { scopeMatches } from '../model/scope-pattern.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { Within } from './api.ts';

export type PlanAllowance = ReturnType<typeof createAllowance>;

/**
 * Limits the requests to platforms that one plan of the API makes.
 * @param maxRequests `spec.server.planRequests` of Settings.
 * @param asked aborted when the client leaves.
 */
export function createAllowance(maxRequests: number, asked: AbortSignal) {
  const exceeded = new AbortController();
  const signal = AbortSignal.any([asked, exceeded.signal]);
  let requests = 0;
  const permit = (): void => {
    signal.throwIfAborted();
    requests += 1;
    if (requests <= maxRequests) return;
    exceeded.abort(tooManyRequests(maxRequests));
    signal.throwIfAborted();
  };
  return {
    /** Aborted when the client leaves, or when the plan exceeds its requests. */
    signal,
    /** Returns a client of the platform that counts its reads, and makes none after `signal` is aborted. */
    client: (platform: PlatformClient): PlatformClient => platform.withPermit(permit),
  };
}

/**
 * Checks whether manifests from a client of the API may have an application read. Nothing was read yet, so only the
 * manifest counts. It must have the application's number, unless the operator allows every application of the region.
 * @param isKnown the accepted source has the same application, which the daemon reads anyway.
 * @throws PortolanError `guard/scope`
 */
export function requireAllowedScope(
  { id, spec, position }: Resource<ApplicationSpec>,
  allowed: readonly string[],
  isKnown: boolean,
): void {
  const { team, region, appId } = spec;
  if (isKnown) return;
  // No name contains a blank, so this matches only a pattern that allows every application.
  const scope = `${team}/${region}/${appId ?? ' '}`;
  if (allowed.some((pattern) => scopeMatches(pattern, scope))) return;
  throw new PortolanError({
    code: 'guard/scope',
    disposition: 'invalid',
    message: `${id} (${position.file}:${position.line}) is ${team}/${region}/${appId ?? spec.app} on the platform, which spec.scopes.allow of the operator's Settings does not allow. Nothing was read for it.`,
    remedy:
      appId === undefined
        ? 'Write spec.team as in spec.scopes.allow of Settings, and spec.appId instead of spec.app.'
        : 'Write spec.team as in spec.scopes.allow of Settings, or ask the operator to add the application there.',
  });
}

/**
 * Checks whether the caller may have an application of sent manifests read. Nothing was read yet, so the manifest counts, or
 * the resolved scope of the same application in the source. The plan must still be compared with the scope that it is for.
 * @param known the resolved scope of the same application of the source; undefined: the source does not have it.
 * @throws PortolanError `controller/outside-scope`. It is the same whether the application exists or not.
 */
export function requireWithin(
  { id, spec: { platform, team, region, appId } }: Pick<Resource<ApplicationSpec>, 'id' | 'spec'>,
  within: Within,
  known: ScopeKey | null | undefined,
): void {
  // No name contains a blank, so this matches only a pattern that covers every application of the region.
  const scope = `${platform}/${team}/${region}/${appId ?? ' '}`;
  if (within(scope) || (known !== undefined && within(known))) return;
  throw outsideScope(id);
}

/** Returns the error for an application of sent manifests that the caller may not see. */
export function outsideScope(id: ResourceId): PortolanError {
  return new PortolanError({
    code: 'controller/outside-scope',
    disposition: 'invalid',
    message: `${id} is outside of the applications that the caller may see. Nothing is shown of it.`,
    remedy:
      'Write spec.team as the platform writes it, and spec.appId instead of spec.app. portolan whoami shows which applications the caller may see.',
  });
}

function tooManyRequests(maxRequests: number): PortolanError {
  return new PortolanError({
    code: 'controller/plan-too-large',
    disposition: 'invalid',
    message: `The plan needs more than ${maxRequests} requests to platforms, the limit for one plan of the API. It was stopped, and nothing was changed.`,
    remedy:
      'Request the plan of one application, send fewer manifests at once, or raise spec.server.planRequests of Settings.',
  });
}
