import { CST, Lexer, Parser } from 'yaml';
import { type Fault, faultAt } from './fault.ts';
import { LIMITS } from './limits.ts';

/** The tokens of a text, and the faults that are found before any recursive step. */
export interface Tokens {
  readonly tokens: readonly CST.Token[];
  readonly faults: readonly Fault[];
  /** The end of the tokens, if the text is nested too deep, too dense, or has too many faults. The rest was not read. */
  readonly cutAt: number | undefined;
}

/** Limits for errors. More have one cause, or are an attack. */
const ERRORS_MAX = 100;
const FAULTS_MAX = 100;
const BEFORE_EMPTY_ENTRY: ReadonlySet<string> = new Set(['[', '{', ',']);

/**
 * Runs the lexer and the stack-based parser, which do not recurse. It measures depth by the stack of the parser, and finds
 * anchors, aliases, tags and directives as tokens, anywhere in the text.
 */
export function readTokens(text: string): Tokens {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  const faults: Fault[] = [];
  let errors = 0;
  let previous = '';
  let cutAt: number | undefined;
  let lexemes = 0;
  const keep = (token: CST.Token): void => {
    // Without directives, a document is plain YAML 1.2.
    if (token.type === 'directive') faults.push(directiveFault(token));
    else if (token.type !== 'error' || (errors += 1) <= ERRORS_MAX) tokens.push(token);
  };
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser;
    const isScalarText = previous === CST.SCALAR;
    lexemes += 1;
    // The tokens so far are dropped too: to check them would cost as much again.
    if (lexemes > LIMITS.lexemes) return { tokens: [], faults: [...faults, denseFault(offset)], cutAt: offset };
    if (faults.length >= FAULTS_MAX) {
      cutAt = offset;
      break;
    }
    if (!isScalarText) {
      const fault = propertyFault(lexeme, offset);
      if (fault !== undefined) faults.push(fault);
    }
    if (lexeme === ',' && !isScalarText && BEFORE_EMPTY_ENTRY.has(previous)) {
      // Skipped, because the composer creates an error object for each, and a file may contain 250,000.
      faults.push(faultAt(offset, EMPTY_ENTRY));
      parser.offset += lexeme.length;
      continue;
    }
    if (isScalarText || !isBlank(lexeme)) previous = isScalarText ? '' : lexeme;
    for (const token of parser.next(lexeme)) keep(token);
    if (parser.stack.length > LIMITS.depth && depthOf(parser.stack) > LIMITS.depth) {
      cutAt = offset;
      faults.push(depthFault(offset));
      break;
    }
  }
  if (cutAt === undefined) for (const token of parser.end()) keep(token);
  return { tokens, faults, cutAt };
}

/** Returns whether a token is white space, a line end or a comment. */
function isBlank(lexeme: string): boolean {
  const first = lexeme[0];
  return first === ' ' || first === '\n' || first === '\r' || first === '\t' || first === '#';
}

function depthOf(stack: readonly CST.Token[]): number {
  return stack.filter(({ type }) => type === 'block-map' || type === 'block-seq' || type === 'flow-collection').length;
}

function depthFault(offset: number): Fault {
  const message = `more than ${LIMITS.depth} maps and lists are nested; the rest of the file was not read`;
  return faultAt(offset, { code: 'limit/depth', message, expected: `at most ${LIMITS.depth} levels` });
}

function denseFault(offset: number): Fault {
  return faultAt(offset, {
    code: 'limit/lexemes',
    message: `the file has more than ${LIMITS.lexemes} tokens; none of it was read`,
    expected: `at most ${LIMITS.lexemes}`,
    hint: 'split it into several files',
  });
}

const EMPTY_ENTRY = {
  code: 'yaml/syntax',
  message: 'there is no value before this comma',
  expected: 'a value between [ or { and a comma, and between two commas',
};

function directiveFault({ offset, source }: CST.Directive): Fault {
  const message = `the directive ${JSON.stringify(source.slice(0, 40))} is not allowed: it changes how the document reads`;
  const words = { code: 'yaml/directive', message, expected: 'plain YAML 1.2', hint: 'delete the line' };
  return faultAt(offset, words, source.length);
}

interface Property {
  readonly name: string;
  readonly expected: string;
  hint(text: string): string;
}

/** Properties of a value that are not allowed, by their first character. */
const PROPERTIES: Readonly<Record<string, Property>> = {
  '&': {
    name: 'anchor',
    expected: 'each value written where it is used',
    hint: (text) => `delete ${text}; use a variable \${NAME} for a value that is used in several places`,
  },
  '*': {
    name: 'alias',
    expected: 'each value written where it is used',
    hint: (text) => `write the value itself; if you meant the text ${text}, put it in quotes`,
  },
  '!': {
    name: 'tag',
    expected: 'a value without a tag',
    hint: (text) => `delete ${text}; put a value in quotes to make it text`,
  },
};

function propertyFault(lexeme: string, offset: number): Fault | undefined {
  const property = PROPERTIES[lexeme.charAt(0)];
  if (property === undefined) return undefined;
  const { name, expected, hint } = property;
  const text = lexeme.slice(0, 40);
  const message = `the ${name} ${text} is not allowed`;
  return faultAt(offset, { code: `yaml/${name}`, message, expected, hint: hint(text) }, lexeme.length);
}
