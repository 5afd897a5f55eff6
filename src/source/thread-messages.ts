import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import type { SourceFile } from '../manifest/text.ts';
import type { ErrorFacts } from '../model/errors.ts';
import type { CommitContents, CommitPlace, FolderContents, FolderPlace, LoadContext } from './contents.ts';

/** What the thread of a source is asked, by name, and what it answers. Answers that may be long come in pieces. */
export interface Calls {
  commit: { input: { readonly place: CommitPlace; readonly limits: SourceLimits }; output: Held<CommitContents> };
  folder: { input: { readonly place: FolderPlace; readonly limits: SourceLimits }; output: Held<FolderContents> };
  files: { input: { readonly files: readonly SourceFile[] }; output: { readonly contents: number } };
  /** One part of files that were packed. */
  part: { input: { readonly text: string }; output: undefined };
  /** The files of all parts since the last call. */
  unpack: { input: undefined; output: { readonly contents: number } };
  load: { input: { readonly contents: number; readonly context: LoadContext }; output: LoadOutput };
  pack: {
    input: { readonly contents: number; readonly known: readonly string[] };
    output: { readonly stream: number; readonly digests: readonly string[] };
  };
  /** The next piece of an answer: a JSON array, or undefined after the last. */
  next: { input: { readonly stream: number }; output: string | undefined };
}

/** What was read, and the number of the files that the thread holds. */
type Held<Read> = Omit<Read, 'contents'> & { readonly contents: number };

export interface LoadOutput {
  readonly stream: number;
  readonly snapshot: string;
  /**
   * What the pieces hold. `faulty`: problems. `amended`: resources that take the place of those with their ids in the
   * set before. `whole`: the set in its order: a resource, or the id of one that is as it was in the set before.
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
  /** Thrown on purpose. */
  | { readonly id: number; readonly type: 'error'; readonly error: ErrorFacts }
  /** A bug. */
  | { readonly id: number; readonly type: 'fault'; readonly reason: string };

/** UTF-16 code units of one piece, if no single item is longer. To parse as much takes a few ms. */
export const PIECE_LENGTH = 128 * 1024;

/** How many readings the thread holds on to: that at hand, and that which is about to take its place. */
export const CONTENTS_MAX = 2;
