import '../styles/fleet.css';
import { ATTENTION_KINDS, type AttentionKind } from '../../model/fleet-words.ts';
import { ATTENTION_WORDS } from '../../views/attention-words.ts';
import type { AttentionAnswer } from '../answers.ts';
import { read } from '../api.ts';
import { useData } from '../data.ts';
import { AttentionEntry } from '../parts/attention-items.tsx';
import { Icon } from '../parts/icon.tsx';
import { NewRows, useNewRows } from '../parts/new-rows.tsx';
import { Outside } from '../parts/outside.tsx';
import { PageFrame } from '../parts/page.tsx';
import { useRefresh } from '../parts/refresh.ts';
import { Empty, WithData } from '../parts/states.tsx';
import { query, setQuery } from '../router.ts';

const PAGE_SIZE = 50;

/** `/attention`: everything that requires manual action, the oldest first. */
export function Attention() {
  const asked = query.value;
  const names = ['kind', 'application', 'cursor'];
  const wanted = { limit: PAGE_SIZE, ...Object.fromEntries(names.map((name) => [name, asked.getAll(name)])) };
  const key = JSON.stringify(wanted);
  const items = useData(
    key,
    async (signal) => ({ name: key, answer: await read('/api/v1/attention', { query: wanted, signal }) }),
    { keep: true },
  );
  useRefresh(items.reload);
  return (
    <PageFrame title="Attention">
      <KindFilter counts={items.data?.answer.counts} />
      <Outside />
      <WithData of={items} lines={8}>
        {(found) => <List {...found} />}
      </WithData>
    </PageFrame>
  );
}

function KindFilter({ counts }: { readonly counts: AttentionAnswer['counts'] | undefined }) {
  const chosen = query.value.getAll('kind');
  const present = ATTENTION_KINDS.filter((kind) => (counts?.[kind] ?? 0) > 0 || chosen.includes(kind));
  if (present.length === 0) return null;
  const toggle = (kind: AttentionKind): void =>
    setQuery({
      kind: chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind],
      cursor: undefined,
    });
  const all = present.reduce((sum, kind) => sum + (counts?.[kind] ?? 0), 0);
  return (
    <div class="chips" role="group" aria-label="Kind">
      <button
        type="button"
        class="chip"
        aria-pressed={chosen.length === 0}
        onClick={() => setQuery({ kind: undefined, cursor: undefined })}
      >
        All
        <span class="chip-count">{all.toLocaleString('en')}</span>
      </button>
      {present.map((kind) => (
        <button key={kind} type="button" class="chip" aria-pressed={chosen.includes(kind)} onClick={() => toggle(kind)}>
          {ATTENTION_WORDS[kind]}
          <span class="chip-count">{(counts?.[kind] ?? 0).toLocaleString('en')}</span>
        </button>
      ))}
    </div>
  );
}

interface ListProps {
  readonly answer: AttentionAnswer;
  /** The query of the answer. */
  readonly name: string;
}

function List({ answer: { items, total, nextCursor }, name }: ListProps) {
  const list = useNewRows(items, ({ key }) => key, { list: name });
  if (list.rows.length === 0)
    return (
      <Empty title="Nothing requires manual action.">
        <p>Approvals, holds, writes in doubt, failures and faults of the source appear here.</p>
      </Empty>
    );
  return (
    <section class="card" aria-label="Items that require manual action">
      <NewRows rows={list} />
      <ul class="entries" ref={list.listRef}>
        {list.rows.map((item) => (
          <li key={item.key}>
            <AttentionEntry item={item} />
          </li>
        ))}
      </ul>
      {total > PAGE_SIZE ? (
        <footer class="pages">
          <span>{total.toLocaleString('en')} items, the oldest first</span>
          <span class="page-buttons">
            <button type="button" disabled={!query.value.has('cursor')} onClick={() => setQuery({ cursor: undefined })}>
              First page
            </button>
            <button
              type="button"
              disabled={nextCursor === null}
              onClick={() => setQuery({ cursor: nextCursor ?? undefined })}
            >
              Next
              <Icon name="right" />
            </button>
          </span>
        </footer>
      ) : null}
    </section>
  );
}
