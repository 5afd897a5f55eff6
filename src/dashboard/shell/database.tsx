import { useEffect, useState } from 'preact/hooks';
import type { ControllerStatus } from '../../model/status.ts';
import { ApiError, read } from '../api.ts';
import { tick } from '../clock.ts';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/time.tsx';
import { access } from '../sign-in-state.ts';

type Database = NonNullable<ControllerStatus['database']>;

/** A shorter outage, such as a restart of the database, requires no action. */
const SHOWN_MS = 10_000;

/** Shows that the controller has had no database for some time. A controller with a ledger of its own is asked once. */
export function DatabaseBanner() {
  const [database, show] = useState<Database>();
  const [isShared, decide] = useState(true);
  const isIn = access.value === 'signed-in';
  const now = tick.value;
  useEffect(() => {
    if (!isIn || !isShared) return;
    const stop = new AbortController();
    read('/api/v1/status', { signal: stop.signal }).then(
      (status) => {
        show(status.database);
        decide(status.database !== undefined);
      },
      (error: unknown) => {
        // The page itself shows why nothing can be read.
        if (!(error instanceof ApiError) && !stop.signal.aborted) throw error;
      },
    );
    return () => stop.abort();
  }, [isIn, isShared, now]);
  return (
    <div role="status">
      {database === undefined || database.isReachable || database.ageMs < SHOWN_MS ? null : (
        <div class="banner">
          <Icon name="alert" />
          <p>
            The database does not answer this controller. The page shows its state of <Time at={database.asOfMs} />, and
            changes are refused. The controller resumes by itself; check the database and the network to it.
          </p>
        </div>
      )}
    </div>
  );
}
