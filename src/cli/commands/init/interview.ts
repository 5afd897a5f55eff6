import { didYouMean } from '../../../manifest/suggest.ts';
import { PortolanError } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { renderTable } from '../../terminal/table.ts';

/** A wrong answer that comes so often is no slip of the finger. */
const TRIES_MAX = 5;

/** More than a screen of choices helps nobody. */
const SHOWN_MAX = 30;

/** What an answer comes to, or what is wrong with it. */
export type Reading<T> = { readonly value: T } | { readonly fault: string };

/** What a person types to return to the question before, and what `ask` answers then. */
const BACK_SIGN = '<';
export const BACK = Symbol('back');
export type Back = typeof BACK;

/** Something that can be chosen: what is typed for it, and what is shown beside it. */
export interface Choice {
  readonly word: string;
  readonly about: string;
}

/** Asks one question after the other on a terminal. */
export interface Interview {
  /**
   * Asks until the answer can be read.
   * @param fallback what an empty answer means; undefined: there must be one.
   * @returns the reading, or `BACK` for `<`.
   * @throws PortolanError `invalid` after five answers that cannot.
   */
  ask<T>(question: string, fallback: string | undefined, read: (text: string) => Reading<T>): Promise<T | Back>;
  /** Shows what there is, and asks for one of it. An empty answer is the first. */
  choose(question: string, choices: readonly Choice[]): Promise<string | Back>;
  say(line: string): void;
}

/** @returns undefined where nobody can answer. */
export function interviewOn({ ask, err }: Terminal): Interview | undefined {
  if (ask === undefined) return undefined;
  const say = (line: string): void => err.write(`${line}\n`);
  const interview: Interview = {
    say,
    async ask(question, fallback, read) {
      for (let left = TRIES_MAX; left > 0; left -= 1) {
        const shown = fallback === undefined ? '' : ` [${safeLine(fallback)}]`;
        const answer = (await ask(`${question}${shown}: `)).trim();
        if (answer === BACK_SIGN) return BACK;
        const reading = read(answer === '' ? (fallback ?? '') : answer);
        if ('value' in reading) return reading.value;
        say(`  ${safeLine(reading.fault)}`);
      }
      throw new PortolanError({
        code: 'cli/no-answer',
        disposition: 'invalid',
        message: `There were ${TRIES_MAX} answers that cannot be used. Nothing was written.`,
        remedy: 'Run the command again, or pass the answers as flags (--help names them).',
      });
    },
    async choose(question, choices) {
      const rows = choices.slice(0, SHOWN_MAX).map(({ word, about }) => [word, about]);
      const [, ...lines] = renderTable(['', ''], rows).trimEnd().split('\n');
      for (const line of lines) say(`  ${line}`);
      if (choices.length > SHOWN_MAX) say(`  … and ${choices.length - SHOWN_MAX} more`);
      const words = choices.map(({ word }) => word);
      return interview.ask(question, words[0], (text) => {
        if (words.includes(text)) return { value: text };
        return { fault: `there is none called so. ${didYouMean(text, words) ?? 'Type one of the words above.'}` };
      });
    },
  };
  return interview;
}
