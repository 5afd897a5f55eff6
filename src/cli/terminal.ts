/** One output of the process. Results go to `out`, progress and everything else to `err`. */
export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Width in characters; 80 where there is no terminal. */
  readonly columns: number;
  /** A terminal, and `NO_COLOR` is not set. */
  readonly color: boolean;
}

/** What a command knows of the terminal. Tests give one that collects text. */
export interface Terminal {
  readonly out: Output;
  readonly err: Output;
  /** Standard input. */
  input(): AsyncIterable<Uint8Array>;
  /** Asks for one line, with the question on `err`; undefined where nobody can answer. */
  ask?(question: string): Promise<string>;
}
