/** What one file, one document and one source may be at most. Checked before the costly step that each protects. */
export const LIMITS = {
  fileBytes: 256 * 1024,
  files: 100_000,
  totalBytes: 256 * 1024 * 1024,
  /**
   * Words, signs, blanks and line ends of one file, as YAML counts them. Real manifests have one to every three or four
   * bytes; a file of nothing else would take a hundred times its size in memory.
   */
  lexemes: 80_000,
  /** Maps and lists within each other. */
  depth: 32,
  keysPerMap: 5_000,
  /** UTF-16 code units of one scalar, before and after substitution. */
  scalarLength: 64 * 1024,
  /** UTF-16 code units that variables put into one document. A few variables could stand in it fifty thousand times. */
  substitutedLength: 1024 * 1024,
  /** Faults of one source that are kept. After so many no further file is read. */
  problems: 1_000,
  /** UTF-16 code units of each text of a fault: its path, message, what was expected and the hint. */
  problemTextLength: 1_000,
} as const;
