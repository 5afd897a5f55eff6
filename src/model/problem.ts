import { count, objectOf, text, type TypeOf } from './schema-words.ts';

const position = objectOf('Lines and columns count from 1.', {
  // As the user named it (`-f` path and below), or `<stdin>`.
  file: text,
  line: count,
  column: count,
});
/** A place in a manifest or configuration file. */
export type Position = TypeOf<typeof position> & {
  /** `option`: `file` is a flag or a variable (`--set prune.maxShare`), which has no lines; both numbers are 1. */
  readonly of?: 'option';
};

export const manifestProblemSchema = objectOf('A fault in a manifest, with its place.', {
  // Stable, `area/what`, e.g. `schema/unknown-field`, `yaml/duplicate-key`, `reference/dangling`.
  code: text,
  position,
  // `Kind/name` where it is known.
  'resource?': text,
  // The path in the document, `spec.ports[1].protocol`; empty for the document as a whole.
  path: text,
  // What is wrong, one sentence.
  message: text,
  // What was expected in its place.
  'expected?': text,
  // What to do: `did you mean protocol?`.
  'hint?': text,
  // The line of the file, safe to show (secrets masked, long lines cut); `caret` characters stand before the underlined part.
  'excerpt?': objectOf('The line, and what to underline in it.', { line: text, caret: count, length: count }),
});
/** One fault in the input. All faults of a set are collected and reported together; nothing is applied with any. */
export type Problem = Omit<TypeOf<typeof manifestProblemSchema>, 'position'> & { readonly position: Position };
