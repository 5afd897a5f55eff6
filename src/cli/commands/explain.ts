import { documentFields, type Field, followFields } from '../../kinds/fields.ts';
import type { KindDeclaration } from '../../kinds/kind.ts';
import { didYouMean } from '../../manifest/suggest.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import { defineCommand } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { kindCalled, placeOf } from './kind-argument.ts';
import { outputOption } from '../session/options.ts';
import { sentences, wrap } from '../terminal/text.ts';
import type { Json } from '../../model/json.ts';
import { unreachable } from '../../model/unreachable.ts';

export const explainCommand = defineCommand({
  about: 'Explains the purpose of a kind, and for each field its type, default, limits and meaning. Reads no files.',
  exitCodes: [EXIT.ok, EXIT.invalid],
  seeAlso: ['schema', 'validate', 'init'],
  examples: `
Examples:
  portolan explain                              all kinds
  portolan explain Component                    one kind, and its fields
  portolan explain component.spec.ports.alias   one field
  portolan explain platform --recursive         every field below, by name and type`,
  parameters: (command) =>
    command
      .argument('[kind[.path]]', 'kind and field: Component, component.spec.ports')
      .option('--recursive', 'all fields below, not only one level')
      .addOption(outputOption(['text', 'json'])),
  /** Reads only the schemas of the program. */
  async run({ terminal: { out }, declarations }, options, [what]) {
    const isJson = options.output === 'json';
    const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
    if (what === undefined) {
      const kinds = [...declarations.values()].map(({ kind, trust, specSchema }) => ({
        kind,
        standsIn: placeOf(trust),
        description: specSchema.description,
      }));
      out.write(isJson ? json({ kinds }) : renderKinds(kinds, out.columns));
      return;
    }
    const [kind = '', ...steps] = what.split('.');
    const declaration = kindCalled(declarations, kind);
    const field = fieldAt(declaration, steps);
    if (isJson) out.write(json(asJson(declaration, field, options.recursive === true)));
    else if (options.recursive) out.write(renderFieldTree(declaration.kind, field, out.columns));
    else out.write(await renderField(declaration.kind, field, out.columns));
  },
});

/** Returns the field at a path. `ports`, `ports[]` and `ports[0]` mean the same field, and `spec` may be left out. */
function fieldAt(declaration: KindDeclaration<unknown>, steps: readonly string[]): Field {
  const root = documentFields(declaration);
  const names = steps.map((step) => step.replace(/\[[0-9*]*\]$/, '')).filter((step) => !/^(?:[0-9]+|)$/.test(step));
  const whole = followFields(root, names);
  if (whole.lost === undefined) return whole.field;
  const inSpec = followFields(root, ['spec', ...names]);
  if (inSpec.lost === undefined) return inSpec.field;
  // The first step may have been meant as a field of the document or of its spec.
  const isFirst = whole.field === root;
  const { field, lost } = isFirst ? inSpec : whole;
  throw unknownField(declaration.kind, field, lost ?? '', isFirst ? namesOf(root) : []);
}

function unknownField(kind: string, field: Field, lost: string, others: readonly string[]): PortolanError {
  const names = namesOf(field);
  const where = titleOf(kind, field);
  const hint = didYouMean(lost, [...names, ...others]);
  return invalidInput(
    'cli/unknown-field',
    `${where} has no field called ${safeLine(lost)}.`,
    sentences(hint, names.length === 0 ? 'It has no fields at all.' : `It has: ${names.join(', ')}.`),
  );
}

function asJson({ kind, trust }: KindDeclaration<unknown>, field: Field, recursive: boolean) {
  const below = recursive ? field.fields : field.fields.map((child) => ({ ...child, fields: namesOf(child) }));
  return { kind, standsIn: placeOf(trust), ...field, fields: below };
}

function namesOf({ fields }: Field): readonly string[] {
  return fields.map(({ name }) => name);
}

/** Wider lines are hard to read. */
const WIDTH_MAX = 100;
const LABEL_WIDTH = 10;

/** Lists the kinds with their descriptions. */
function renderKinds(
  kinds: readonly { readonly kind: string; readonly standsIn: string; readonly description: string }[],
  columns: number,
): string {
  const width = Math.min(columns, WIDTH_MAX);
  const lines = kinds.flatMap(({ kind, standsIn, description }) => [
    `${kind} (${standsIn})`,
    ...indented(description, '  ', width),
  ]);
  return `${lines.join('\n')}\n`;
}

