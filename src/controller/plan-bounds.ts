import type { ApplicationSpec } from '../kinds/application/spec.ts';
import { PortolanError } from '../model/errors.ts';
import type { Resource } from '../model/resource.ts';
import { scopeMatches } from '../plan/guard.ts';
import type { PlatformClient } from '../platform/client.ts';

export type PlanAllowance = ReturnType<typeof createAllowance>;

/**
 * What one plan of the API may ask of platforms.
 * @param maxRequests `spec.server.planRequests` of Settings. @param asked the signal of who asked for the plan.
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
    /** Aborted when the plan is ended: by who asked for it, or because it asked for too much. */
    signal,
    /** The client of a platform whose reads count, and which reads nothing more once the plan is ended. */
    client: (platform: PlatformClient): PlatformClient => platform.withPermit(permit),
  };
}

/**
 * Whether manifests that anybody sends may have an application read. Nothing has been read yet, so the application counts by what the
 * manifest says: its number must be there unless the operator allows every application of the region.
 * @param isKnown the accepted source means the same application, which the daemon reads anyway.
 * @throws PortolanError `guard/scope`
 */
export function requireAllowedScope(
  { id, spec, position }: Resource<ApplicationSpec>,
  allowed: readonly string[],
  isKnown: boolean,
): void {
  const { team, region, appId } = spec;
  if (isKnown) return;
  // No name has a blank in it: only a pattern that allows every application matches.
  const scope = `${team}/${region}/${appId ?? ' '}`;
  if (allowed.some((pattern) => scopeMatches(pattern, scope))) return;
  throw new PortolanError({
    code: 'guard/scope',
    disposition: 'invalid',
    message: `${id} (${position.file}:${position.line}) means ${team}/${region}/${appId ?? spec.app}, and the operator's Settings allow only ${allowed.join(', ')}. Nothing was read for it.`,
    remedy:
      appId === undefined
        ? 'Write spec.team as in spec.scopes.allow of Settings, and spec.appId in place of spec.app.'
        : 'Write spec.team as in spec.scopes.allow of Settings, or ask the operator to add the application there.',
  });
}

function tooManyRequests(maxRequests: number): PortolanError {
  return new PortolanError({
    code: 'controller/plan-too-large',
    disposition: 'invalid',
    message: `The plan needs more than ${maxRequests} requests to platforms, and one plan of the API may make no more. It was ended; nothing was changed.`,
    remedy:
      'Ask for the plan of one application, send fewer manifests at once, or raise spec.server.planRequests of Settings.',
  });
}
