/**
 * The name of a state of the source: `main@sha1:<id>`, `main@sha256:<id>` in a repository of SHA-256, or `files@sha256:<digest>` for
 * plain files, which have no commit.
 */

/** Digits of a commit or digest in texts for people. */
export const SHORT_LENGTH = 12;

const SHORTENED = new RegExp(`@sha(?:1|256):([0-9a-f]{${SHORT_LENGTH}})[0-9a-f]*$`);

/** Returns the commit of a revision; `undefined` for plain files. */
export function commitOf(revision: string | null): string | undefined {
  if (revision?.startsWith('files@sha256:') === true) return undefined;
  return /@sha(?:1:([0-9a-f]{40})|256:([0-9a-f]{64}))$/
    .exec(revision ?? '')
    ?.slice(1)
    .find(Boolean);
}

/** Returns `main@5a2e33990000` for `main@sha1:<id>`. */
export function shortRevision(revision: string): string {
  return revision.replace(SHORTENED, '@$1');
}
