import type { PlanDocument } from '../../model/plan-document.ts';
import { amount } from '../../plan/words.ts';
import { read, send } from '../api.ts';
import { useData } from '../data.ts';
import { type Action, ActionButton } from './action.tsx';
import { PlannedActions } from '../pages/application/plan-parts.tsx';
import { WithData } from './states.tsx';
import '../styles/application.css';

type Params = Readonly<Record<'platform' | 'team' | 'region' | 'app', string>>;

/** The decisions about what an Application left behind: remove it, or let go of it. */
export function OrphanActions({ scope }: { readonly scope: string }) {
  const { data } = useData('permissions', (signal) => read('/api/v1/whoami', { signal }), { concerns: () => false });
  const [platform = '', team = '', region = '', app = ''] = scope.split('/');
  const params = { platform, team, region, app };
  return (
    <>
      <ActionButton action={pruneAction(scope, params)} permissions={data?.permissions} />
      <ActionButton action={forgetAction(scope, params)} permissions={data?.permissions} />
    </>
  );
}

function pruneAction(scope: string, params: Params): Action {
  const seen = { digest: '' };
  return {
    label: 'Prune',
    icon: 'out',
    tone: 'danger',
    needs: 'admin',
    question: `Remove what is left in ${scope}?`,
    effect: <Removals params={params} seen={seen} />,
    reason: 'Why?',
    run: async (reason) => {
      const { results, left, error } = await send('/api/v1/orphans/{platform}/{team}/{region}/{app}/prune', {
        params,
        body: { digest: seen.digest, reason },
      });
      const done = results.filter(({ status }) => status === 'done').length;
      return [
        `${amount(done, 'removal')} of ${results.length} done in ${scope}, ${left} left.`,
        ...(error === null ? [] : [error]),
      ].join(' ');
    },
  };
}

/** The plan of the removals. @param seen receives the digest of exactly what is shown. */
function Removals({ params, seen }: { readonly params: Params; readonly seen: { digest: string } }) {
  const plan = useData(
    `prune ${JSON.stringify(params)}`,
    (signal) => read('/api/v1/orphans/{platform}/{team}/{region}/{app}/plan', { params, signal }),
    { concerns: () => false },
  );
  return (
    <WithData of={plan} lines={3}>
      {(document) => {
        seen.digest = document.digest;
        return <RemovalsText document={document} />;
      }}
    </WithData>
  );
}

function RemovalsText({ document }: { readonly document: PlanDocument }) {
  const [scope] = document.scopes;
  const [failure] = document.unobserved;
  if (failure !== undefined) return <p>{failure.message}</p>;
  return (
    <>
      <p>
        The controller sends exactly these requests. Installs stay, and so does everything that Portolan did not create.
      </p>
      <PlannedActions actions={scope?.actions ?? []} name="" />
      {(scope?.notes ?? []).map(({ message }) => (
        <p key={message} class="soft">
          {message}
        </p>
      ))}
    </>
  );
}

function forgetAction(scope: string, params: Params): Action {
  return {
    label: 'Forget',
    icon: 'cross',
    tone: 'danger',
    needs: 'admin',
    question: `Remove everything in ${scope} from the ledger?`,
    effect: (
      <p>
        All resources of {scope} are removed from the ledger. Nothing is sent to the platform: they stay there unchanged
        and unmanaged, and nothing prunes them.
      </p>
    ),
    reason: 'Why?',
    run: async (reason) => {
      const { forgotten, warnings } = await send('/api/v1/orphans/{platform}/{team}/{region}/{app}/forget', {
        params,
        body: { reason },
      });
      return [`${amount(forgotten.length, 'object')} of ${scope} removed from the ledger.`, ...warnings].join(' ');
    },
  };
}
