import type { ControllerStatus } from '../../model/status.ts';
import { read } from '../api.ts';
import { useData } from '../data.ts';
import { PageFrame } from '../parts/page.tsx';
import { WithData } from '../parts/states.tsx';
import { Tile } from '../parts/tile.tsx';

/** `/`: the state of everything at one view. */
export function Overview() {
  const status = useData('status', (signal) => read('/api/v1/status', { signal }));
  return (
    <PageFrame title="Overview">
      <WithData of={status}>{({ counts }) => <Tiles counts={counts} />}</WithData>
    </PageFrame>
  );
}

function Tiles({ counts }: { readonly counts: ControllerStatus['counts'] }) {
  return (
    <section class="tiles" aria-label="Applications by state">
      <Tile label="In sync" value={counts.ready} tone="good" icon="check" href="/applications?state=ready" />
      <Tile label="Drifted" value={counts.drifted} tone="warn" icon="differs" href="/applications?state=drifted" />
      <Tile label="Held" value={counts.held} tone="warn" icon="hand" href="/applications?state=held" />
      <Tile label="Failing" value={counts.failing} tone="bad" icon="cross" href="/applications?state=failing" />
      <Tile
        label="Suspended"
        value={counts.suspended}
        tone="paused"
        icon="pause"
        href="/applications?state=suspended"
      />
    </section>
  );
}
