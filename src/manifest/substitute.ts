import type { Problem } from '../model/problem.ts';
import { type Fault, faultAt, FileText, type FaultWords } from './fault.ts';
import { short } from './scalars.ts';
import { didYouMean } from './suggest.ts';
import { decode } from './text.ts';

/** Names and values for `${NAME}`. Manifests cannot read the rest of the environment. */
export type Variables = ReadonlyMap<string, string>;

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
/** An escape, a well-formed reference, or the start of a malformed one. */
const REFERENCE = new RegExp(`\\$\\$\\{|\\$\\{(${NAME})\\}|\\$\\{[^}]{0,40}\\}?`, 'g');
const EXACT = new RegExp(`^\\$\\{(${NAME})\\}$`);
const LINE = new RegExp(`^[ \\t]*(?:export[ \\t]+)?(${NAME})[ \\t]*=(.*)$`);

/** Returns whether a scalar is exactly one reference, which may become a number or a boolean. */
export function isExactReference(text: string): boolean {
  return EXACT.test(text);
}

/** Replaces every `${NAME}`; `$${` becomes `${`. Values are not expanded, so they cannot refer to other variables. */
export function substitute(
  text: string,
  variables: Variables,
): { readonly text: string; readonly faults: readonly FaultWords[] } {
  const faults: FaultWords[] = [];
  const result = text.replace(REFERENCE, (match, name: string | undefined) => {
    if (match === '$${') return '${';
    if (name === undefined) {
      faults.push(malformed(match));
      return match;
    }
    const value = variables.get(name);
    if (value === undefined) faults.push(unset(name, variables));
    return value ?? match;
  });
  return { text: result, faults };
}

function malformed(match: string): FaultWords {
  const fallback = /^\$\{[A-Za-z_][A-Za-z0-9_]*[:-]/.test(match);
  return {
    code: 'substitution/malformed',
    message: `${JSON.stringify(short(match))} is not a reference to a variable`,
    expected: '${NAME}, with letters, digits and _',
    hint: fallback
      ? 'default values are not supported: give the variable a value with --var or --var-file'
      : 'write $${ for the two characters ${ themselves',
  };
}

function unset(name: string, variables: Variables): FaultWords {
  const near = didYouMean(name, variables.keys());
  const give = `set it with --var ${name}=…, --var-file or the environment variable PORTOLAN_VAR_${name}; write $\${${name}} for the text itself`;
  return {
    code: 'substitution/unset',
    message: `the variable ${name} is not set`,
    expected: 'a value for every variable that is used',
    hint: near === undefined ? give : `${near} Otherwise ${give}`,
  };
}

/**
 * Reads a variables file: `NAME=value` per line, `#` comments and empty lines; a value may be in single quotes
 * (used as it is) or double quotes (as a JSON string). Variables in values are not expanded.
 */
export function parseVariables(
  content: string | Uint8Array,
  file: string,
): { readonly variables: ReadonlyMap<string, string>; readonly problems: readonly Problem[] } {
  const { text, faults: textFaults } = decode(content);
  const variables = new Map<string, string>();
  const faults: Fault[] = [...textFaults];
  let offset = 0;
  for (const line of (text ?? '').split('\n')) {
    readLine(line.replace(/\r$/, ''), offset, variables, faults);
    offset += line.length + 1;
  }
  // Values may be secrets, so no line of this file is shown.
  const shown = new FileText(file, text ?? '', [[0, text?.length ?? 0]]);
  return { variables, problems: faults.map((fault) => shown.problem(fault)) };
}

function readLine(line: string, offset: number, variables: Map<string, string>, faults: Fault[]): void {
  if (/^[ \t]*(?:#|$)/.test(line)) return;
  const fault = (code: string, message: string, expected: string): void =>
    void faults.push(faultAt(offset, { code, message, expected }, Math.max(1, line.length)));
  const [, name, rest] = LINE.exec(line) ?? [];
  if (name === undefined || rest === undefined)
    return fault('variables/syntax', 'this line is not a variable', 'NAME=value');
  if (variables.has(name)) return fault('variables/duplicate', `${name} is set twice`, 'one line per name');
  const value = unquote(rest.trim());
  if (value !== undefined) return void variables.set(name, value);
  const message = `the value of ${name} starts with a quote that does not end it`;
  return fault('variables/syntax', message, '\'…\', "…" with JSON escapes, or no quotes');
}

function unquote(text: string): string | undefined {
  if (text.startsWith("'")) return /^'[^']*'$/.test(text) ? text.slice(1, -1) : undefined;
  if (!text.startsWith('"')) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined; // Not a JSON string: the caller reports the line.
  }
}
