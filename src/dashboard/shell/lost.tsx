import { Icon } from '../parts/icon.tsx';
import { connection, retry } from '../live.ts';

/** Says that the page may be out of date. */
export function LostBanner() {
  return (
    <div role="status">
      {connection.value.state === 'lost' ? (
        <p class="banner">
          <Icon name="alert" />
          <span>
            The connection to the controller is lost. This page shows the last known state and retries by itself.
          </span>
          <button type="button" onClick={retry}>
            Retry now
          </button>
        </p>
      ) : null}
    </div>
  );
}
