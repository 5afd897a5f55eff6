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

/** The maximum columns of a comment on its own line. */
const COMMENT_COLUMNS = 110;

/**
 * Text that every version of YAML reads as text. All other text is written in quotes.
 */
const PLAIN = /^[A-Za-z/][A-Za-z0-9_./-]*$/;

/** Validators by the schema of a field, which is always the same object. */
const validators = new WeakMap<JsonObject, ValidateFunction>();

/** Returns whether a field can contain a value and a reader gets it back unchanged. */
export function isWritable(schema: JsonObject, value: Json): boolean {
  if (typeof value === 'string') {
    // The real value of a masked secret is unknown.
    if (unsafeCharacter(value) !== undefined || value.normalize('NFC') !== value || value.includes(SECRET_MASK))
      return false;
    if (escaped(value).length > LIMITS.scalarLength) return false;
  }
  // In an object, because only there a default is allowed.
  const validator = validators.get(schema) ?? compiler().compile({ type: 'object', properties: { field: schema } });
  validators.set(schema, validator);
  return validator({ field: value });
}

/**
 * Returns a document as YAML with its comments. The loader reads it back unchanged.
 * @param schema the address of its JSON Schema, for the first line; undefined: no such line.
 * @param head further paragraphs above it.
 */
export function writeManifest(
  { kind, name, spec, remarks }: ExportedDocument,
  schema: string | undefined,
  head: readonly string[] = [],
): string {
  const document = new Document({ apiVersion: API_VERSION, kind, metadata: { name }, spec });
  visit(document, {
    Map: (key, node) => {
      // Entries of lists and small maps of a spec are on one line.
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

/** Escapes `${`, which would start a variable. */
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
