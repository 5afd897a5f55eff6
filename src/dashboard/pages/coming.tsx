import { PageFrame } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';

/** In place of a page that is not built yet. */
export function Coming() {
  return (
    <PageFrame title="Not available yet">
      <Empty title="This page does not exist yet.">
        <p>The command line shows the same: portolan status --server.</p>
      </Empty>
    </PageFrame>
  );
}
