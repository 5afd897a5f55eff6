/** Symbols, drawn with strokes on a grid of 16. Each stands beside a word, so screen readers skip it. */
const PATHS = {
  check: 'M3.5 8.5 6.5 11.5 12.5 4.5',
  cross: 'M4 4 12 12M12 4 4 12',
  alert: 'M8 2.5 14.5 13.5H1.5ZM8 6.5V9.5M8 11.4V11.6',
  differs: 'M3 6H13M3 10H13M10.5 3 5.5 13',
  clock: 'M8 2.2A5.8 5.8 0 1 1 7.99 2.2ZM8 5V8L10 9.5',
  pause: 'M5.5 3.5V12.5M10.5 3.5V12.5',
  hand: 'M4 8V12.5L6 14H10L12.5 11V6.5M4 8 2.5 9.5M4 8V4.5A1 1 0 0 1 6.2 4.5V7M6.2 5V3A1 1 0 0 1 8.4 3V7M8.4 4A1 1 0 0 1 10.5 4V7.5M10.5 6A1 1 0 0 1 12.5 6.5',
  question: 'M5.6 6A2.4 2.4 0 1 1 8 8.6V9.8M8 12.2V12.4',
  info: 'M8 2.2A5.8 5.8 0 1 1 7.99 2.2ZM8 7.4V11M8 5V5.2',
  dot: 'M8 5.5A2.5 2.5 0 1 1 7.99 5.5Z',
  sync: 'M13 6.5A5.3 5.3 0 0 0 3.4 5.2M3 2.5V5.6H6.1M3 9.5A5.3 5.3 0 0 0 12.6 10.8M13 13.5V10.4H9.9',
  commit: 'M8 5.4A2.6 2.6 0 1 1 7.99 5.4ZM1.5 8H5.4M10.6 8H14.5',
  search: 'M7 2.8A4.2 4.2 0 1 1 6.99 2.8ZM10.1 10.1 13.6 13.6',
  menu: 'M2.5 4.5H13.5M2.5 8H13.5M2.5 11.5H13.5',
  copy: 'M5.5 5.5H13.5V13.5H5.5ZM10.5 5.5V2.5H2.5V10.5H5.5',
  sun: 'M8 5.2A2.8 2.8 0 1 1 7.99 5.2ZM8 1.4V2.6M8 13.4V14.6M1.4 8H2.6M13.4 8H14.6M3.3 3.3 4.2 4.2M11.8 11.8 12.7 12.7M12.7 3.3 11.8 4.2M4.2 11.8 3.3 12.7',
  moon: 'M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8 5.6 5.6 0 1 0 13.2 9.6Z',
  screen: 'M2 3H14V11H2ZM5.5 13.5H10.5',
  right: 'M6 3.5 10.5 8 6 12.5',
  left: 'M10 3.5 5.5 8 10 12.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  up: 'M3.5 10 8 5.5 12.5 10',
  play: 'M4.5 3 12.5 8 4.5 13Z',
  user: 'M8 2.5A2.7 2.7 0 1 1 7.99 2.5ZM2.8 13.5C3.4 10.8 5.4 9.6 8 9.6S12.6 10.8 13.2 13.5',
  out: 'M6.5 2.5H3V13.5H6.5M7 8H13.5M10.8 5.2 13.6 8 10.8 10.8',
  overview: 'M2.5 2.5H7V7H2.5ZM9 2.5H13.5V7H9ZM2.5 9H7V13.5H2.5ZM9 9H13.5V13.5H9Z',
  applications: 'M8 1.8 13.8 5V11L8 14.2 2.2 11V5ZM2.2 5 8 8.2 13.8 5M8 8.2V14.2',
  activity: 'M1.5 8.5H4.5L6.5 3.5 9.5 12.5 11.5 8.5H14.5',
  platform: 'M2.5 2.5H13.5V6.8H2.5ZM2.5 9.2H13.5V13.5H2.5ZM5 4.6V4.8M5 11.2V11.4',
  new: 'M8 13V3.5M4 7.5 8 3.5 12 7.5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
