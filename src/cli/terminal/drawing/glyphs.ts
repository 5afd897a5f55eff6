import { Option } from '@commander-js/extra-typings';

const UNICODE = {
  isAscii: false,
  /** Eight heights, lowest first. */
  bars: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  ellipsis: '…',
  dash: '–',
  /** Stands before a suggested action. */
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

/** The characters of pictures and marks. */
export type Glyphs = Readonly<typeof UNICODE>;

/** The state of a resource, or the outcome of an action. */
export type Mark = keyof Glyphs['marks'];

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
 * Returns the characters that the terminal or the reader of a file can show.
 * @param ascii the flag; undefined when it is not given.
 */
export function glyphsFor(env: Readonly<Record<string, string | undefined>>, ascii?: boolean): Glyphs {
  return ascii === true || (ascii === undefined && !speaksUtf8(env)) ? ASCII : UNICODE;
}

/**
 * Returns whether the locale is UTF-8, as the C library decides it. Without a locale, UTF-8 is assumed: containers have
 * none, and the terminals around them speak UTF-8.
 */
export function speaksUtf8(env: Readonly<Record<string, string | undefined>>): boolean {
  // The console of the Linux kernel has no font for pictures.
  if (env['TERM'] === 'linux') return false;
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => (value ?? '') !== '');
  return locale === undefined || /utf-?8/i.test(locale);
}

/**
 * Maps the characters of our own texts to ASCII. Names from outside stay as they are: a transliteration would change
 * them.
 */
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

/** Spells the symbols of our own texts in ASCII. */
export function inAscii(text: string): string {
  return text.replace(SPELLED_SIGN, (sign) => SPELLED.get(sign) ?? sign);
}
