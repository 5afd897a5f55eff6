import type { PlanDocument } from '../../../model/plan-document.ts';
import type { ResourceId } from '../../../model/ids.ts';
import { read, send } from '../../api.ts';
import { useData } from '../../data.ts';
import { WithData } from '../../parts/states.tsx';
import { type Action, ActionButton } from '../../parts/action.tsx';
import type { Shown } from './head.tsx';
import { PlannedActions } from './plan-parts.tsx';

/** The adoption of a held resource. Its effect is read when the question opens. */
export function AdoptButton({
  shown,
  resource,
  onDone,
}: {
  readonly shown: Shown;
  readonly resource: ResourceId;
  readonly onDone: () => void;
}) {
  const { name, permissions } = shown;
  const [kind = '', id = ''] = resource.split('/');
  const params = { name, kind, resource: id };
  const seen: { digest: string } = { digest: '' };
  const action: Action = {
    label: 'Adopt',
    icon: 'check',
    needs: 'admin',
    question: `Adopt ${resource}?`,
    effect: <Adoption params={params} name={name} seen={seen} />,
    reason: 'Why is it yours?',
    run: async (reason) => {
      await send('/api/v1/applications/{name}/resources/{kind}/{resource}/adopt', {
        params,
        body: { digest: seen.digest, reason },
      });
      return `The next pass adopts ${resource}.`;
    },
  };
  return <ActionButton action={action} permissions={permissions} onDone={onDone} />;
}

interface AdoptionProps {
  readonly params: Readonly<Record<'name' | 'kind' | 'resource', string>>;
  readonly name: string;
  /** Receives the digest of exactly what is shown. */
  readonly seen: { digest: string };
}

function Adoption({ params, name, seen }: AdoptionProps) {
  const plan = useData(
    `adoption ${JSON.stringify(params)}`,
    (signal) => read('/api/v1/applications/{name}/resources/{kind}/{resource}/adoption', { params, signal }),
    { concerns: () => false },
  );
  return (
    <WithData of={plan} lines={3}>
      {(document) => {
        seen.digest = document.digest;
        return <AdoptionText document={document} name={name} />;
      }}
    </WithData>
  );
}

function AdoptionText({ document, name }: { readonly document: PlanDocument; readonly name: string }) {
  const [scope] = document.scopes;
  const [failure] = document.unobserved;
  if (failure !== undefined) return <p>{failure.message}</p>;
  if (scope === undefined || scope.actions.length === 0)
    return (
      <p>
        The existing object matches the manifest. It is recorded as managed, so that later plans may change and prune
        it. Nothing is sent to the platform.
      </p>
    );
  return (
    <>
      <p>
        The existing object is recorded as managed, so that later plans may change and prune it, and it is changed to
        match the manifest:
      </p>
      <PlannedActions actions={scope.actions} name={name} />
    </>
  );
}
