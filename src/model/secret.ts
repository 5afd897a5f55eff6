/** The text that replaces a secret in output, and in text that a server echoed. */
export const SECRET_MASK = '[secret]';

/**
 * A value that must never be shown. Every ordinary conversion to text (template, JSON, `util.inspect`) returns `[secret]`;
 * only `reveal` returns the value, and only `platform/` calls it, when it sends a request.
 */
export class Secret {
  readonly #value: string;
  /** The origin, for messages: `env PORTOLAN_TOKEN`, `file /run/secrets/token`. Never the value. */
  readonly origin: string;

  constructor(value: string, origin: string) {
    this.#value = value;
    this.origin = origin;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return SECRET_MASK;
  }

  toJSON(): string {
    return SECRET_MASK;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `[secret from ${this.origin}]`;
  }
}
