import { Link } from '../parts/link.tsx';
import { PageFrame } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';

/** There is no page at this address. */
export function Missing() {
  return (
    <PageFrame title="Page not found">
      <Empty title="There is no page at this address.">
        <p>
          Check the address, or start at the <Link to="/">overview</Link>.
        </p>
      </Empty>
    </PageFrame>
  );
}
