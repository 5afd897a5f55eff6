import { randomBytes } from 'node:crypto';

/** The only source of chance: jitter, ids. The simulator has a seeded one. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
}

export const systemRandom: Random = {
  next: () => Math.random(),
  hex: (bytes) => randomBytes(bytes).toString('hex'),
};
