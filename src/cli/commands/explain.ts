import { documentFields, type Field, followFields } from '../../kinds/fields.ts';
import type { Declarations, KindDeclaration } from '../../kinds/kind.ts';
import { didYouMean } from '../../manifest/suggest.ts';
import { PortolanError } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import { defineCommand } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { renderField, renderFieldTree, renderKinds, titleOf } from './explain-text.ts';
import { kindCalled, placeOf } from './kind-argument.ts';
import { outputOption } from '../session/options.ts';
import { sentences } from '../terminal/text.ts';

export const explainCommand = defineCommand({
  about:
    'Says what a kind is for, which fields it has, and of each field its type, default, limits and meaning. Reads nothing but the program itself.',
  exitCodes: [EXIT.ok, EXIT.invalid],
  seeAlso: ['schema', 'validate', 'init'],
  examples: `
Examples:
  portolan explain                              the kinds there are
  portolan explain Component                    one kind, and its fields
  portolan explain component.spec.ports.alias   one field
  portolan explain platform --recursive         every field below, by name and type`,
  parameters: (command) =>
    command
      .argument('[kind[.path]]', 'kind, and field of it: Component, component.spec.ports')
      .option('--recursive', 'all fields below, not one level only')
      .addOption(outputOption(['text', 'json'])),
  /** Reads nothing but the schemas that are part of the program. */
  async run({ terminal: { out }, declarations }, options, [what]) {
    if (what === undefined) {
      out.write(
        options.output === 'json' ? kindsJson(declarations) : renderKinds([...declarations.values()], out.columns),
      );
      return EXIT.ok;
    }
    const [kind = '', ...steps] = what.split('.');
    const declaration = kindCalled(declarations, kind);
    const field = fieldAt(declaration, steps);
    if (options.output === 'json')
      out.write(`${JSON.stringify(asJson(declaration, field, options.recursive === true), null, 2)}\n`);
    else if (options.recursive) out.write(renderFieldTree(declaration.kind, field, out.columns));
    else out.write(await renderField(declaration.kind, field, out.columns));
  },
});

function kindsJson(declarations: Declarations): string {
  const kinds = [...declarations.values()].map(({ kind, trust, description }) => ({
    kind,
    standsIn: placeOf(trust),
    description,
  }));
  return `${JSON.stringify({ kinds }, null, 2)}\n`;
}

/** `ports`, `ports[]` and `ports[0]` are one field, and `spec` may be left out. */
function fieldAt(declaration: KindDeclaration<unknown>, steps: readonly string[]): Field {
  const root = documentFields(declaration);
  const names = steps.map((step) => step.replace(/\[[0-9*]*\]$/, '')).filter((step) => !/^(?:[0-9]+|)$/.test(step));
  const whole = followFields(root, names);
  if (whole.lost === undefined) return whole.field;
  const inSpec = followFields(root, ['spec', ...names]);
  if (inSpec.lost === undefined) return inSpec.field;
  // The first step may have been meant as a field of the document, or of its spec.
  const isFirst = whole.field === root;
  const { field, lost } = isFirst ? inSpec : whole;
  throw unknownField(declaration.kind, field, lost ?? '', isFirst ? namesOf(root) : []);
}

function unknownField(kind: string, field: Field, lost: string, others: readonly string[]): PortolanError {
  const names = namesOf(field);
  const where = titleOf(kind, field);
  const hint = didYouMean(lost, [...names, ...others]);
  return new PortolanError({
    code: 'cli/unknown-field',
    disposition: 'invalid',
    message: `${where} has no field called ${safeLine(lost)}.`,
    remedy: sentences(hint, names.length === 0 ? 'It has no fields at all.' : `It has: ${names.join(', ')}.`),
  });
}

function asJson({ kind, trust }: KindDeclaration<unknown>, field: Field, recursive: boolean) {
  const below = recursive ? field.fields : field.fields.map((child) => ({ ...child, fields: namesOf(child) }));
  return { kind, standsIn: placeOf(trust), ...field, fields: below };
}

function namesOf({ fields }: Field): readonly string[] {
  return fields.map(({ name }) => name);
}
