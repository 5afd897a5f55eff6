import type { ParseResult } from '@marcbachmann/cel-js';
import { safeLine } from '../model/text.ts';
import { environmentOf } from './cel-types.ts';
import type { PolicySpec } from './spec.ts';

export type Compiled =
  | { readonly type: 'sound'; readonly evaluate: (variables: Readonly<Record<string, unknown>>) => unknown }
  | {
      readonly type: 'faulty';
      readonly reason: string;
      /** Offset of the fault in the expression; undefined: the whole expression. */
      readonly at: number | undefined;
    };

/** Errors of the library have these, beside a message with the whole expression. */
interface CelFault {
  readonly summary?: string;
  readonly range?: { readonly start: number };
}

/** Compiles an expression and checks its types: it must be a boolean. Never throws. */
export function compile({ subject, expression }: Pick<PolicySpec, 'subject' | 'expression'>): Compiled {
  let parsed: ParseResult;
  try {
    parsed = environmentOf(subject).parse(expression);
  } catch (error) {
    return faulty(error);
  }
  const { valid, error, type } = parsed.check();
  if (!valid) return faulty(error);
  if (type !== 'bool' && type !== 'dyn')
    return { type: 'faulty', reason: `it returns a value of type ${type}, not a bool`, at: undefined };
  return { type: 'sound', evaluate: (variables) => parsed(variables) as unknown };
}

function faulty(error: unknown): Compiled {
  return { type: 'faulty', reason: reasonOf(error), at: (error as CelFault).range?.start };
}

/** Limit of a reason: it may quote a value of a manifest, of any length. */
const REASON_LENGTH_MAX = 300;

/** Returns the reason of a failed compilation or evaluation, on one line. */
export function reasonOf(error: unknown): string {
  const { summary } = error as CelFault;
  const reason = summary ?? (error instanceof Error ? error.message : String(error));
  return safeLine((reason.split('\n', 1)[0] ?? '').slice(0, REASON_LENGTH_MAX));
}
