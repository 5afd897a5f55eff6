import { parseDocuments } from './documents.ts';
import { commentsOf } from './format-comments.ts';
import { decode, type SourceFile } from './text.ts';
import { readValue } from './values.ts';

/**
 * Returns in words the labels, annotations and comments that a former text has and the next one has not. Only people write
 * them, so an export lacks them; the plan compares the other fields. Empty if nothing is lost. Never throws.
 */
export function lossesBetween(former: SourceFile['content'], next: string): readonly string[] {
  const { text = '' } = decode(former);
  const kept = notesOf(next);
  const losses: string[] = [];
  for (const [resource, notes] of notesOf(text)) {
    const left = kept.get(resource);
    const gone = [...notes].filter(([note, value]) => left?.get(note) !== value).map(([note]) => note);
    if (gone.length > 0) losses.push(`${resource}: ${gone.join(', ')}`);
  }
  const remarks = new Set(commentsOf(next));
  const comments = commentsOf(text).filter((comment) => !remarks.has(comment)).length;
  if (comments > 0) losses.push(comments === 1 ? 'a comment' : `${comments} comments`);
  return losses;
}

/** Returns `annotation NAME` and `label NAME` with their values, by resource. */
function notesOf(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const all = new Map<string, ReadonlyMap<string, string>>();
  for (const { contents } of parseDocuments(text).documents) {
    const document = entriesOf(readValue(contents, undefined).value);
    const metadata = entriesOf(document.get('metadata'));
    const notes = new Map<string, string>();
    for (const [field, word] of [
      ['annotations', 'annotation'],
      ['labels', 'label'],
    ] as const)
      for (const [name, value] of entriesOf(metadata.get(field))) notes.set(`${word} ${name}`, textOf(value));
    all.set(`${textOf(document.get('kind'))}/${textOf(metadata.get('name'))}`, notes);
  }
  return all;
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : new Map();
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
