import type { ResourceDetails } from '../../../model/resource-details.ts';
import { Icon } from '../../parts/icon.tsx';
import { Time } from '../../parts/time.tsx';
import { ActionButton } from '../../parts/action.tsx';
import { AdoptButton } from './adopt.tsx';
import type { Shown } from './head.tsx';
import { HoldText } from './plan-parts.tsx';
import { retryAction } from './resource-actions.tsx';

/** The holds of a resource, each with its remedy, and a button where the controller can carry it out. */
export function Holds({
  shown,
  found,
  onDone,
}: {
  readonly shown: Shown;
  readonly found: ResourceDetails;
  readonly onDone: () => void;
}) {
  const holds = found.status?.holds ?? [];
  if (holds.length === 0) return null;
  const hasFailed = found.records.some(({ failures }) => failures > 0);
  return (
    <section aria-label="Holds">
      {holds.map((hold) => (
        <div key={hold.code} class="app-notice warn" id={`hold-${hold.code}`}>
          <Icon name="hand" />
          <div>
            <HoldText hold={hold} />
            {hold.untilMs === undefined ? null : (
              <p class="soft">
                It ends by itself <Time at={hold.untilMs} />.
              </p>
            )}
            <p class="buttons start">
              {hold.code === 'effect/not-taken' || hasFailed ? (
                <ActionButton action={retryAction(shown.name, found)} permissions={shown.permissions} onDone={onDone} />
              ) : null}
              {hold.remedy.includes('--adopt') ? (
                <AdoptButton shown={shown} resource={found.id} onDone={onDone} />
              ) : null}
            </p>
          </div>
        </div>
      ))}
    </section>
  );
}
