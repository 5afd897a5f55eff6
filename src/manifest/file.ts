import { compact } from './compact.ts';
import { readDocument, type ReadDocument, type ReadingRules } from './document.ts';
import { type ParsedDocument, parseDocuments } from './documents.ts';
import { type Fault, faultAt, FileText, type Mask } from './fault.ts';
import { addressMasks, secretLineMasks } from './secrets.ts';
import { nearest } from './suggest.ts';
import { decode } from './text.ts';
import { compareText } from '../model/text.ts';
import type { UnreadPart } from './unread.ts';

/** The content of one file, read by itself. It does not contain the path, so that files with equal content can share it. */
export interface FileReading {
  readonly documents: readonly Omit<ReadDocument, 'offset'>[];
  /** The start of each document. */
  readonly starts: readonly Place[];
  /** Faults of the file and of all its documents, in order. */
  readonly faults: readonly Fault[];
  readonly masks: readonly Mask[];
  /** Parts of the file that may be documents of a kind or a name that is not known; `all`: nothing of it was read. */
  readonly unread: readonly UnreadRange[] | 'all';
}

/** The start of a document. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Offsets of a part of the text, with the facts that are known of its document. */
export interface UnreadRange extends Pick<UnreadPart, 'kind' | 'name'> {
  readonly from: number;
  readonly to: number;
}

/** The number of reported faults of one file. More usually have one cause. */
export const FAULTS_MAX = 100;

/**
 * Reads one file: characters, syntax, and each document without the others. Pure, and never throws.
 * @param amend changes documents before they are validated, and may append some.
 */
export function readFile(
  content: string | Uint8Array,
  rules: ReadingRules,
  amend: (documents: readonly ParsedDocument[]) => readonly ParsedDocument[] = (documents) => documents,
): FileReading {
  const { trust } = rules;
  const { text, faults: textFaults } = decode(content);
  if (text === undefined) return { documents: [], starts: [], faults: textFaults, masks: [], unread: 'all' };
  const { documents: parsed, faults: syntaxFaults, cutAt } = parseDocuments(text);
  const documents = amend(parsed).map((document) => readDocument(document, rules, textFaults.length > 0));
  const faults = [...textFaults, ...syntaxFaults, ...documents.flatMap((document) => document.faults)];
  const lost = documents.find(({ content }) => content === undefined);
  // No rule above leads here. This is a safeguard: the resources of a silently omitted document would be pruned.
  if (lost !== undefined && faults.length === 0) faults.push(unreadable(lost.offset));
  const lines = new FileText('', text);
  const broken = parsed.some((document) => document.broken);
  const masks = [...documents.flatMap((document) => document.masks), ...addressMasks(text, trust)];
  return {
    documents: documents.map(withoutRoom),
    starts: documents.map(({ offset }) => lines.place(offset)),
    faults: compact(capped(faults)),
    masks: compact(broken && trust === 'operator' ? [...masks, ...secretLineMasks(text)] : masks),
    unread: compact(unreadRanges(documents, rules.kinds, text.length, cutAt)),
  };
}

function withoutRoom({ offset: _, ...document }: ReadDocument): Omit<ReadDocument, 'offset'> {
  const { references, faults, masks } = document;
  return { ...document, references: compact(references), faults: compact(faults), masks: compact(masks) };
}

function unreadRanges(
  documents: readonly ReadDocument[],
  kinds: ReadingRules['kinds'],
  end: number,
  cutAt: number | undefined,
): readonly UnreadRange[] {
  const unread = documents.flatMap(({ kind, name, offset }, at): readonly UnreadRange[] => {
    const meant = kind === undefined ? undefined : kinds.has(kind) ? kind : nearest(kind, kinds.keys());
    // A document of another format declares nothing, and one with kind and name is known.
    if (kind !== undefined && (meant === undefined || (meant === kind && name !== undefined))) return [];
    return [{ kind: meant, name, from: offset, to: documents[at + 1]?.offset ?? end }];
  });
  // The last document that was read may continue after the cut.
  const from = Math.min(cutAt ?? end, documents.at(-1)?.offset ?? 0);
  return cutAt === undefined ? unread : [...unread, { kind: undefined, name: undefined, from, to: end }];
}

function unreadable(offset: number): Fault {
  const message = 'this document cannot be read, for an unknown reason';
  return faultAt(offset, { code: 'document/unreadable', message, hint: 'please report this as a bug' });
}

function capped(faults: readonly Fault[]): readonly Fault[] {
  const sorted = faults.toSorted((left, right) => left.offset - right.offset || compareText(left.code, right.code));
  const rest = sorted.slice(FAULTS_MAX);
  const [first] = rest;
  if (first === undefined) return sorted;
  return [...sorted.slice(0, FAULTS_MAX), moreFaults(rest.length, first.offset)];
}

/** Returns a fault for those that are not shown. */
export function moreFaults(count: number, offset: number): Fault {
  const message = `${count} more ${count === 1 ? 'fault of this file is' : 'faults of this file are'} not shown`;
  return faultAt(offset, { code: 'limit/faults', message });
}

/** Returns the text of a file for the positions of faults across documents. */
export function fileText(path: string, content: string | Uint8Array, reading: FileReading): FileText {
  return new FileText(path, decode(content).text ?? '', reading.masks);
}
