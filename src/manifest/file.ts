import { readDocument, type ReadDocument, type ReadingRules } from './document.ts';
import { type ParsedDocument, parseDocuments } from './documents.ts';
import { compareText, type Fault, faultAt, FileText, type Mask } from './fault.ts';
import { addressMasks, secretLineMasks } from './secrets.ts';
import { decode } from './text.ts';

/** All that one file says by itself. It does not name the file, so that equal contents can share it. */
export interface FileReading {
  readonly documents: readonly ReadDocument[];
  /** Where each document starts. */
  readonly starts: readonly { readonly line: number; readonly column: number }[];
  /** Faults of the file and of all its documents, in order. */
  readonly faults: readonly Fault[];
  readonly masks: readonly Mask[];
  /** Something of it could not be read at all, so there may be documents that nobody knows of. */
  readonly incomplete: boolean;
}

/** More than this many faults in one file have one cause, and nobody reads them. */
export const FAULTS_MAX = 100;

/**
 * Reads one file: characters, syntax, and each document by itself. Pure, and never throws, whatever the content.
 * @param amend changes documents before they are looked into, and may add some behind them.
 */
export function readFile(
  content: string | Uint8Array,
  rules: ReadingRules,
  amend: (documents: readonly ParsedDocument[]) => readonly ParsedDocument[] = (documents) => documents,
): FileReading {
  const { trust } = rules;
  const { text, faults: textFaults } = decode(content);
  if (text === undefined) return { documents: [], starts: [], faults: textFaults, masks: [], incomplete: true };
  const { documents: parsed, faults: syntaxFaults, cut } = parseDocuments(text);
  const documents = amend(parsed).map((document) => readDocument(document, rules, textFaults.length > 0));
  const faults = [...textFaults, ...syntaxFaults, ...documents.flatMap((document) => document.faults)];
  const lost = documents.find(({ content }) => content === undefined);
  // No rule above leads here. It stands guard all the same: a document that is left out in silence would be pruned.
  if (lost !== undefined && faults.length === 0) faults.push(unreadable(lost.offset));
  const lines = new FileText('', text);
  const broken = parsed.some((document) => document.broken);
  const masks = [...documents.flatMap((document) => document.masks), ...addressMasks(text, trust)];
  return {
    documents,
    starts: documents.map(({ offset }) => lines.place(offset)),
    faults: faults.length === 0 ? faults : capped(faults),
    masks: broken && trust === 'operator' ? [...masks, ...secretLineMasks(text)] : masks,
    incomplete: cut || documents.some(({ kind, name }) => kind === undefined || name === undefined),
  };
}

function unreadable(offset: number): Fault {
  const message = 'this document could not be understood, and no rule says why';
  return faultAt(offset, { code: 'document/unreadable', message, hint: 'please report this as a bug' });
}

function capped(faults: readonly Fault[]): readonly Fault[] {
  const sorted = faults.toSorted((left, right) => left.offset - right.offset || compareText(left.code, right.code));
  const rest = sorted.slice(FAULTS_MAX);
  const [first] = rest;
  if (first === undefined) return sorted;
  return [...sorted.slice(0, FAULTS_MAX), moreFaults(rest.length, first.offset)];
}

/** Stands for the faults that are not shown. */
export function moreFaults(count: number, offset: number): Fault {
  const message = `${count} more ${count === 1 ? 'fault' : 'faults'} of this file are not shown`;
  return faultAt(offset, { code: 'limit/faults', message });
}

/** The text of a file again, for positions of faults that only the whole set shows. */
export function fileText(path: string, content: string | Uint8Array, reading: FileReading): FileText {
  return new FileText(path, decode(content).text ?? '', reading.masks);
}
