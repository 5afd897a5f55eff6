import { type Document, isCollection, isScalar, visit, type YAMLParseError } from 'yaml';
import type { Fault } from './fault.ts';

interface Explanation {
  readonly message: string;
  readonly expected?: string;
  readonly hint?: string;
  /** The position of the mistake, if it differs from that of the parser. */
  readonly offset?: number | undefined;
}

/** Faults of anchors, aliases, tags and directives, which are refused before the composer sees them. */
const REPORTED_ELSEWHERE: ReadonlySet<string> = new Set([
  'ALIAS_PROPS',
  'BAD_ALIAS',
  'BAD_COLLECTION_TYPE',
  'BAD_DIRECTIVE',
  'BAD_PROP_ORDER',
  'MULTIPLE_ANCHORS',
  'MULTIPLE_TAGS',
  'TAG_RESOLVE_FAILED',
]);

const FAULTS_MAX = 3;

/**
 * Returns the syntax errors of one document as faults: the first of each line, and at most three, because further errors are
 * mostly consequences of the first ones.
 */
export function syntaxFaults(document: Document.Parsed, text: string): readonly Fault[] {
  const faults: Fault[] = [];
  // The last line with a fault, so that a line with a thousand errors is searched once.
  let line = { start: -1, end: -1 };
  for (const error of document.errors) {
    if (faults.length === FAULTS_MAX) break;
    if (REPORTED_ELSEWHERE.has(error.code)) continue;
    const noticed = Math.min(error.pos[0], Math.max(0, text.length - 1));
    if (noticed >= line.start && noticed <= line.end) continue;
    line = lineAt(text, noticed);
    const { offset: cause, ...words } = explain(error, document, text, line);
    const offset = cause ?? pastIndent(text, noticed, line.end);
    if (faults.some((fault) => fault.offset === offset)) continue;
    const length = cause === undefined ? Math.max(1, Math.min(error.pos[1], line.end) - offset) : 1;
    faults.push({ code: 'yaml/syntax', offset, length, path: '', ...words });
    if (words.message === CONFLICT) break;
  }
  return faults;
}

function lineAt(text: string, offset: number) {
  const newline = text.indexOf('\n', offset);
  return { start: text.lastIndexOf('\n', offset - 1) + 1, end: newline === -1 ? text.length : newline };
}

function pastIndent(text: string, offset: number, end: number): number {
  let at = offset;
  while (at < end - 1 && text[at] === ' ') at += 1;
  return at;
}

const CONFLICT = 'a merge conflict of git is not resolved here';

function explain(
  error: YAMLParseError,
  document: Document.Parsed,
  text: string,
  { start, end }: ReturnType<typeof lineAt>,
): Explanation {
  const line = text.slice(start, Math.min(end, start + 1000));
  if (/^(?:<{7}|={7}|>{7}|\|{7})(?: |\r?$)/.test(line)) {
    return { message: CONFLICT, expected: 'one of the two sides, without the conflict markers' };
  }
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return { message: 'a tab is used for indentation', expected: 'spaces', offset: error.pos[0] };
    case 'BAD_INDENT':
      return isBracket(error) ? unclosedBracket(document, text, error.pos[0]) : BAD_INDENT;
    case 'MISSING_CHAR':
      return missing(error, document, text);
    case 'MULTILINE_IMPLICIT_KEY':
    case 'BLOCK_AS_IMPLICIT_KEY':
      return manyKeys(line);
    default:
      return ALWAYS[error.code] ?? unexpected(error, line);
  }
}

const BAD_INDENT: Explanation = {
  message: 'the indent of this line matches none of the lines above',
  expected: 'the fields of one map in the same column',
};

/** Explanations of errors with one meaning. */
const ALWAYS: Readonly<Record<string, Explanation>> = {
  BAD_DQ_ESCAPE: {
    message: 'a backslash in "double quotes" starts an escape that does not exist',
    hint: "write \\\\ for a backslash, or use 'single quotes'",
  },
  BAD_SCALAR_START: {
    message: 'a value starts with a character that YAML reserves',
    hint: 'put the value into quotes',
  },
  KEY_OVER_1024_CHARS: { message: 'a key has more than 1024 characters' },
  BLOCK_IN_FLOW: { message: 'an indented block is inside [ ] or { }', expected: 'one style or the other' },
};

function manyKeys(line: string): Explanation {
  const [, glued] = /^[\s-]*([A-Za-z_][\w-]*):[^\s:]/.exec(line) ?? [];
  const inQuotes = 'put a value that contains a colon and a space into quotes';
  return {
    message: 'a line has more than one key, or a key spans several lines',
    expected: 'key: value, one per line',
    hint: glued === undefined ? inQuotes : `put a space after the colon of ${glued}`,
  };
}

function unexpected(error: YAMLParseError, line: string): Explanation {
  if (/[{[,].*\$\{[A-Za-z_]/.test(line)) {
    return {
      message: 'a ${NAME} inside { } or [ ] needs quotes, because its braces start a map',
      hint: 'write "${NAME}" in quotes; it can still become a number or true or false',
    };
  }
  return { message: `this is not valid YAML: ${firstLine(error.message)}` };
}

function isBracket(error: YAMLParseError): boolean {
  return /must be sufficiently indented/.test(error.message);
}

function missing(error: YAMLParseError, document: Document.Parsed, text: string): Explanation {
  const words = firstLine(error.message);
  const quote = /closing (["'])quote/.exec(words)?.[1];
  if (quote !== undefined) {
    const offset = openingQuote(document, error.pos[0]);
    return { message: `this ${quote} is not closed`, expected: `another ${quote} at the end of the value`, offset };
  }
  if (/must end with a/.test(words)) return unclosedBracket(document, text, error.pos[0]);
  if (/comments must be separated/.test(words)) return { message: 'a comment needs a space before its #' };
  return { message: `something is missing here: ${words}` };
}

function unclosedBracket(document: Document.Parsed, text: string, noticed: number): Explanation {
  let opened: number | undefined;
  visit(document, {
    Collection(_, node) {
      if (!isCollection(node) || node.flow !== true || !node.range) return;
      const [start, end] = node.range;
      if (start < noticed && !/[\]}]/.test(text[end - 1] ?? '')) opened = start;
    },
  });
  if (opened === undefined) return { message: 'a { or [ is not closed', expected: 'a } or ]' };
  const [bracket, end] = text[opened] === '[' ? ['[', ']'] : ['{', '}'];
  return { message: `this ${bracket} is not closed`, expected: `a ${end} at its end`, offset: opened };
}

/** Returns the start of the quoted scalar whose end is missing. */
function openingQuote(document: Document.Parsed, noticed: number): number | undefined {
  let opened: number | undefined;
  visit(document, {
    Scalar(_, node) {
      const quoted = isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE');
      if (quoted && node.range && node.range[0] <= noticed) opened = node.range[0];
    },
  });
  return opened;
}

function firstLine(message: string): string {
  const line = message.split('\n')[0] ?? '';
  return line.charAt(0).toLowerCase() + line.slice(1);
}
