import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Declarations } from '../kinds/kind.ts';
import type { SchemaNode } from '../kinds/fields.ts';
import { documentSchema } from '../kinds/schema.ts';
import { NOT_TEXT_TO_ALL, readPlainScalar } from './scalars.ts';
import { spanOf, textOfScalar } from './values.ts';

/** A longer `{ … }` or `[ … ]` gets one line for each entry, and a folded text is broken at this column. */
export const LINE_LENGTH_MAX = 100;

/** The schema of a document of an unknown kind. */
const ANY_DOCUMENT: SchemaNode = { type: 'object', properties: { apiVersion: {}, kind: {}, metadata: {}, spec: {} } };

/** Arranges the nodes of a document in place: keys, quotes, brackets, comments and blank lines. */
export function arrange(kinds: Declarations, document: Document.Parsed, text: string): void {
  const { contents } = document;
  tidyComments(document);
  visit(document, {
    Pair: (_, pair) => keepCommentOnItsLine(pair),
    Scalar: (_, scalar) => {
      setQuotes(scalar);
      tidyComments(scalar);
    },
    Collection: (_, collection) => tidyComments(collection),
  });
  openBrackets(contents, text);
  if (!isMap(contents)) return;
  contents.spaceBefore = false;
  orderDocument(kinds, contents);
}

function orderDocument(kinds: Declarations, contents: YAMLMap): void {
  const former = orderFields(contents, schemaOf(kinds, contents));
  const now = contents.items[0]?.key;
  // A comment above a document belongs to the document: the modeline must stay the first line.
  if (!former?.commentBefore || !isScalar(now)) return;
  now.commentBefore = joined(former.commentBefore, now.commentBefore);
  former.commentBefore = null;
}

function schemaOf(kinds: Declarations, contents: YAMLMap): SchemaNode {
  const kind = contents.items.find(({ key }) => isScalar(key) && textOfScalar(key) === 'kind')?.value;
  const declaration = isScalar(kind) ? kinds.get(textOfScalar(kind)) : undefined;
  return declaration === undefined ? ANY_DOCUMENT : (documentSchema(declaration) as SchemaNode);
}

function orderValue({ key, value }: Pair, parent: SchemaNode): void {
  const name = isScalar(key) ? textOfScalar(key) : '';
  const { properties = {}, additionalProperties: free } = parent;
  const schema = Object.hasOwn(properties, name) ? properties[name] : typeof free === 'object' ? free : {};
  if (isMap(value)) {
    value.spaceBefore = false;
    orderMap(value, schema ?? {});
  } else if (isSeq(value)) {
    value.spaceBefore = false;
    orderList(value, schema ?? {});
  } else if (isScalar(value)) value.spaceBefore = false;
}

function orderList({ items }: YAMLSeq, { items: schema = {} }: SchemaNode): void {
  for (const [index, item] of items.entries()) {
    if (index === 0 && (isMap(item) || isSeq(item) || isScalar(item))) item.spaceBefore = false;
    if (isSeq(item)) orderList(item, schema);
    if (isMap(item)) orderFields(item, schema);
  }
}

function orderMap(map: YAMLMap, schema: SchemaNode): void {
  const former = orderFields(map, schema);
  // A comment above the first field belongs to that field and moves with it.
  if (former === undefined || !map.commentBefore) return;
  former.commentBefore = joined(map.commentBefore, former.commentBefore);
  map.commentBefore = null;
}

/** Sorts the fields of a map. @returns the former first key, if another key is first now. */
function orderFields(map: YAMLMap, schema: SchemaNode): Scalar | undefined {
  const [first] = map.items;
  for (const pair of map.items) orderValue(pair, schema);
  sortPairs(map, schema);
  const [now] = map.items;
  if (isScalar(now?.key)) now.key.spaceBefore = false;
  return now !== first && isScalar(first?.key) ? first.key : undefined;
}

