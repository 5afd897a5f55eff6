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

/** A `{ … }` or `[ … ]` that is longer gets a line for each of its entries, and a folded text is broken here. */
export const LINE_LENGTH_MAX = 100;

/** Of a document of no kind that is known. */
const ANY_DOCUMENT: SchemaNode = { type: 'object', properties: { apiVersion: {}, kind: {}, metadata: {}, spec: {} } };

/** Puts the nodes of a document in order, in place: keys, quotes, brackets, comments and blank lines. */
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
  // What stands above a whole document is about the document: the modeline must stay its first line.
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
  // What stands above the first field is about that field, and goes with it.
  if (former === undefined || !map.commentBefore) return;
  former.commentBefore = joined(map.commentBefore, former.commentBefore);
  map.commentBefore = null;
}

/** @returns the key that was the first one, if another one is now. */
function orderFields(map: YAMLMap, schema: SchemaNode): Scalar | undefined {
  const [first] = map.items;
  for (const pair of map.items) orderValue(pair, schema);
  sortPairs(map, schema);
  const [now] = map.items;
  if (isScalar(now?.key)) now.key.spaceBefore = false;
  return now !== first && isScalar(first?.key) ? first.key : undefined;
}

/** By the order of the schema. A map that takes free keys keeps the order of its author. */
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

/** One blank line within a comment is as good as many. A line that is a bare `#` is kept as the one blank that the printer makes it of. */
function tidy(comment: string | null | undefined): string | null {
  if (!comment) return null;
  const lines = comment.split('\n').map((line) => (line === '' ? '' : line.trimEnd() || ' '));
  return lines.join('\n').replace(/\n{3,}/g, '\n\n');
}

/** `spec: # note` stays on its line, and the value of a field comes to it: the parser takes it for a comment above what follows. */
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

/** Quotes go where no reader could take the text for anything else without them; the others become double quotes. */
function setQuotes(scalar: Scalar): void {
  if (scalar.type !== 'QUOTE_DOUBLE' && scalar.type !== 'QUOTE_SINGLE') return;
  const text = textOfScalar(scalar);
  const plain = readPlainScalar(text);
  const isText = plain.ok && typeof plain.value === 'string';
  if (isText && PLAIN.test(text) && !/:(?: |$)/.test(text) && !NOT_TEXT_TO_ALL.test(text)) scalar.type = 'PLAIN';
  else if (!/["\\\n]/.test(text)) scalar.type = 'QUOTE_DOUBLE';
}

/** `{ … }` and `[ … ]` that span lines, or would be too long for one, get a line for each entry. */
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

/** Whether some text of a document is in folded style: `>`. */
export function hasFoldedText(document: Document.Parsed): boolean {
  let found = false;
  visit(document, {
    Scalar: (_, { type }) => {
      found ||= type === 'BLOCK_FOLDED';
    },
  });
  return found;
}