/** Describes one field: its facts, an example, and the fields one level below. */
async function renderField(kind: string, field: Field, columns: number): Promise<string> {
  const width = Math.min(columns, WIDTH_MAX);
  const blocks = [
    [titleOf(kind, field)],
    indented(field.description, '  ', width),
    factsOf(field).flatMap(([label, text]) => labelled(label, text, width)),
    await exampleLines(field),
    childLines(field, width),
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}

/** Lists every field below, by name and type only. */
function renderFieldTree(kind: string, field: Field, columns: number): string {
  const width = Math.min(columns, WIDTH_MAX);
  const lines = [titleOf(kind, field), '', ...indented(field.description, '  ', width), ''];
  const walk = ({ fields }: Field, indent: string): void => {
    for (const child of fields) {
      lines.push(...hanging(summaryOf(child), indent, width));
      walk(child, `${indent}  `);
    }
  };
  walk(field, '  ');
  return `${lines.join('\n')}\n`;
}

function titleOf(kind: string, { path }: Field): string {
  return path === '' ? kind : `${kind}.${path}`;
}

function summaryOf({ name, type, need, alternatives }: Field): string {
  const choice = alternatives.length === 0 ? '' : ` (or ${alternatives.join(', ')})`;
  return `${name} <${type}>${need === 'required' ? ' required' : choice}`;
}

/** Returns the facts of a field beside its description, as label and text. */
function factsOf(field: Field): readonly (readonly [string, string])[] {
  const { type, values, expected, api } = field;
  return [
    ['type', type],
    ...(field.path === '' ? [] : [['required', needOf(field)] as const]),
    ...(isWorthSaying(field.default) ? [['default', textOf(field.default)] as const] : []),
    ...(values.length === 0 ? [] : [['one of', values.map(textOf).join(', ')] as const]),
    ...expected.map(limit),
    ...(api.length === 0 ? [] : [['API', api.join(', ')] as const]),
  ];
}

function limit(words: string): readonly [string, string] {
  const [, each] = /^each: (.*)$/.exec(words) ?? [];
  return each === undefined ? ['must be', words] : ['each', each];
}

/** Returns whether a default adds information. An empty map does not: its fields show their own defaults. */
function isWorthSaying(value: Json | undefined): value is Json {
  return value !== undefined && JSON.stringify(value) !== '{}';
}

function needOf({ need, alternatives }: Field): string {
  switch (need) {
    case 'required':
      return 'yes';
    case 'optional':
      return 'no';
    case 'one-of':
      return `either this or ${alternatives.join(' or ')}`;
    case 'any-of':
      return `this or ${alternatives.join(' or ')}, or both`;
    default:
      return unreachable(need);
  }
}

/** Formats a value as JSON, which is YAML too; text without quotes. */
function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function exampleLines({ path, example }: Field): Promise<readonly string[]> {
  if (example === undefined) return [];
  const { stringify } = await import('yaml');
  const text = stringify(placed(example, path), { indent: 2, lineWidth: 0 });
  return [
    'Example:',
    ...text
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}

/** Wraps a value in the maps and lists of its path: `spec.ports[].port` is in a map, in a list, in two maps. */
function placed(value: Json, path: string): Json {
  let whole = value;
  for (const step of path === '' ? [] : path.split('.').reverse()) {
    const name = step.replace(/\[\]$/, '');
    whole = { [name === '*' ? 'name' : name]: name === step ? whole : [whole] };
  }
  return whole;
}

function childLines({ fields }: Field, width: number): readonly string[] {
  if (fields.length === 0) return [];
  return [
    'Fields:',
    ...fields.flatMap((child) => [...hanging(summaryOf(child), '  ', width), ...aboutChild(child, width)]),
  ];
}

function aboutChild(child: Field, width: number): readonly string[] {
  const fallback = isWorthSaying(child.default) ? ` Default: ${textOf(child.default)}.` : '';
  return indented(`${child.description}${fallback}`, '    ', width);
}

function labelled(label: string, text: string, width: number): readonly string[] {
  return hanging(text, `  ${label.padEnd(LABEL_WIDTH)}`, width, ' '.repeat(LABEL_WIDTH + 2));
}

function indented(text: string, indent: string, width: number): readonly string[] {
  return text === '' ? [] : hanging(text, indent, width, indent);
}

/**
 * Wraps text with a hanging indent. @param start before the first line; `below`, as wide or wider, is before the others.
 */
function hanging(text: string, start: string, width: number, below = `${start}  `): readonly string[] {
  const lines = wrap(text, Math.max(20, width - below.length));
  return lines.map((line, at) => (at === 0 ? start : below) + line);
}
