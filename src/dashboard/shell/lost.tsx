import { Icon } from '../parts/icon.tsx';
import { connection, retry } from '../live.ts';

/** Says that the page may be out of date. */
export function LostBanner() {
  const { state, problem } = connection.value;
  return (
    <div role="status">
      {state === 'lost' ? (
        <div class="banner">
          <Icon name="alert" />
          <p>
            {problem === undefined
              ? 'The connection to the controller is lost.'
              : `Events do not reach this page. ${problem.detail} ${problem.remedy}`}{' '}
            The page shows the last known state and retries by itself.
          </p>
          <button type="button" onClick={retry}>
            Retry now
          </button>
        </div>
      ) : null}
    </div>
  );
}
