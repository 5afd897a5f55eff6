import type { AttentionItem, CommitSummary, FleetCounts } from '../../model/fleet.ts';
import { FLEET_STATES } from '../../model/fleet-words.ts';
import { shortRevision } from '../../model/revision.ts';
import { read } from '../api.ts';
import { useData } from '../data.ts';
import { authorName } from '../parts/author.ts';
import { ATTENTION, COMMITS, StateBadge, STATES } from '../parts/fleet-words.tsx';
import { Icon } from '../parts/icon.tsx';
import { applicationAddress, Link } from '../parts/link.tsx';
import { NewRows, useNewRows } from '../parts/new-rows.tsx';
import { Outside } from '../parts/outside.tsx';
import { PageFrame } from '../parts/page.tsx';
import { Message } from '../parts/revision.tsx';
import { Empty, WithData } from '../parts/states.tsx';
import { Tile } from '../parts/tile.tsx';
import { Time } from '../parts/time.tsx';
import './overview.css';

const ITEMS = 8;

/** `/`: the state of everything, first what requires manual action. */
export function Overview() {
  const fleet = useData('fleet', (signal) => {
    return read('/api/v1/applications', { query: { view: 'row', limit: 1 }, signal });
  });
  return (
    <PageFrame title="Overview">
      <WithData of={fleet} lines={2}>
        {({ counts }) => <Tiles counts={counts} />}
      </WithData>
      <Outside />
      <div class="overview">
        <Attention />
        <Commits />
      </div>
    </PageFrame>
  );
}

/** Always shown; the other states only if there are any. */
const TILES = ['in-sync', 'drifted', 'pending', 'held', 'failing', 'suspended'] as const;

function Tiles({ counts }: { readonly counts: FleetCounts }) {
  const total = FLEET_STATES.reduce((sum, state) => sum + counts[state], 0);
  const rare = FLEET_STATES.filter((state) => !TILES.some((one) => one === state) && counts[state] > 0);
  return (
    <section class="tiles" aria-label="Applications by state">
      {[...TILES, ...rare].map((state) => {
        const { label, tone, icon } = STATES[state];
        const of = state === 'in-sync' ? { of: total } : {};
        const href = `/applications?state=${state}`;
        return <Tile key={state} label={label} value={counts[state]} {...of} tone={tone} icon={icon} href={href} />;
      })}
    </section>
  );
}

function Attention() {
  const attention = useData('attention', (signal) => read('/api/v1/attention', { query: { limit: ITEMS }, signal }));
  const total = attention.data?.total ?? 0;
  return (
    <section class="card" aria-labelledby="attention">
      <header>
        <h2 id="attention">Needs attention{total === 0 ? '' : ` (${total})`}</h2>
        <Link to="/attention">{total > ITEMS ? `Show all ${total}` : 'Show details'}</Link>
      </header>
      <WithData of={attention}>{({ items }) => <AttentionRows items={items} />}</WithData>
    </section>
  );
}

function AttentionRows({ items }: { readonly items: readonly AttentionItem[] }) {
  const list = useNewRows(items, ({ key }) => key);
  return (
    <div ref={list.listRef}>
      <NewRows rows={list} />
      {list.rows.length === 0 ? (
        <Empty icon="check" title="Nothing requires manual action.">
          <p>Approvals, holds, failures and rejected commits appear here.</p>
        </Empty>
      ) : (
        <ul class="rows">
          {list.rows.map((item) => (
            <AttentionRow key={item.key} item={item} />
          ))}
        </ul>
      )}
    </div>
  );
}

function AttentionRow({ item: { kind, application, resource, message, sinceMs } }: { readonly item: AttentionItem }) {
  return (
    <li class="row">
      <div class="row-head">
        <span class="row-subject">
          <StateBadge of={ATTENTION[kind]} />
          {application === null ? null : (
            <Link to={applicationAddress(application)} class="row-name">
              {application.slice('Application/'.length)}
            </Link>
          )}
          {resource === null ? null : <span class="row-about">{resource}</span>}
        </span>
        <span class="row-time">
          <Time at={sinceMs} />
        </span>
      </div>
      <p class="row-text">
        <Message text={message} />
      </p>
    </li>
  );
}

function Commits() {
  const commits = useData('commits', (signal) => read('/api/v1/commits', { query: { limit: ITEMS }, signal }));
  return (
    <section class="card" aria-labelledby="commits">
      <header>
        <h2 id="commits">Latest commits</h2>
      </header>
      <WithData of={commits}>{({ items }) => <CommitRows items={items} />}</WithData>
    </section>
  );
}

function CommitRows({ items }: { readonly items: readonly CommitSummary[] }) {
  const list = useNewRows(items, ({ revision }) => revision);
  return (
    <div ref={list.listRef}>
      <NewRows rows={list} />
      {list.rows.length === 0 ? (
        <Empty title="No commit was read yet." />
      ) : (
        <ul class="rows">
          {list.rows.map((commit) => (
            <CommitRow key={commit.revision} commit={commit} />
          ))}
        </ul>
      )}
    </div>
  );
}

function CommitRow({ commit }: { readonly commit: CommitSummary }) {
  const { revision, id, subject, author, state, progress, committedMs, observedMs } = commit;
  const atMs = committedMs ?? observedMs;
  return (
    <li class="row">
      <div class="row-head">
        <Link to={`/commits/${id}`} class="row-name">
          {subject ?? shortRevision(revision)}
        </Link>
        <span class="row-time">{atMs === null ? null : <Time at={atMs} />}</span>
      </div>
      <div class="row-foot">
        <StateBadge of={COMMITS[state]} />
        {progress.changed === 0 ? null : (
          <span class="commit-progress">
            <progress value={progress.applied} max={progress.changed} aria-label="Applications that applied it" />
            {progress.applied} of {progress.changed} {progress.changed === 1 ? 'application' : 'applications'}
          </span>
        )}
        <span class="commit-origin">
          <Icon name="commit" />
          <code title={revision}>{id.slice(0, 12)}</code>
          {author === null ? null : ` by ${authorName(author)}`}
        </span>
      </div>
    </li>
  );
}
