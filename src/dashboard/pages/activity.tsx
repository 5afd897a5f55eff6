import { read } from '../api.ts';
import { useData } from '../data.ts';
import { PageFrame } from '../parts/page.tsx';
import { Empty, WithData } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';

/** `/activity`: the events. */
export function Activity() {
  const events = useData('events', (signal) => read('/api/v1/events', { query: { limit: 100 }, signal }));
  return (
    <PageFrame title="Activity">
      <WithData of={events}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There are no events yet." />
          ) : (
            <ul class="events">
              {items.map(({ id, atMs, type, message }) => (
                <li key={id}>
                  <Time at={atMs} /> <code>{type}</code> {message}
                </li>
              ))}
            </ul>
          )
        }
      </WithData>
    </PageFrame>
  );
}
