/** The limits of one file, one document and one source. Each is checked before the expensive step that it protects. */
export const LIMITS = {
  fileBytes: 256 * 1024,
  files: 100_000,
  totalBytes: 256 * 1024 * 1024,
  /**
   * Tokens of one file as the lexer of YAML counts them. Real manifests have one for every three or four bytes. A file with one
   * for each byte would take a hundred times its size in memory.
   */
  lexemes: 80_000,
  /** Nested maps and lists. */
  depth: 32,
  keysPerMap: 5_000,
  /** UTF-16 code units of one scalar, before and after substitution. */
  scalarLength: 64 * 1024,
  /** UTF-16 code units that variables insert into one document, which could use a few variables fifty thousand times. */
  substitutedLength: 1024 * 1024,
  /** Stored faults of one source. After so many, no further file is read. */
  problems: 1_000,
  /** UTF-16 code units of each text of a fault: path, message, expected value and hint. */
  problemTextLength: 1_000,
} as const;
