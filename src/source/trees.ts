import type { EpochMs } from '../model/time.ts';

/** One entry of a tree object. */
export interface TreeEntry {
  readonly type: 'folder' | 'file' | 'link' | 'submodule';
  readonly id: string;
  /** Without `/`. */
  readonly name: string;
}

/** What a commit object says, as far as anybody needs it. */
export interface CommitObject {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly committedMs: EpochMs;
}

const TYPES: Readonly<Record<string, TreeEntry['type']>> = {
  '40000': 'folder',
  '120000': 'link',
  '160000': 'submodule',
};

/**
 * Takes a tree object apart.
 * @param content of the object, already checked against its id.
 * @param idBytes 20 for SHA-1, 32 for SHA-256.
 * @returns undefined for what no git would write: a name that is none, or that stands there twice.
 */
export function parseTree(content: Uint8Array, idBytes: number): readonly TreeEntry[] | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const entries: TreeEntry[] = [];
  const names = new Set<string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, at);
    if (space === -1 || end === -1 || space > end || end + 1 + idBytes > bytes.length) return undefined;
    const mode = bytes.toString('latin1', at, space);
    const name = bytes.toString('utf8', space + 1, end);
    // Names that are no UTF-8 may look alike once they are text.
    const exact = bytes.toString('latin1', space + 1, end);
    const id = bytes.toString('hex', end + 1, end + 1 + idBytes);
    if (!/^[0-7]{5,6}$/.test(mode) || name === '' || name.includes('/') || names.has(exact)) return undefined;
    names.add(exact);
    entries.push({ type: TYPES[mode.replace(/^0/, '')] ?? 'file', id, name });
    at = end + 1 + idBytes;
  }
  return entries;
}

/** Takes a commit object apart. @returns undefined for what no git would write. */
export function parseCommit(content: Uint8Array): CommitObject | undefined {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8');
  const header = text.slice(0, text.includes('\n\n') ? text.indexOf('\n\n') : text.length);
  const [, tree] = /^tree ([0-9a-f]+)$/m.exec(header) ?? [];
  const [, seconds] = /^committer .* ([0-9]+) [-+][0-9]{4}$/m.exec(header) ?? [];
  if (tree === undefined || !header.startsWith('tree ')) return undefined;
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id]) => id as string);
  return { tree, parents, committedMs: Number(seconds ?? 0) * 1000 };
}
