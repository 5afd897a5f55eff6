import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import type { PolicyQuestion, PolicyResult } from '../policies/spec.ts';
import type { SourceFile } from '../manifest/text.ts';
import type { ErrorFacts } from '../model/errors.ts';
import type { CommitContents, CommitPlace, FolderContents, FolderPlace, LoadContext } from './contents.ts';

/** Calls to the thread of a source, with input and output. Answers that may be long come in pieces. */
export interface Calls {
  commit: { input: { readonly place: CommitPlace; readonly limits: SourceLimits }; output: Held<CommitContents> };
  folder: { input: { readonly place: FolderPlace; readonly limits: SourceLimits }; output: Held<FolderContents> };
  files: { input: { readonly files: readonly SourceFile[] }; output: { readonly contents: number } };
  /** Starts a list of packed parts. Drops the one before: if it was not unpacked, reading its parts failed. */
  parts: { input: undefined; output: { readonly parts: number } };
  /** Adds one part of packed files to a list. */
  part: { input: { readonly parts: number; readonly text: string }; output: undefined };
  /** Restores the files of a list of parts. */
  unpack: { input: { readonly parts: number }; output: { readonly contents: number } };
  load: { input: { readonly contents: number; readonly context: LoadContext }; output: LoadOutput };
  judge: { input: PolicyQuestion; output: readonly PolicyResult[] };
  pack: {
    input: { readonly contents: number; readonly known: readonly string[] };
    output: { readonly stream: Stream; readonly digests: readonly string[] };
  };
  /** Returns the next piece of an answer. */
  next: { input: { readonly rest: number }; output: Stream };
}

/** The result of a reading, with the number of the files in the thread. */
type Held<Read> = Omit<Read, 'contents'> & { readonly contents: number };

/** A part of an answer that may be long. The event loop can do other work between two parts. */
export interface Stream {
  /** A JSON array; undefined: the answer is empty. */
  readonly piece: string | undefined;
  /** The number of the rest; undefined: this was the last piece. Most answers have one piece and need no second call. */
  readonly rest: number | undefined;
}

export interface LoadOutput {
  readonly stream: Stream;
  readonly snapshot: string;
  /**
   * The content of the pieces. `faulty`: problems. `amended`: resources that replace those with the same ids in the previous set.
   * `whole`: the set in its order, each entry a resource, or the id of one that did not change since the previous set.
   */
  readonly type: 'faulty' | 'amended' | 'whole';
}

export type CallName = keyof Calls;

export interface Question {
  readonly id: number;
  readonly call: CallName;
  readonly input: unknown;
}

export type Reply =
  | { readonly id: number; readonly type: 'answer'; readonly output: unknown }
  /** A PortolanError. */
  | { readonly id: number; readonly type: 'error'; readonly error: ErrorFacts }
  /** A bug. */
  | { readonly id: number; readonly type: 'fault'; readonly reason: string };

/** UTF-16 code units of one piece, unless a single item is longer. Parsing a piece takes a few milliseconds. */
export const PIECE_LENGTH = 128 * 1024;

/** Number of readings that the thread keeps: the present one and its successor. */
export const CONTENTS_MAX = 2;
