import type { ComponentChildren } from 'preact';
import { pauseMessage } from '../../../controller/conditions.ts';
import type { ApplicationDetails } from '../../../model/status.ts';
import { amount } from '../../../plan/words.ts';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { Link } from '../../parts/link.tsx';
import { Time } from '../../parts/time.tsx';
import { addressOf } from './data.ts';
import { Words } from '../../parts/words.tsx';

/** Shows an approval, an error or a pause of a whole application. The page of the plan shows the approval itself. */
export function Notices({
  name,
  view,
  details,
}: {
  readonly name: string;
  readonly view: string;
  readonly details: ApplicationDetails;
}) {
  const { approval, lastError, pause } = details;
  return (
    <>
      {approval === null || view === 'plan' ? null : (
        <Banner icon="hand" tone="warn">
          <strong>A plan waits for an approval</strong> since <Time at={approval.sinceMs} />:{' '}
          {approval.refusals.map(({ message }) => message).join('; ')}.{' '}
          <Link to={addressOf(name, '/plan')}>View the plan</Link>
        </Banner>
      )}
      {lastError === null ? null : (
        <Banner icon="alert" tone="bad">
          <strong>The last pass failed</strong> <Time at={lastError.atMs} />
          {details.failures > 1 ? ` (${amount(details.failures, 'attempt')})` : ''}: {lastError.message}{' '}
          <span class="remedy">
            <Words text={lastError.remedy} />
          </span>{' '}
          <code class="code">{lastError.code}</code>
        </Banner>
      )}
      {pause === null ? null : (
        <Banner icon="pause" tone="paused">
          {sentence(pauseMessage(pause))}
          {'sinceMs' in pause ? (
            <>
              {' '}
              Since <Time at={pause.sinceMs} />.
            </>
          ) : null}
          {'untilMs' in pause && pause.untilMs !== null ? (
            <>
              {' '}
              It ends <Time at={pause.untilMs} />.
            </>
          ) : null}
        </Banner>
      )}
    </>
  );
}

function Banner({
  icon,
  tone,
  children,
}: {
  readonly icon: IconName;
  readonly tone: 'warn' | 'bad' | 'paused';
  readonly children: ComponentChildren;
}) {
  return (
    <div class={`app-notice ${tone}`}>
      <Icon name={icon} />
      <p>{children}</p>
    </div>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
