import { stringify } from 'yaml';

/**
 * Renders the little of Helm's language that our chart uses: values, pipelines of a few functions, `if` with
 * `else`, and white space control. Anything else is an error, so that the chart stays this simple; Helm itself has the last word.
 * @throws Error naming what it does not know.
 */
export function renderTemplate(template: string, context: Readonly<Record<string, unknown>>): string {
  const parts = tokens(template);
  const [text, rest] = block(parts, context);
  if (rest.length > 0) throw new Error(`{{ ${rest[0]?.text} }} closes nothing`);
  return text;
}

interface Token {
  readonly type: 'text' | 'action';
  readonly text: string;
}

function tokens(template: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  for (const match of template.matchAll(/(\{\{-?)\s*([^]*?)\s*(-?\}\})/g)) {
    let before = template.slice(at, match.index);
    if (match[1] === '{{-') before = before.trimEnd();
    found.push({ type: 'text', text: before }, { type: 'action', text: match[2] ?? '' });
    at = match.index + match[0].length;
    if (match[3] === '-}}') while (/\s/.test(template[at] ?? '')) at += 1;
  }
  return [...found, { type: 'text', text: template.slice(at) }];
}

function block(parts: readonly Token[], context: Readonly<Record<string, unknown>>): [string, readonly Token[]] {
  let text = '';
  let rest = parts;
  for (let next = rest[0]; next !== undefined; next = rest[0]) {
    if (next.type === 'text') {
      text += next.text;
      rest = rest.slice(1);
    } else if (next.text === 'end' || next.text === 'else') {
      return [text, rest];
    } else if (next.text.startsWith('if ')) {
      const isChosen = isTrue(evaluate(next.text.slice(3), context));
      let [inner, after] = block(rest.slice(1), context);
      if (isChosen) text += inner;
      if (after[0]?.text === 'else') {
        [inner, after] = block(after.slice(1), context);
        if (!isChosen) text += inner;
      }
      if (after[0]?.text !== 'end') throw new Error(`{{ ${next.text} }} has no end`);
      rest = after.slice(1);
    } else {
      const value = evaluate(next.text, context);
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
        throw new Error(`{{ ${next.text} }} is no plain value: toYaml is missing`);
      text += String(value);
      rest = rest.slice(1);
    }
  }
  return [text, rest];
}

function isTrue(value: unknown): boolean {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return !(isEmpty || value === undefined || value === null || value === '' || value === 0 || value === false);
}

function evaluate(pipeline: string, context: Readonly<Record<string, unknown>>): unknown {
  let value: unknown;
  for (const [index, stage] of pipeline.split('|').entries()) {
    const words = [...stage.matchAll(/"[^"]*"|\S+/g)].map(([word]) => word);
    const [head = ''] = words;
    const args = words.slice(1).map((word) => operand(word, context));
    if (index > 0) args.push(value);
    value = index === 0 && words.length === 1 ? operand(head, context) : call(head, args);
  }
  return value;
}

function operand(word: string, context: Readonly<Record<string, unknown>>): unknown {
  if (word.startsWith('"')) return word.slice(1, -1);
  if (/^\d+$/.test(word)) return Number(word);
  if (!/^(?:\.[A-Za-z]+)+$/.test(word)) throw new Error(`the renderer of these tests does not know ${word}`);
  let value: unknown = context;
  for (const name of word.slice(1).split('.')) {
    if (typeof value !== 'object' || value === null || !(name in value)) throw new Error(`there is no ${word}`);
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function call(name: string, args: readonly unknown[]): unknown {
  const last = args.at(-1);
  switch (name) {
    case 'quote':
      return JSON.stringify(String(last));
    case 'toYaml':
      return stringify(last).trimEnd();
    case 'nindent':
      return `\n${String(last)
        .trimEnd()
        .split('\n')
        .map((line) => (line === '' ? line : ' '.repeat(Number(args[0])) + line))
        .join('\n')}`;
    case 'default':
      return isTrue(last) ? last : args[0];
    case 'printf':
      return args.slice(1).reduce<string>((text, one) => text.replace('%s', String(one)), String(args[0]));
    case 'not':
      return !isTrue(last);
    case 'required':
      if (!isTrue(last)) throw new Error(String(args[0]));
      return last;
    default:
      throw new Error(`the renderer of these tests does not know the function ${name}`);
  }
}
