import type { Output, Terminal } from './terminal.ts';

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
const MASK = '[secret]';

export function createRedaction(): Redaction {
  const spellings = new Set<string>();
  return {
    add(value) {
      if (value.length < LENGTH_MIN) return;
      const bytes = Buffer.from(value, 'utf8');
      spellings.add(value);
      spellings.add(encodeURIComponent(value));
      spellings.add(JSON.stringify(value).slice(1, -1));
      // Without the padding, which depends on where it ends.
      spellings.add(bytes.toString('base64').replace(/=+$/, ''));
      spellings.add(bytes.toString('base64url'));
    },
    redact(text) {
      let masked = text;
      for (const spelling of spellings) masked = masked.replaceAll(spelling, MASK);
      return masked;
    },
  };
}

/** The terminal, with every secret masked on its way out. */
export function redacting(terminal: Terminal, redaction: Redaction): Terminal {
  const masked = (output: Output): Output => ({ ...output, write: (text) => output.write(redaction.redact(text)) });
  return { ...terminal, out: masked(terminal.out), err: masked(terminal.err) };
}
