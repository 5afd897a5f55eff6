/** What stands in a secret's place, wherever text could show one: in output, and in what a server echoed. */
export const SECRET_MASK = '[secret]';

/**
 * A value that must never be seen. Every ordinary way of turning it into text (template, JSON, `util.inspect`) gives
 * `[secret]`; only `reveal` gives the value, and only `platform/` calls it, when a request is put on the wire.
 */
export class Secret {
  readonly #value: string;
  /** Where it came from, for messages: `env PORTOLAN_TOKEN`, `file /run/secrets/token`. Never the value. */
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
