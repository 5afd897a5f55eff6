import { Option } from '@commander-js/extra-typings';

/** The characters that pictures and marks are made of. */
export interface Glyphs {
  readonly isAscii: boolean;
  /** Eight heights, the lowest first. */
  readonly bars: readonly string[];
  readonly ellipsis: string;
  readonly dash: string;
  /** Before what is to be done. */
  readonly arrow: string;
  readonly marks: Readonly<Record<Mark, string>>;
  readonly axis: {
    readonly across: string;
    readonly up: string;
    readonly corner: string;
    readonly tickUp: string;
    readonly tickAcross: string;
  };
  readonly tree: { readonly branch: string; readonly last: string; readonly through: string; readonly none: string };
}

/** How something stands, or how it went. */
export type Mark =
  | 'good'
  | 'bad'
  | 'change'
  | 'held'
  | 'waiting'
  | 'suspended'
  | 'reported'
  | 'unknown'
  | 'foreign'
  | 'skipped';

const UNICODE: Glyphs = {
  isAscii: false,
  bars: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  ellipsis: '…',
  dash: '–',
  arrow: '→',
  marks: {
    good: '✓',
    bad: '✗',
    change: '~',
    held: '!',
    waiting: '…',
    suspended: '‖',
    reported: 'i',
    unknown: '?',
    foreign: '·',
    skipped: '-',
  },
  axis: { across: '─', up: '│', corner: '└', tickUp: '┤', tickAcross: '┬' },
  tree: { branch: '├─ ', last: '└─ ', through: '│  ', none: '   ' },
};

const ASCII: Glyphs = {
  isAscii: true,
  bars: ['_', '.', '-', ':', '=', '+', '*', '#'],
  ellipsis: '~',
  dash: '-',
  arrow: '->',
  marks: {
    good: '+',
    bad: 'x',
    change: '~',
    held: '!',
    waiting: '.',
    suspended: '=',
    reported: 'i',
    unknown: '?',
    foreign: '*',
    skipped: '-',
  },
  axis: { across: '-', up: '|', corner: '+', tickUp: '+', tickAcross: '+' },
  tree: { branch: '|- ', last: '`- ', through: '|  ', none: '   ' },
};

export function asciiOption() {
  return new Option('--ascii', 'draw with ASCII alone (default: where the locale is not UTF-8)');
}

/**
 * What the reader's terminal, or the reader of a file, can show.
 * @param ascii the flag; undefined where it is not given.
 */
export function glyphsFor(env: Readonly<Record<string, string | undefined>>, ascii?: boolean): Glyphs {
  return ascii === true || (ascii === undefined && !speaksUtf8(env)) ? ASCII : UNICODE;
}

/** As the C library decides it. No locale at all says nothing: containers have none, and the terminals outside speak UTF-8. */
export function speaksUtf8(env: Readonly<Record<string, string | undefined>>): boolean {
  // The console of the Linux kernel has no font for pictures.
  if (env['TERM'] === 'linux') return false;
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => (value ?? '') !== '');
  return locale === undefined || /utf-?8/i.test(locale);
}

/** What our own texts use beside ASCII. A name of somebody else's stays as it is: to guess at its letters would change it. */
const SPELLED: ReadonlyMap<string, string> = new Map([
  ...UNICODE.bars.map((bar, height) => [bar, ASCII.bars[height] ?? ''] as const),
  ...(Object.keys(UNICODE.marks) as Mark[]).map((mark) => [UNICODE.marks[mark], ASCII.marks[mark]] as const),
  ...(Object.keys(UNICODE.axis) as (keyof Glyphs['axis'])[]).map((at) => [UNICODE.axis[at], ASCII.axis[at]] as const),
  ['├', '|'],
  ['└', '`'],
  ['→', '->'],
  ['–', '-'],
  ['…', '...'],
]);
const SPELLED_SIGN = new RegExp(
  `[${[...SPELLED.keys()].filter((sign) => /[^\u0000-\u007f]/.test(sign)).join('')}]`,
  'gu',
);

/** Text for people, for a terminal that shows ASCII. */
export function inAscii(text: string): string {
  return text.replace(SPELLED_SIGN, (sign) => SPELLED.get(sign) ?? sign);
}
