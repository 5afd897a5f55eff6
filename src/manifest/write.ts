import type { ValidateFunction } from 'ajv/dist/2020.js';
import { Document, isMap, isScalar, isSeq, type Node, type Scalar, visit } from 'yaml';
import type { ExportedDocument } from '../kinds/export.ts';
import { API_VERSION } from '../kinds/schema.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { SECRET_MASK } from '../model/secret.ts';
import { safeLine } from '../model/text.ts';
import { compiler } from './compiler.ts';
import { LIMITS } from './limits.ts';
import { NOT_TEXT_TO_ALL } from './scalars.ts';
import { unsafeCharacter, withoutUnsafe } from './text.ts';

/** Columns of a comment that has a line to itself. */
const COMMENT_COLUMNS = 110;

/**
 * Text that no reader of YAML, old or new, takes for anything else than text; whatever is not surely of that kind is
 * written in quotes.
 */
const PLAIN = /^[A-Za-z/][A-Za-z0-9_./-]*$/;

/** By the schema of a field, which is always the same object. */
const validators = new WeakMap<JsonObject, ValidateFunction>();

/** Whether a field can hold the value and gives it back as it is: no other form, no character that no file may have. */
export function isWritable(schema: JsonObject, value: Json): boolean {
  if (typeof value === 'string') {
    // Where a secret was masked, nobody knows what is really there.
    if (unsafeCharacter(value) !== undefined || value.normalize('NFC') !== value || value.includes(SECRET_MASK))
      return false;
    if (escaped(value).length > LIMITS.scalarLength) return false;
  }
  // Within an object, where a default is allowed.
  const validator = validators.get(schema) ?? compiler().compile({ type: 'object', properties: { field: schema } });
  validators.set(schema, validator);
  return validator({ field: value });
}

/**
 * A document as YAML that the loader reads back as it is, with its comments.
 * @param schema where its JSON Schema is, for the first line; undefined: no such line.
 * @param head what else is said above it: a paragraph each.
 */
export function writeManifest(
  { kind, name, spec, remarks }: ExportedDocument,
  schema: string | undefined,
  head: readonly string[] = [],
): string {
  const document = new Document({ apiVersion: API_VERSION, kind, metadata: { name }, spec });
  visit(document, {
    Map: (key, node) => {
      // Entries of lists and the small maps of a spec are read best on one line.
      if (key !== null && node.items.every(({ value }) => isScalar(value)) && !isOutermost(node)) node.flow = true;
    },
    Scalar: (key, node) => {
      if (key !== 'key') quote(node);
    },
  });
  for (const { at, text } of remarks) {
    const node = at.length === 0 ? undefined : document.getIn(at, true);
    if (isScalar(node) || isMap(node) || isSeq(node)) (node as Node).comment = ` ${oneLine(text)}`;
  }
  const own = remarks.filter(({ at }) => at.length === 0).map(({ text }) => text);
  const comments = [
    ...(schema === undefined ? [] : [`# yaml-language-server: $schema=${oneLine(schema)}`]),
    ...[...head, ...own].flatMap(wrapped),
  ];
  return `${comments.map((line) => `${line}\n`).join('')}${document.toString({ lineWidth: 0 })}`;

  function isOutermost(node: unknown): boolean {
    return node === document.get('spec', true) || node === document.get('metadata', true);
  }
}

/** `${` would be a variable. */
function escaped(text: string): string {
  return text.replaceAll('${', '$$${');
}

function quote(node: Scalar): void {
  if (typeof node.value !== 'string') return;
  node.value = escaped(node.value);
  const isPlain = PLAIN.test(node.value as string) && !NOT_TEXT_TO_ALL.test(node.value as string);
  node.type = isPlain ? 'PLAIN' : 'QUOTE_DOUBLE';
}

function oneLine(text: string): string {
  return withoutUnsafe(safeLine(text));
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of oneLine(text).split(' ')) {
    if (line.length > 1 && line.length + word.length >= COMMENT_COLUMNS) {
      lines.push(line);
      line = '#  ';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
