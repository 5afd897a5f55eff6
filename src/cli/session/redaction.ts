import { SECRET_MASK } from '../../model/secret.ts';
import { type Output, type Terminal, writingTo } from '../terminal/terminal.ts';

/**
 * Secrets that this process has read, so that no output shows one: a server may echo a token in an error message, and a
 * store its key. This is the last net; nothing may count on it.
 */
export interface Redaction {
  /** Masks a value from now on, as it is and as it is written in URLs, JSON and base64. */
  add(value: string): void;
  redact(text: string): string;
}

/** Shorter ones would mask half of every message, and can be guessed anyway. */
const LENGTH_MIN = 6;

export function createRedaction(): Redaction {
  // The longest first: one secret may be a part of another, and masked by itself it would leave the rest to be seen.
  let spellings: ReadonlySet<string> = new Set();
  return {
    add(value) {
      if (value.length < LENGTH_MIN) return;
      const bytes = Buffer.from(value);
      const written = [
        value,
        encodeURIComponent(value),
        JSON.stringify(value).slice(1, -1),
        // Without the padding, which depends on where it ends.
        bytes.toString('base64').replaceAll('=', ''),
        bytes.toString('base64url'),
      ];
      spellings = new Set([...spellings, ...written].sort((left, right) => right.length - left.length));
    },
    redact(text) {
      let masked = text;
      for (const spelling of spellings) masked = masked.replaceAll(spelling, SECRET_MASK);
      return masked;
    },
  };
}

/** The terminal, with every secret masked on its way out. */
export function redacting(terminal: Terminal, redaction: Redaction): Terminal {
  const masked = (output: Output): Output => writingTo(output, (text) => output.write(redaction.redact(text)));
  return { ...terminal, out: masked(terminal.out), err: masked(terminal.err) };
}
