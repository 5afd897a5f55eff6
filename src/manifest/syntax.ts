import type { YAMLParseError } from 'yaml';
import type { Fault } from './fault.ts';

interface Explanation {
  readonly message: string;
  readonly expected?: string;
  readonly hint?: string;
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
 * Syntax errors of one document in our words. The first of each line only, and at most three: what follows a syntax
 * error is mostly its echo.
 */
export function syntaxFaults(errors: readonly YAMLParseError[], text: string): readonly Fault[] {
  const faults: Fault[] = [];
  // The last line that has a fault, so that a line of a thousand errors is not searched a thousand times.
  let line = { start: -1, end: -1 };
  for (const error of errors) {
    if (faults.length === FAULTS_MAX) break;
    if (REPORTED_ELSEWHERE.has(error.code)) continue;
    const offset = Math.min(error.pos[0], Math.max(0, text.length - 1));
    if (offset >= line.start && offset <= line.end) continue;
    const newline = text.indexOf('\n', offset);
    line = { start: text.lastIndexOf('\n', offset - 1) + 1, end: newline === -1 ? text.length : newline };
    faults.push({
      code: 'yaml/syntax',
      offset,
      length: Math.max(1, Math.min(error.pos[1], line.end) - offset),
      path: '',
      ...explain(error),
    });
  }
  return faults;
}

function explain(error: YAMLParseError): Explanation {
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return { message: 'a tab is used for indentation', expected: 'spaces' };
    case 'BAD_INDENT':
      return {
        message: 'the indentation fits neither the line above nor a line before it',
        expected: 'fields of one map in the same column',
      };
    case 'MISSING_CHAR':
      return missing(error.message);
    case 'BAD_DQ_ESCAPE':
      return {
        message: 'a backslash in "double quotes" starts an escape that does not exist',
        hint: "write \\\\ for a backslash, or use 'single quotes'",
      };
    case 'MULTILINE_IMPLICIT_KEY':
    case 'BLOCK_AS_IMPLICIT_KEY':
      return {
        message: 'a line has more than one key, or a key spans several lines',
        expected: 'key: value, one per line',
        hint: 'put a value that contains a colon and a space into quotes',
      };
    case 'BAD_SCALAR_START':
      return { message: 'a value starts with a character that YAML reserves', hint: 'put the value into quotes' };
    case 'KEY_OVER_1024_CHARS':
      return { message: 'a key has more than 1024 characters' };
    case 'BLOCK_IN_FLOW':
      return { message: 'an indented block stands inside [ ] or { }', expected: 'one style or the other' };
    default:
      return { message: `this is no valid YAML: ${firstLine(error.message)}` };
  }
}

function missing(message: string): Explanation {
  const text = firstLine(message);
  if (/closing "quote/.test(text)) return { message: 'a value that starts with " has no closing "', expected: '"' };
  if (/closing 'quote/.test(text)) return { message: "a value that starts with ' has no closing '", expected: "'" };
  if (/space/i.test(text) && /#/.test(text)) return { message: 'a comment needs a space before its #' };
  return { message: `something is missing here: ${text}` };
}

function firstLine(message: string): string {
  const line = message.split('\n')[0] ?? '';
  return line.charAt(0).toLowerCase() + line.slice(1);
}
