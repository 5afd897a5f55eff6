import type { LoggedRequest } from '../../../../src/sandbox/request-log.ts';

/**
 * Returns the removals that changed nothing. Only the controllers change a platform, and each removal follows an observation of its object,
 * so a removal finds its object unless another one was sent for it.
 */
export function repeatedRemovals(requests: readonly LoggedRequest[]): readonly string[] {
  return requests
    .filter(({ method, effectApplied }) => method === 'DELETE' && !effectApplied)
    .map(({ operation, path, status }) => `a second ${operation} for ${path} arrived (answer ${status})`);
}
