/** What must be known of applications to say that they are as git wants them. Of installs the ledger knows enough. */
type Question = 'which applications there are' | 'the ports of a component' | 'the rules';

/** What one request of the listing answers the question for. */
type Unit = 'platform' | 'team and region' | 'application' | 'component';

interface Listing {
  readonly operation: string;
  readonly per: Unit;
}

/**
 * The cheapest listing for each question, by dialect. `null`: the dialect cannot say, and the ledger stands in. No listing
 * holds the ports of more than one component, so those are what a round costs.
 */
export const cheapestListings: Readonly<Record<'documented' | 'extended', Readonly<Record<Question, Listing | null>>>> =
  {
    documented: {
      'which applications there are': { operation: 'getApplication', per: 'application' },
      'the ports of a component': { operation: 'listPorts', per: 'component' },
      'the rules': null,
    },
    extended: {
      'which applications there are': { operation: 'listApplications', per: 'team and region' },
      'the ports of a component': { operation: 'listPorts', per: 'component' },
      'the rules': { operation: 'listAllRules', per: 'platform' },
    },
  };

/** How many there are of each in one round over several applications of one platform. */
export type RoundSize = Readonly<Record<Unit, number>>;

/** The least number of requests, by operation, by which a round can find all of it in sync. */
export function requestFloor(dialect: 'documented' | 'extended', size: RoundSize): Readonly<Record<string, number>> {
  const floor: Record<string, number> = {};
  for (const listing of Object.values(cheapestListings[dialect])) {
    if (listing !== null && size[listing.per] > 0) floor[listing.operation] = size[listing.per];
  }
  return floor;
}
