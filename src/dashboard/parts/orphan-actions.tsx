import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
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
  const digest = signal<string>();
  return {
    label: 'Prune',
    icon: 'out',
    tone: 'danger',
    needs: 'admin',
    question: `Remove what is left in ${scope}?`,
    effect: <Removals params={params} digest={digest} />,
    isReady: () => digest.value !== undefined,
    reason: 'Why?',
    run: async (reason) => {
      const { results, left, error } = await send('/api/v1/orphans/{platform}/{team}/{region}/{app}/prune', {
        params,
        body: { digest: digest.value, reason },
      });
      const done = results.filter(({ status }) => status === 'done').length;
      return [
        `${amount(done, 'removal')} of ${results.length} done in ${scope}, ${left} left.`,
        ...(error === null ? [] : [error]),
      ].join(' ');
    },
  };
}

/** The plan of the removals. @param digest receives the one of exactly what is shown; a plan that could not be made has none. */
function Removals({ params, digest }: { readonly params: Params; readonly digest: Signal<string | undefined> }) {
  const plan = useData(
    `prune ${JSON.stringify(params)}`,
    (signal) => read('/api/v1/orphans/{platform}/{team}/{region}/{app}/plan', { params, signal }),
    { concerns: () => false },
  );
  const shown = plan.data?.unobserved.length === 0 ? plan.data.digest : undefined;
  useEffect(() => {
    digest.value = shown;
  }, [shown]);
  return (
    <WithData of={plan} lines={3}>
      {(document) => <RemovalsText document={document} />}
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
