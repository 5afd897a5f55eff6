/** A place in a manifest or configuration file. Lines and columns count from 1. */
export interface Position {
  /** As the user named it (`-f` path and below), or `<stdin>`. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `option`: `file` is a flag or a variable (`--set prune.maxShare`), which has no lines; both numbers are 1. */
  readonly of?: 'option';
}

/** One fault in the input. All faults of a set are collected and reported together; nothing is applied with any. */
export interface Problem {
  /** Stable, `area/what`, e.g. `schema/unknown-field`, `yaml/duplicate-key`, `reference/dangling`. */
  readonly code: string;
  readonly position: Position;
  /** `Kind/name` where it is known. */
  readonly resource?: string;
  /** The path in the document, `spec.ports[1].protocol`; empty for the document as a whole. */
  readonly path: string;
  /** What is wrong, one sentence. */
  readonly message: string;
  /** What was expected in its place. */
  readonly expected?: string;
  /** What to do: `did you mean protocol?`. */
  readonly hint?: string;
  /** The line of the file, safe to show (secrets masked, long lines cut), and what to underline in it. */
  readonly excerpt?: {
    readonly line: string;
    /** Characters before the underlined part. */
    readonly caret: number;
    readonly length: number;
  };
}