/** Sorts pairs in the order of the schema. A map with free keys keeps its order. */
function sortPairs(map: YAMLMap, { properties, additionalProperties: free }: SchemaNode): void {
  if (properties === undefined || typeof free === 'object') return;
  const names = Object.keys(properties);
  const rank = ({ key }: Pair): number => {
    const at = isScalar(key) ? names.indexOf(textOfScalar(key)) : -1;
    return at === -1 ? names.length : at;
  };
  map.items = map.items.toSorted((left, right) => rank(left) - rank(right));
}

function joined(...comments: readonly (string | null | undefined)[]): string {
  return comments.filter(Boolean).join('\n');
}

function tidyComments(node: { commentBefore?: string | null; comment?: string | null }): void {
  node.commentBefore = tidy(node.commentBefore);
  node.comment = tidy(node.comment);
}

/** Reduces several blank lines in a comment to one. A line with only `#` stays as the one blank from which the printer writes it. */
function tidy(comment: string | null | undefined): string | null {
  if (!comment) return null;
  const lines = comment.split('\n').map((line) => (line === '' ? '' : line.trimEnd() || ' '));
  return lines.join('\n').replace(/\n{3,}/g, '\n\n');
}

/** Keeps the comment of `spec: # note` on its line. The parser takes it for a comment above the next line. */
function keepCommentOnItsLine(pair: Pair): void {
  const { key, value, srcToken } = pair;
  if (!isScalar(key) || !isNode(value) || isAlias(value) || !value.commentBefore) return;
  if (!isScalar(value) && value.flow === true) return;
  const separators = srcToken?.sep ?? [];
  const lineEnd = separators.findIndex(({ type }) => type === 'newline');
  const onLine = separators.slice(0, lineEnd).find(({ type }) => type === 'comment');
  if (onLine === undefined || !('source' in onLine)) return;
  const [first = '', ...rest] = value.commentBefore.split('\n');
  if (`#${first}`.trimEnd() !== onLine.source.trimEnd()) return;
  if (!isScalar(value)) key.comment = first;
  else if (!value.comment) value.comment = first;
  else return;
  value.commentBefore = rest.length === 0 ? null : rest.join('\n');
}

const PLAIN = /^[A-Za-z_/](?:[A-Za-z0-9_./@+:-]| (?=[A-Za-z0-9_/]))*$/;

/** Removes quotes where every reader takes the text for text without them; other quotes become double quotes. */
function setQuotes(scalar: Scalar): void {
  if (scalar.type !== 'QUOTE_DOUBLE' && scalar.type !== 'QUOTE_SINGLE') return;
  const text = textOfScalar(scalar);
  const plain = readPlainScalar(text);
  const isText = plain.ok && typeof plain.value === 'string';
  if (isText && PLAIN.test(text) && !/:(?: |$)/.test(text) && !NOT_TEXT_TO_ALL.test(text)) scalar.type = 'PLAIN';
  else if (!/["\\\n]/.test(text)) scalar.type = 'QUOTE_DOUBLE';
}

/** Gives each entry of `{ … }` and `[ … ]` its own line if they span lines or are too long for one. */
function openBrackets(node: unknown, text: string): void {
  if (!isMap(node) && !isSeq(node)) return;
  if (node.flow === true && node.items.length > 0) {
    const { offset, length } = spanOf(node);
    if (!text.slice(offset, offset + length).includes('\n') && flowLength(node) <= LINE_LENGTH_MAX) return;
    node.flow = false;
  }
  for (const item of node.items) openBrackets(isMap(node) ? (item as Pair).value : item, text);
}

function flowLength(node: unknown): number {
  if (isMap(node)) return node.items.reduce((sum, { key, value }) => sum + flowLength(key) + flowLength(value) + 4, 2);
  if (isSeq(node)) return node.items.reduce<number>((sum, item) => sum + flowLength(item) + 2, 2);
  if (!isScalar(node)) return 0;
  return node.type === 'PLAIN' ? textOfScalar(node).length : JSON.stringify(textOfScalar(node)).length;
}

/** Returns whether a document contains text in folded style: `>`. */
export function hasFoldedText(document: Document.Parsed): boolean {
  let found = false;
  visit(document, {
    Scalar: (_, { type }) => {
      found ||= type === 'BLOCK_FOLDED';
    },
  });
  return found;
}
