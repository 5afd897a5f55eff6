import { Composer, type Document } from 'yaml';
import type { Declarations } from '../kinds/kind.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { Problem } from '../model/problem.ts';
import { COMPOSING, parseDocuments } from './documents.ts';
import { compareText, type Fault, faultAt } from './fault.ts';
import { type FileReading, fileText, readFile } from './file.ts';
import { commentsOf, settleComments } from './format-comments.ts';
import { arrange, hasFoldedText, LINE_LENGTH_MAX } from './format-nodes.ts';
import { decode, type SourceFile } from './text.ts';
import { readTokens } from './tokens.ts';
import { readValue } from './values.ts';

/** What came of formatting one file. */
export type Formatting =
  | { readonly type: 'formatted'; readonly before: string; readonly text: string }
  /** It has faults, or its layout is one that cannot be changed without a loss: nothing of it is to be written. */
  | { readonly type: 'refused'; readonly problems: readonly Problem[] };

/** Rounds until nothing changes any more; one is enough for all but the oddest comments. */
const ROUNDS_MAX = 4;

/**
 * Lays a file out as all are: the fields of each kind in the order of its schema, two spaces, quotes only where they are needed.
 * Lists keep their order, and free keys theirs. The text that comes back means the same, has every comment, and is
 * laid out already: if any of this cannot be had, the file is refused. Pure, and never throws, whatever the content.
 */
export function formatFile(kinds: Declarations, { path, content }: SourceFile): Formatting {
  const reading = readEither(kinds, content);
  const { text: before = '' } = decode(content);
  const file = fileText(path, content, reading);
  const faults = reading.faults.filter((fault) => !waitsForVariable(fault, before));
  if (faults.length > 0) return { type: 'refused', problems: faults.map((fault) => file.problem(fault)) };
  const text = stable(kinds, before);
  const loss = text === undefined ? 'no layout of it lasts' : text === before ? undefined : lossBetween(before, text);
  if (text !== undefined && loss === undefined) return { type: 'formatted', before, text };
  const fault = faultAt(0, {
    code: 'format/loss',
    message: `the file was left as it is: ${loss}`,
    hint: 'move comments out of values and brackets to lines of their own, and please report this as a bug',
  });
  return { type: 'refused', problems: [file.problem(fault)] };
}

/** A file is read as what its kinds say it is: manifests, or the operator's configuration. */
function readEither(kinds: Declarations, content: string | Uint8Array): FileReading {
  const reading = readFile(content, { trust: 'manifest', kinds });
  const isOperators = reading.documents.some(({ kind = '' }) => kinds.get(kind)?.trust === 'operator');
  return isOperators ? readFile(content, { trust: 'operator', kinds }) : reading;
}

/** A value with `${NAME}` in it is not what it will be: that it is no number yet is no fault of the layout. */
function waitsForVariable({ code, offset, length }: Fault, text: string): boolean {
  const isOfYaml = code.startsWith('yaml/') || code.startsWith('limit/');
  return !isOfYaml && text.slice(offset, offset + length).includes('${');
}

/** Formats until nothing changes any more; undefined: that never came. */
function stable(kinds: Declarations, text: string, rounds = ROUNDS_MAX): string | undefined {
  const next = layOut(kinds, text);
  if (next === text) return text;
  return rounds === 1 ? undefined : stable(kinds, next, rounds - 1);
}

function layOut(kinds: Declarations, text: string): string {
  const composer = new Composer({ ...COMPOSING, keepSourceTokens: true });
  const { tokens } = readTokens(text);
  settleComments(tokens);
  const documents = [...composer.compose(tokens, false, text.length)];
  // Nothing but comments, or nothing at all.
  if (documents.length === 0) return text.trim() === '' ? '' : `${text.trim()}\n`;
  return documents.map((document, index) => print(kinds, document, index === 0, text)).join('');
}

function print(kinds: Declarations, document: Document.Parsed, isFirst: boolean, text: string): string {
  if (document.errors.length > 0) return text;
  arrange(kinds, document, text);
  if (!isFirst) document.directives.docStart = true;
  return document.toString({
    indent: 2,
    // A paragraph that its author broke into lines stays one of many lines; nothing else is ever broken.
    lineWidth: hasFoldedText(document) ? LINE_LENGTH_MAX : 0,
    flowCollectionPadding: true,
  });
}

/** What a text has lost against the one it was made of, in words; undefined: nothing. */
function lossBetween(before: string, after: string): string | undefined {
  const [was, is] = [parseDocuments(before), parseDocuments(after)];
  if (is.faults.length > 0 || is.documents.some(({ broken }) => broken)) return 'it could not be read any more';
  if (meaningOf(was) !== meaningOf(is)) return 'it would mean something else';
  return sortedComments(before) === sortedComments(after) ? undefined : 'a comment would be lost or changed';
}

/** In an order that does not depend on where they stand. */
function sortedComments(text: string): string {
  return commentsOf(text).toSorted(compareText).join('\n');
}

function meaningOf({ documents }: ReturnType<typeof parseDocuments>): string {
  return documents.map(({ contents }) => canonicalJson(readValue(contents, undefined).value as Json)).join('\n');
}
