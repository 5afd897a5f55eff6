import { SECRET_MASK } from '../../model/secret.ts';
import { type Output, type Terminal, writingTo } from '../terminal/terminal.ts';

/**
 * Holds the secrets that this process has read, so that no output shows one: a server may repeat a token in an error
 * message, and a store its key. This is the last safeguard; no other code may rely on it.
 */
export interface Redaction {
  /** Masks a value from now on, also in its form in URLs, JSON and base64. */
  add(value: string): void;
  redact(text: string): string;
}

/** A shorter secret would mask half of every message, and can be guessed anyway. */
const LENGTH_MIN = 6;

export function createRedaction(): Redaction {
  // Longest first: if one secret is a part of another, masking it first would leave the rest visible.
  let spellings: ReadonlySet<string> = new Set();
  return {
    add(value) {
      if (value.length < LENGTH_MIN) return;
      const bytes = Buffer.from(value);
      const written = [
        value,
        encodeURIComponent(value),
        JSON.stringify(value).slice(1, -1),
        // Without the padding, which depends on the text that follows.
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

/**
 * Masks passwords in URLs of databases. Such a URL is refused, because the list of processes shows it; no message may repeat
 * the password.
 */
export function maskInlinePasswords(words: readonly string[], redaction: Redaction): void {
  for (const word of words) {
    const [, password] = /^(?:--?[a-z-]+=)?postgres(?:ql)?:\/\/[^/@:]*:(.+)@/.exec(word) ?? [];
    const [, named] = /^(?:--?[a-z-]+=)?postgres(?:ql)?:\/\/.*[?&]password=([^&]+)/.exec(word) ?? [];
    for (const found of [password, named]) if (found !== undefined) redaction.add(found);
  }
}

/** Returns the terminal with every secret masked on its way out. */
export function redacting(terminal: Terminal, redaction: Redaction): Terminal {
  const masked = (output: Output): Output => writingTo(output, (text) => output.write(redaction.redact(text)));
  return { ...terminal, out: masked(terminal.out), err: masked(terminal.err) };
}
