import type { ResourceDetails } from '../../../model/resource-details.ts';
import { amount } from '../../../plan/words.ts';
import { send } from '../../api.ts';
import type { Action } from '../../parts/action.tsx';

function paramsOf(name: string, { id }: ResourceDetails) {
  const [kind = '', resource = ''] = id.split('/');
  return { name, kind, resource };
}

/** Sends a held change again. */
export function retryAction(name: string, found: ResourceDetails): Action {
  const failed = found.records.filter(({ failures }) => failures > 0);
  return {
    label: 'Retry',
    icon: 'sync',
    needs: 'admin',
    question: `Retry ${found.id}?`,
    effect: (
      <>
        <p>
          The count of failed writes is cleared, and the next pass sends the held change again. Remove the cause first:
          the change is held again after three more failures.
        </p>
        <ul class="plain-list">
          {failed.map(({ uid, object, failures }) => (
            <li key={uid}>
              <code>{object}</code>: {amount(failures, 'failure')}
            </li>
          ))}
        </ul>
      </>
    ),
    impossible: failed.length === 0 ? 'None of its writes has failed.' : undefined,
    run: async () => {
      const { retried } = await send('/api/v1/applications/{name}/resources/{kind}/{resource}/retry', {
        params: paramsOf(name, found),
      });
      return retried.length === 0
        ? `${found.id} has no recorded failure any more. Nothing was changed.`
        : `The failures of ${found.id} are cleared. The next pass sends its change again.`;
    },
  };
}

/** Removes a resource from the ledger. */
export function forgetAction(name: string, found: ResourceDetails): Action {
  const { records, status, id } = found;
  return {
    label: 'Forget',
    icon: 'out',
    tone: 'danger',
    needs: 'admin',
    question: `Remove ${id} from the ledger?`,
    effect: (
      <>
        <p>
          {amount(records.length, 'object')} {records.length === 1 ? 'is' : 'are'} removed from the ledger. Nothing is
          sent to the platform: {records.length === 1 ? 'it stays' : 'they stay'} there unchanged and unmanaged, and
          nothing prunes {records.length === 1 ? 'it' : 'them'}.
        </p>
        <ul class="plain-list">
          {records.map(({ uid, object }) => (
            <li key={uid}>
              <code>{object}</code>
            </li>
          ))}
        </ul>
        {status === null ? null : (
          <p>While a manifest names it, the next pass treats it as an existing, unmanaged resource.</p>
        )}
      </>
    ),
    reason: 'Why?',
    run: async (reason) => {
      const { forgotten, warnings } = await send('/api/v1/applications/{name}/resources/{kind}/{resource}/forget', {
        params: paramsOf(name, found),
        body: { reason },
      });
      return [`${amount(forgotten.length, 'object')} of ${id} removed from the ledger.`, ...warnings].join(' ');
    },
  };
}

/** Says which object of the platform a recorded rule is. */
export function identifyAction(name: string, found: ResourceDetails): Action {
  return {
    label: 'Identify',
    icon: 'search',
    needs: 'admin',
    question: `Which object of the platform is ${found.id}?`,
    effect: (
      <p>
        The ledger records the object with this id as managed. Nothing is sent to the platform. Look the id up in the
        console first: with a wrong id, later passes change another object.
      </p>
    ),
    form: (
      <label>
        Id on the platform
        <input name="id" required maxLength={64} pattern="[A-Za-z0-9_\-]+" autoComplete="off" />
      </label>
    ),
    reason: 'How do you know?',
    run: async (reason, fields) => {
      const id = fields.get('id');
      await send('/api/v1/applications/{name}/resources/{kind}/{resource}/identify', {
        params: paramsOf(name, found),
        body: { id: typeof id === 'string' ? id : '', reason },
      });
      return `${found.id} is managed under this id now.`;
    },
  };
}
