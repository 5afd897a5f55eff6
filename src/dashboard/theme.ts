import { signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'portolan theme';

export const theme = signal<Theme>(stored());

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return THEMES.find((name) => name === value) ?? 'system';
}

/** Shows the theme, also in other tabs. Styles use `light-dark()`, which follows `color-scheme` of the document. */
export function startTheme(): void {
  theme.subscribe((chosen) => {
    document.documentElement.dataset['theme'] = chosen;
  });
  addEventListener('storage', ({ key }) => {
    if (key === KEY) theme.value = stored();
  });
}

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(KEY, chosen);
  theme.value = chosen;
}
