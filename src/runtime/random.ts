/** The only source of chance: jitter, ids. The simulator has a seeded one. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
}

export const systemRandom: Random = {
  next: () => Math.random(),
  // The global one is loaded when it is first asked for, and most commands never do.
  hex: (bytes) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex'),
};
