/** The value of a plain (unquoted) scalar, or its fault. */
export type PlainScalar =
  | { readonly ok: true; readonly value: string | number | boolean | null }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly expected: string };

const NULL = /^(?:|~|null|Null|NULL)$/;
const TRUE = /^(?:true|True|TRUE)$/;
const FALSE = /^(?:false|False|FALSE)$/;
const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;
/** Words that are not text in YAML 1.1, which many programs still read. */
export const NOT_TEXT_TO_ALL = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
/** Every number of the core schema of YAML 1.2. */
const NUMBER_LIKE =
  /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/**
 * Reads a plain scalar by the core schema of YAML 1.2. A number must be unambiguous: decimal, without leading zero and
 * exponent, and with no more digits than a number can represent.
 */
export function readPlainScalar(text: string): PlainScalar {
  if (NULL.test(text)) return { ok: true, value: null };
  if (TRUE.test(text)) return { ok: true, value: true };
  if (FALSE.test(text)) return { ok: true, value: false };
  if (!NUMBER_LIKE.test(text)) return { ok: true, value: text };
  if (!DECIMAL.test(text)) {
    const message = `${short(text)} is ${notationOf(text)}, which programs read differently`;
    return {
      ok: false,
      code: 'yaml/number-notation',
      message,
      expected: 'a decimal number such as 8080, or text in quotes',
    };
  }
  const value = Number(text);
  if (keepsDigits(text, value)) return { ok: true, value: value === 0 ? 0 : value };
  const message = `${short(text)} has more digits than a number can represent: it would become ${value}`;
  return {
    ok: false,
    code: 'yaml/number-digits',
    message,
    expected: 'a number of at most 15 digits, or text in quotes',
  };
}

function keepsDigits(text: string, value: number): boolean {
  if (!text.includes('.')) return Number.isSafeInteger(value);
  return String(value) === text.replace(/\.?0+$/, '').replace(/^-0$/, '0');
}

function notationOf(text: string): string {
  if (text.startsWith('0x')) return 'a hexadecimal number';
  if (text.startsWith('0o')) return 'an octal number';
  if (/inf|nan/i.test(text)) return 'not a finite number';
  if (/e/i.test(text)) return 'a number with an exponent';
  if (/^[-+]?0[0-9]/.test(text)) return 'a number with a leading zero';
  if (text.startsWith('+')) return 'a number with a plus sign';
  return 'a number without a digit on one side of its point';
}

/** Returns a value for a message, truncated if it is long. */
export function short(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}
