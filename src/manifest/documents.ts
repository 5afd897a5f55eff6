import { Composer, isScalar, type Document } from 'yaml';
import type { Fault } from './fault.ts';
import { syntaxFaults } from './syntax.ts';
import { readTokens } from './tokens.ts';

/** One YAML document of a file, as nodes. */
export interface ParsedDocument {
  readonly contents: unknown;
  /** The start of its content. */
  readonly offset: number;
  readonly faults: readonly Fault[];
  /** Whether its structure is unreliable: a schema would only report consequences of a syntax error. */
  readonly broken: boolean;
}

/** The failsafe schema: every scalar stays text, and `values.ts` decides its meaning. No tag is resolved. */
export const COMPOSING = {
  version: '1.2',
  schema: 'failsafe',
  resolveKnownTags: false,
  merge: false,
  uniqueKeys: false,
  strict: true,
  logLevel: 'silent',
} as const;

/** Returns the documents of a text in order, without empty ones. Never throws. */
export function parseDocuments(text: string): {
  readonly documents: readonly ParsedDocument[];
  readonly faults: readonly Fault[];
  /** The offset from which the text was not read; undefined: it was read to its end. */
  readonly cutAt: number | undefined;
} {
  const { tokens, faults, cutAt } = readTokens(text);
  const composer = new Composer(COMPOSING);
  const documents = withoutStackTraces(() =>
    [...composer.compose(tokens, false, cutAt ?? text.length)].flatMap(
      (document) => readDocument(document, text) ?? [],
    ),
  );
  return { documents, faults, cutAt };
}

/** Runs `work` without stack traces: the composer creates an error object for each fault, of which a hostile file has 100,000. */
function withoutStackTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function readDocument(document: Document.Parsed, text: string): ParsedDocument | undefined {
  const { contents } = document;
  const faults = syntaxFaults(document, text);
  const empty = contents === null || (isScalar(contents) && contents.source === '');
  if (empty && faults.length === 0) return undefined;
  return {
    contents,
    offset: contents?.range[0] ?? document.range[0],
    faults,
    broken: faults.length > 0,
  };
}
