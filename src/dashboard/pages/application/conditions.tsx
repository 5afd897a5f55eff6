import type { Condition } from '../../../model/status.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Time } from '../../parts/time.tsx';

/** Whether a condition is as it should be. */
function toneOf({ type, status }: Condition): Tone {
  if (status === 'Unknown') return 'quiet';
  const isGood = type === 'Ready' || type === 'Healthy';
  if (type === 'Reconciling') return status === 'True' ? 'busy' : 'quiet';
  return (status === 'True') === isGood ? 'good' : 'bad';
}

/** The conditions of a resource or an application. */
export function Conditions({ conditions }: { readonly conditions: readonly Condition[] }) {
  return (
    <dl class="condition-list">
      {conditions.map((condition) => {
        const { type, status, reason, message, sinceMs } = condition;
        return (
          <div key={type}>
            <dt>{type}</dt>
            <dd>
              <Badge tone={toneOf(condition)}>{status}</Badge> {reason === '' ? null : <strong>{reason}</strong>}{' '}
              <span class="soft">
                since <Time at={sinceMs} />
              </span>
              {message === '' ? null : <p>{message}</p>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
