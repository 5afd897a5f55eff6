/** What YAML has where a workflow wants text. */
export type Scalar = string | number | boolean;

/** Values that expressions of a workflow may name, as the forge would have them. */
export type Context = Readonly<Record<string, unknown>>;

const TOKEN =
  /\s*(?:(?<text>'(?:[^']|'')*')|(?<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_*][\w-]*)*)|(?<sign>==|!=|&&|\|\||[!()]))/y;

/** Evaluates what stands between `${{` and `}}`: the part of GitHub's language that our files use, and a fault for more. */
export function evaluate(expression: string, context: Context): unknown {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(expression);
    if (match === null) throw new Error(`an expression that is not understood: ${expression.slice(at)}`);
    tokens.push(match[0].trim());
  }
  const next = (): string => tokens.shift() ?? '';
  const primary = (): unknown => {
    const token = next();
    if (token === '!') return !truth(primary());
    if (token === '(') {
      const value = either();
      next();
      return value;
    }
    if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
    if (tokens[0] === '(') {
      tokens.splice(0, 2);
      return (context[token] as () => unknown)();
    }
    if (token === 'true' || token === 'false') return token === 'true';
    return token.split('.').reduce<unknown>((value, key) => (value as Context | undefined)?.[key], context) ?? '';
  };
  const equal = (): unknown => {
    const left = primary();
    if (tokens[0] !== '==' && tokens[0] !== '!=') return left;
    const isEqual = next() === '==';
    return (String(left) === String(primary())) === isEqual;
  };
  const both = (): unknown => {
    let value = equal();
    while (tokens[0] === '&&') {
      next();
      const right = equal();
      value = truth(value) ? right : value;
    }
    return value;
  };
  const either = (): unknown => {
    let value = both();
    while (tokens[0] === '||') {
      next();
      const right = both();
      value = truth(value) ? value : right;
    }
    return value;
  };
  const value = either();
  if (tokens.length > 0) throw new Error(`an expression that is not understood: ${expression}`);
  return value;
}

export function truth(value: unknown): boolean {
  return value !== '' && value !== false && value !== undefined && value !== null && value !== 0;
}

/** Text with its expressions replaced. */
export function interpolate(text: Scalar, context: Context): string {
  return String(text).replace(/\$\{\{(.*?)\}\}/gs, (_all, expression: string) => String(evaluate(expression, context)));
}

/** `if:`, which stands for `success() && …` unless it asks how things went itself. */
export function isMet(condition: Scalar | undefined, context: Context): boolean {
  const text = condition === undefined ? 'success()' : String(condition).replace(/^\s*\$\{\{(.*)\}\}\s*$/s, '$1');
  const asks = /\b(?:success|failure|cancelled|always)\(\)/.test(text);
  return truth(evaluate(asks ? text : `success() && (${text})`, context));
}
