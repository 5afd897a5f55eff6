/** The only source of randomness, for jitter and ids. The simulator has a seeded one. */
export interface Random {
  /** Returns a number in [0, 1), uniformly distributed. */
  next(): number;
  /** Returns `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
}

export const systemRandom: Random = {
  next: () => Math.random(),
  // `crypto` is loaded at its first use, and most commands never use it.
  hex: (bytes) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex'),
};
