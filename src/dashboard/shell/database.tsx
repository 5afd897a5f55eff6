import { useEffect, useState } from 'preact/hooks';
import type { ControllerStatus } from '../../model/status.ts';
import { oldStateOf } from '../../views/database.ts';
import { ApiError, read } from '../api.ts';
import { tick } from '../clock.ts';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/time.tsx';
import { access } from '../sign-in-state.ts';

type Database = NonNullable<ControllerStatus['database']>;

/** Shows that the state of the controller is old, because it has had no database for some time. A controller with a ledger of its own is asked once. */
export function DatabaseBanner() {
  const [database, show] = useState<Database>();
  const [isShared, decide] = useState(true);
  const isIn = access.value === 'signed-in';
  const now = tick.value;
  const old = oldStateOf(database);
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
      {database === undefined || old === undefined ? null : (
        <div class="banner">
          <Icon name="alert" />
          <p>
            {old.why} The page shows its state of <Time at={database.asOfMs} />. {old.what}
          </p>
        </div>
      )}
    </div>
  );
}
