import { count, described, literal, objectOf, text, type TypeOf } from './schema-words.ts';

export const positionSchema = objectOf('Lines and columns count from 1.', {
  // The path as the user wrote it (`-f`), or `<stdin>`.
  file: text,
  line: count,
  column: count,
});
/** A position in a manifest or configuration file. */
export type Position = TypeOf<typeof positionSchema> & {
  /** `option`: `file` is a flag or a variable (`--set prune.maxShare`), which has no lines; both numbers are 1. */
  readonly of?: 'option';
};

export const manifestProblemSchema = objectOf('A fault in a manifest, with its place.', {
  // A warning does not make a source invalid.
  'severity?': described(literal('warning'), 'Absent: an error.'),
  // Stable, `area/what`, e.g. `schema/unknown-field`, `yaml/duplicate-key`, `reference/dangling`.
  code: text,
  position: positionSchema,
  // `Kind/name`, where it is known.
  'resource?': text,
  // The path in the document, `spec.ports[1].protocol`; empty for the document as a whole.
  path: text,
  // The fault, in one sentence.
  message: text,
  // The expected value.
  'expected?': text,
  // The remedy: `did you mean protocol?`.
  'hint?': text,
  // The line of the file, safe to show (with masked secrets, truncated); `caret` characters precede the underlined part.
  'excerpt?': objectOf('The line, and what to underline in it.', { line: text, caret: count, length: count }),
});
/** One fault of the input. All faults of a source are reported together, and nothing is applied as long as there is one. */
export type Problem = Omit<TypeOf<typeof manifestProblemSchema>, 'position'> & { readonly position: Position };
