import type { ScopeReader } from '../../kinds/reconciled.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { errorFacts, PortolanError } from '../../model/errors.ts';
import type { Scope } from '../../model/ids.ts';
import type { PlatformClient } from '../../platform/client.ts';
import { mustBeBoundRegion, mustBeBoundUrl } from '../binding.ts';
import { createScopeReader } from '../scope-reader.ts';

/**
 * Returns a reader of an application on its platform, for a person's resolution of a request that was sent there.
 * @param otherwise a sentence about what else the person can do; '' for nothing.
 * @throws PortolanError when the platform does not answer, or is another one: "nothing was created" would be a guess.
 */
export async function readerOfScope(
  { client: open, ledger }: { readonly client: () => PlatformClient; readonly ledger: Ledger },
  scope: Scope,
  otherwise: string,
): Promise<ScopeReader> {
  try {
    const client = open();
    await mustBeBoundUrl(client, ledger);
    await mustBeBoundRegion(client, ledger, scope);
    const application = await client.application(scope);
    if (application !== undefined) return createScopeReader(client, scope, { application });
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const message = `${error.message} Nothing was recorded.`;
    throw new PortolanError({
      ...errorFacts(error),
      message,
      remedy: `${error.remedy} ${otherwise}`.trimEnd(),
      cause: error,
    });
  }
  throw new PortolanError({
    code: 'application/not-found',
    disposition: 'give-up',
    message: `Platform/${scope.platform} has no application ${scope.appId} of team ${scope.team} in region ${scope.region}. Nothing was recorded.`,
    remedy: `Check that the configuration names the platform that the request was sent to. ${otherwise}`.trimEnd(),
  });
}
