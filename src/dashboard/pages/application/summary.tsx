import type { ApplicationDetails, ResourceStatus } from '../../../model/status.ts';
import { amount } from '../../../plan/words.ts';
import { resourceState } from '../../../views/answered.ts';
import { Link } from '../../parts/link.tsx';
import { StateBadge } from '../../parts/state.tsx';
import { Conditions } from './conditions.tsx';
import { resourceAddress } from './data.ts';
import { Doubts } from './doubts.tsx';
import type { Shown } from './head.tsx';

/** Beside the tree while nothing is selected: what is not in sync, and why. */
export function Summary(shown: Shown) {
  const { name, details } = shown;
  const open = details.resources.filter((resource) => resourceState(resource) !== 'in-sync');
  return (
    <aside class="card resource-panel" aria-label="Summary">
      <header>
        <h2>{headingOf(details, open.length)}</h2>
      </header>
      <div class="resource-panel-body">
        {open.length === 0 ? null : (
          <ul class="open-resources">
            {open.map((resource) => (
              <li key={resource.id}>
                <Link to={resourceAddress(name, resource.id)}>{resource.id}</Link>{' '}
                <StateBadge state={resourceState(resource)} />
                <p class="soft">{whyOf(resource)}</p>
              </li>
            ))}
          </ul>
        )}
        <Doubts shown={shown} />
        <section>
          <h3>Conditions</h3>
          <Conditions conditions={details.conditions} />
        </section>
        <ManifestOf details={details} />
      </div>
    </aside>
  );
}

/** Returns how many resources are not in sync, and how many objects git no longer contains. */
function headingOf({ resources, observed }: ApplicationDetails, open: number): string {
  const removed = observed?.lines.filter(({ state }) => state === 'withdrawn').length ?? 0;
  if (open === 0 && removed === 0) return 'Everything is in sync';
  const inGit =
    open === 0 ? `${amount(resources.length, 'resource')} in sync` : `${open} of ${resources.length} not in sync`;
  return removed === 0 ? inGit : `${inGit}, ${removed} removed from git`;
}

function whyOf({ holds, conditions }: ResourceStatus): string {
  return holds[0]?.message ?? conditions.find(({ type }) => type === 'Ready')?.message ?? '';
}

function ManifestOf({ details: { sources } }: { readonly details: ApplicationDetails }) {
  const [source] = sources;
  if (source === undefined) return null;
  return (
    <section>
      <h3>Manifest</h3>
      <p>
        <code>
          {source.file}:{source.line}:{source.column}
        </code>
      </p>
    </section>
  );
}
