import { query } from '../../router.ts';
import { ApplicationFrame } from './head.tsx';
import { Panel } from './panel.tsx';
import { Summary } from './summary.tsx';
import { Tree } from './tree.tsx';

/** `/applications/:name`: the tree of resources, and a panel for the selected one. */
export function ApplicationTree({ name = '' }: Readonly<Record<string, string>>) {
  const resource = query.value.get('resource') ?? undefined;
  const part = query.value.get('part') ?? undefined;
  return (
    <ApplicationFrame name={name} view="">
      {(shown) => (
        <div class={`tree-layout${resource === undefined ? '' : ' with-panel'}`}>
          <Tree name={name} details={shown.details} selection={{ resource, part }} />
          {resource === undefined ? (
            <Summary {...shown} />
          ) : (
            <Panel key={`${resource} ${part}`} shown={shown} resource={resource} part={part} />
          )}
        </div>
      )}
    </ApplicationFrame>
  );
}
