import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** One place of the code that names an error code. */
export interface CodeUse {
  readonly code: string;
  readonly file: string;
  /** Texts after the code, in their order: the message first. Expressions stand as `<name>`. */
  readonly texts: readonly string[];
  /** Texts by the names of their members: `message`, `remedy`. */
  readonly named: Readonly<Record<string, string>>;
}

/** Everything with the form of a code. */
const CODE = /^[a-z]+\/[a-z][a-z-]*$/;

/** Returns every literal of the code that has the form of an error code, with the texts beside it. */
export function scanCodes(root: string): readonly CodeUse[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .sort()
    .map((file) => new SourceFile(file, readFileSync(join(root, 'src', file), 'utf8')));
  const constants = new Map(files.flatMap((file) => file.codeConstants));
  return files.flatMap((file) => file.uses(constants));
}

/** Returns the parts before the variable of codes such as `plan/${code}`: their values cannot be read. */
export function codeTemplates(root: string): readonly string[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  return files.sort().flatMap((file) => {
    const text = readFileSync(join(root, 'src', file), 'utf8');
    return [...text.matchAll(/(?:\bcode[:=] ?|\binvalidInput\(|\bcode = |inDoubt\()`([a-z]+\/)\$\{/g)].map(
      ([, start = '']) => start,
    );
  });
}

interface Declared {
  readonly name: string;
  readonly init: ESTree.Node;
  /** The block in which the name is known. */
  readonly from: number;
  readonly to: number;
}

class SourceFile {
  readonly #file: string;
  readonly #program: ESTree.Program;
  readonly #declared: Declared[] = [];

  constructor(file: string, text: string) {
    this.#file = file;
    this.#program = parseSync(file, text).program;
    const blocks: { readonly start: number; readonly end: number }[] = [];
    new Visitor({ BlockStatement: (node) => void blocks.push(node) }).visit(this.#program);
    new Visitor({
      VariableDeclarator: ({ id, init, start }) => {
        if (id.type !== 'Identifier' || init === null) return;
        const around = blocks.filter((block) => block.start < start && start < block.end);
        const inner = around.toSorted((a, b) => b.start - a.start)[0] ?? { start: -1, end: Infinity };
        this.#declared.push({ name: id.name, init, from: inner.start, to: inner.end });
      },
    }).visit(this.#program);
  }

  /** Constants of the file that are codes: `const VANISHED = 'application/vanished'`. */
  get codeConstants(): readonly (readonly [string, string])[] {
    return this.#declared.flatMap(({ name, init, from }) =>
      from === -1 && isCode(init) ? [[name, init.value] as const] : [],
    );
  }

  uses(constants: ReadonlyMap<string, string>): readonly CodeUse[] {
    const uses: CodeUse[] = [];
    const covered = new Set<number>();
    const add = (node: ESTree.Node, texts: readonly string[], named: Readonly<Record<string, string>>): void => {
      const code = isCode(node) ? node.value : node.type === 'Identifier' ? constants.get(node.name) : undefined;
      if (code === undefined || covered.has(node.start)) return;
      covered.add(node.start);
      uses.push({ code, file: this.#file, texts, named });
    };
    const inOrder = (nodes: readonly ESTree.Node[]): void => {
      for (const [at, node] of nodes.entries()) {
        for (const found of choicesOf(node)) {
          const rest = nodes.slice(at + 1);
          const named = Object.fromEntries(rest.flatMap((one) => Object.entries(this.#members(one))));
          add(
            found,
            rest.flatMap((one) => this.#text(one) ?? []),
            named,
          );
        }
      }
    };
    new Visitor({
      ObjectExpression: (node) => {
        const named = this.#members(node);
        for (const { key, value } of propertiesOf(node))
          if (nameOf(key) === 'code') for (const found of choicesOf(value)) add(found, [], named);
      },
      CallExpression: (node) => inOrder(node.arguments),
      ArrayExpression: (node) => inOrder(node.elements.filter((one) => one !== null)),
    }).visit(this.#program);
    const inText = (text: string): void => {
      for (const [, code = ''] of text.matchAll(/\[([a-z]+\/[a-z-]+)\] {2}\(/g))
        uses.push({ code, file: this.#file, texts: [], named: {} });
    };
    new Visitor({
      ImportDeclaration: (node) => void covered.add(node.source.start),
      // A message that is written with its code, as `main.ts` does.
      Literal: (node) => {
        add(node, [], {});
        if (typeof node.value === 'string') inText(node.value);
      },
    }).visit(this.#program);
    return uses;
  }

  #members(node: ESTree.Node): Readonly<Record<string, string>> {
    if (node.type !== 'ObjectExpression') return {};
    return Object.fromEntries(
      propertiesOf(node).flatMap(({ key, value }) => {
        const text = this.#text(value);
        return text === undefined ? [] : [[nameOf(key), text]];
      }),
    );
  }

  /** Returns a text with its expressions as `<name>`; undefined where there is no text. */
  #text(node: ESTree.Node, depth = 0): string | undefined {
    if (depth > 4) return undefined;
    const below = (one: ESTree.Node): string | undefined => this.#text(one, depth + 1);
    switch (node.type) {
      case 'Literal':
        return typeof node.value === 'string' && node.value !== '' && !CODE.test(node.value) ? node.value : undefined;
      case 'TemplateLiteral':
        return node.quasis
          .map(({ value }, at) => {
            const expression = node.expressions[at];
            return (value.cooked ?? '') + (expression === undefined ? '' : `<${nameOf(expression)}>`);
          })
          .join('');
      case 'BinaryExpression':
        return joined([below(node.left), below(node.right)], '');
      case 'ConditionalExpression':
        return joined([below(node.consequent), below(node.alternate)], ' Or: ');
      case 'CallExpression':
        // `sentences(hint, 'It has no fields.')`, and functions that only escape.
        return joined(
          node.arguments.map((one) => below(one)),
          ' ',
        );
      case 'Identifier': {
        const known = this.#declared
          .filter(({ name, from, to }) => name === node.name && from < node.start && node.start < to)
          .toSorted((a, b) => b.from - a.from)[0];
        return known === undefined ? undefined : below(known.init);
      }
      default:
        return undefined;
    }
  }
}

function isCode(node: ESTree.Node): node is ESTree.StringLiteral {
  return node.type === 'Literal' && typeof node.value === 'string' && CODE.test(node.value);
}

function propertiesOf(node: ESTree.ObjectExpression) {
  return node.properties.flatMap((property) => (property.type === 'Property' ? [property] : []));
}

/** Returns the nodes that a value can be: itself, or both sides of a condition. */
function choicesOf(node: ESTree.Node): readonly ESTree.Node[] {
  if (node.type === 'ConditionalExpression') return [...choicesOf(node.consequent), ...choicesOf(node.alternate)];
  if (node.type === 'LogicalExpression') return [...choicesOf(node.left), ...choicesOf(node.right)];
  return [node];
}

function joined(texts: readonly (string | undefined)[], separator: string): string | undefined {
  const found = texts.filter((text) => text !== undefined);
  return found.length === 0 ? undefined : found.join(separator);
}

/** Returns a name for a value: the last word of it that says something. */
function nameOf(node: ESTree.Node): string {
  switch (node.type) {
    case 'Identifier':
      return node.name;
    case 'Literal':
      return typeof node.value === 'string' && /^\w+$/.test(node.value) ? node.value : '…';
    case 'MemberExpression':
      return node.computed || nameOf(node.property) === 'length' ? nameOf(node.object) : nameOf(node.property);
    case 'CallExpression': {
      const [first] = node.arguments;
      const { callee } = node;
      if (callee.type === 'MemberExpression') return nameOf(callee.object);
      return first === undefined ? nameOf(callee) : nameOf(first);
    }
    case 'LogicalExpression':
      return nameOf(node.left);
    default:
      return '…';
  }
}
