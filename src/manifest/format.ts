import { Composer, type Document } from 'yaml';
import type { Declarations } from '../kinds/kind.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { Problem } from '../model/problem.ts';
import { COMPOSING, parseDocuments } from './documents.ts';
import { type Fault, faultAt } from './fault.ts';
import { type FileReading, fileText, readFile } from './file.ts';
import { assignComments, commentsOf } from './format-comments.ts';
import { arrange, hasFoldedText, LINE_LENGTH_MAX } from './format-nodes.ts';
import { decode, type SourceFile } from './text.ts';
import { readTokens } from './tokens.ts';
import { readValue } from './values.ts';
import { compareText } from '../model/text.ts';

/** The result of formatting one file. */
export type Formatting =
  | { readonly type: 'formatted'; readonly before: string; readonly text: string }
  /** The file has faults, or cannot be formatted without a loss: it must not be written. */
  | { readonly type: 'refused'; readonly problems: readonly Problem[] };

/** The maximum number of rounds until nothing changes any more. One is enough except for unusual comments. */
const ROUNDS_MAX = 4;

/**
 * Formats a file: fields in the order of the schema, indent of two spaces, quotes only where necessary. Lists and free keys keep
 * their order. The result has the same meaning and all comments, and formatting it again changes nothing; otherwise the
 * file is refused. Pure, and never throws.
 */
export function formatFile(kinds: Declarations, { path, content }: SourceFile): Formatting {
  const reading = readEither(kinds, content);
  const { text: before = '' } = decode(content);
  const file = fileText(path, content, reading);
  const faults = reading.faults.filter((fault) => !waitsForVariable(fault, before));
  if (faults.length > 0) return { type: 'refused', problems: faults.map((fault) => file.problem(fault)) };
  const text = formatUntilStable(kinds, before);
  const loss =
    text === undefined
      ? 'formatting it again would change it again'
      : text === before
        ? undefined
        : lossBetween(before, text);
  if (text !== undefined && loss === undefined) return { type: 'formatted', before, text };
  const fault = faultAt(0, {
    code: 'format/loss',
    message: `the file was not formatted: ${loss}`,
    hint: 'move comments out of values and brackets to their own lines, and report this as a bug',
  });
  return { type: 'refused', problems: [file.problem(fault)] };
}

/** Reads a file as manifests or as the operator's configuration, depending on its kinds. */
function readEither(kinds: Declarations, content: string | Uint8Array): FileReading {
  const reading = readFile(content, { trust: 'manifest', kinds });
  const isOperators = reading.documents.some(({ kind = '' }) => kinds.get(kind)?.trust === 'operator');
  return isOperators ? readFile(content, { trust: 'operator', kinds }) : reading;
}

/** Returns whether a fault may be due to a value with `${NAME}`, which is not replaced yet. Such a fault does not prevent formatting. */
function waitsForVariable({ code, offset, length }: Fault, text: string): boolean {
  const isOfYaml = code.startsWith('yaml/') || code.startsWith('limit/');
  return !isOfYaml && text.slice(offset, offset + length).includes('${');
}

/** Formats until nothing changes any more; undefined after too many rounds. */
function formatUntilStable(kinds: Declarations, text: string, rounds = ROUNDS_MAX): string | undefined {
  const next = formatOnce(kinds, text);
  if (next === text) return text;
  return rounds === 1 ? undefined : formatUntilStable(kinds, next, rounds - 1);
}

function formatOnce(kinds: Declarations, text: string): string {
  const composer = new Composer({ ...COMPOSING, keepSourceTokens: true });
  const { tokens } = readTokens(text);
  assignComments(tokens);
  const documents = [...composer.compose(tokens, false, text.length)];
  // Only comments, or an empty file.
  if (documents.length === 0) return text.trim() === '' ? '' : `${text.trim()}\n`;
  return documents.map((document, index) => print(kinds, document, index === 0, text)).join('');
}

function print(kinds: Declarations, document: Document.Parsed, isFirst: boolean, text: string): string {
  if (document.errors.length > 0) return text;
  arrange(kinds, document, text);
  if (!isFirst) document.directives.docStart = true;
  return document.toString({
    indent: 2,
    // A paragraph of several lines stays one; no other line is broken.
    lineWidth: hasFoldedText(document) ? LINE_LENGTH_MAX : 0,
    flowCollectionPadding: true,
  });
}

/** Returns in words what formatting would lose; undefined: nothing. */
function lossBetween(before: string, after: string): string | undefined {
  const [was, is] = [parseDocuments(before), parseDocuments(after)];
  if (is.faults.length > 0 || is.documents.some(({ broken }) => broken)) return 'the result could not be read';
  if (meaningOf(was) !== meaningOf(is)) return 'its meaning would change';
  return sortedComments(before) === sortedComments(after) ? undefined : 'a comment would be lost or changed';
}

/** Returns the comments of a text, sorted. */
function sortedComments(text: string): string {
  return commentsOf(text).toSorted(compareText).join('\n');
}

function meaningOf({ documents }: ReturnType<typeof parseDocuments>): string {
  return documents.map(({ contents }) => canonicalJson(readValue(contents, undefined).value as Json)).join('\n');
}
