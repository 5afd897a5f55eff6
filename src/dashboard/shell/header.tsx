import { useRef } from 'preact/hooks';
import { Icon, type IconName } from '../parts/icon.tsx';
import { navigate } from '../router.ts';
import { chooseTheme, type Theme, THEMES, theme } from '../theme.ts';
import { connection } from '../live.ts';
import { Account } from './account.tsx';
import { useKey } from './keys.tsx';

/** A full or a short id of a commit. */
const COMMIT = /^[0-9a-f]{7,64}$/;

export function Header() {
  return (
    <header class="header">
      <Search />
      <div class="header-end">
        <Live />
        <ThemeChoice />
        <Account />
      </div>
    </header>
  );
}

/** Finds applications by text, and a commit by its id. */
function Search() {
  const input = useRef<HTMLInputElement>(null);
  useKey('/', 'Search', () => input.current?.select());
  const submit = (event: Event): void => {
    event.preventDefault();
    const text = input.current?.value.trim() ?? '';
    if (text === '') return;
    navigate(COMMIT.test(text) ? `/commits/${text}` : `/applications?${new URLSearchParams({ q: text })}`);
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        name="q"
        aria-label="Search applications, or paste a commit"
        placeholder="Search applications, or paste a commit"
        autoComplete="off"
        spellcheck={false}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

const CONNECTIONS = {
  connecting: { word: 'Connecting', title: 'The event stream is being opened.' },
  live: { word: 'Live', title: 'Events keep this page current.' },
  refused: { word: 'Not live', title: 'Your roles do not permit you to see events.' },
  lost: { word: 'Offline', title: 'The connection to the controller is lost. The page retries by itself.' },
} as const;

function Live() {
  const { state } = connection.value;
  const { word, title } = CONNECTIONS[state];
  return (
    <span class={`live ${state}`} title={title}>
      <span class="live-dot" aria-hidden="true" />
      {word}
    </span>
  );
}

const THEME_ICONS: Readonly<Record<Theme, IconName>> = { system: 'screen', light: 'sun', dark: 'moon' };

function ThemeChoice() {
  const chosen = theme.value;
  const next = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length] ?? 'system';
  const label = `Theme: ${chosen}. Change to ${next}`;
  return (
    <button type="button" class="plain" aria-label={label} title={label} onClick={() => chooseTheme(next)}>
      <Icon name={THEME_ICONS[chosen]} />
    </button>
  );
}
