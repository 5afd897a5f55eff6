import { useEffect, useState } from 'preact/hooks';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { arrivals, match } from '../router.ts';

const ENTRIES: readonly { readonly to: string; readonly label: string; readonly icon: IconName }[] = [
  { to: '/', label: 'Overview', icon: 'overview' },
  { to: '/applications', label: 'Applications', icon: 'applications' },
  { to: '/attention', label: 'Attention', icon: 'alert' },
  { to: '/activity', label: 'Activity', icon: 'activity' },
  { to: '/platform', label: 'Platform', icon: 'platform' },
];

/** The way to all pages: a column, or on a narrow screen a menu. */
export function Navigation() {
  const [isOpen, setOpen] = useState(false);
  const page = match.value?.page ?? '';
  const arrived = arrivals.value;
  useEffect(() => setOpen(false), [arrived]);
  return (
    <div class="side">
      <nav class={`navigation${isOpen ? ' open' : ''}`} aria-label="Pages">
        <Link to="/" class="brand-link" aria-label="Portolan, overview">
          <Brand />
        </Link>
        <button
          type="button"
          class="plain menu-button"
          aria-expanded={isOpen}
          aria-controls="pages"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'cross' : 'menu'} />
          Menu
        </button>
        <ul id="pages">
          {ENTRIES.map(({ to, label, icon }) => {
            const isCurrent = to === '/' ? page === '/' : page.startsWith(to);
            return (
              <li key={to}>
                <Link to={to} {...(isCurrent ? { 'aria-current': 'page' as const } : {})}>
                  <Icon name={icon} />
                  {label}
                </Link>
              </li>
            );
          })}
        </ul>
      </nav>
    </div>
  );
}

/** The sign of the product. */
export function Brand() {
  return (
    <span class="brand">
      <svg class="compass" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <path d="M16 4.5 18.6 13.4 27.5 16 18.6 18.6 16 27.5 13.4 18.6 4.5 16 13.4 13.4Z" />
        <path class="north" d="M16 4.5 18.6 13.4 16 16 13.4 13.4Z" />
      </svg>
      Portolan
    </span>
  );
}
