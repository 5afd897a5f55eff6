import { stringify } from 'yaml';
import { kindDeclarations } from '../src/configuration/declarations.ts';
import { type ChangeEffect, type DialectEffect, effectOf, leavesOf } from '../src/kinds/field-effects.ts';
import { documentFields, type Field } from '../src/kinds/fields.ts';
import type { KindDeclaration } from '../src/kinds/kind.ts';
import { schemaFileName } from '../src/kinds/schema.ts';
import { code, GENERATED, type Page, prose, table } from './markdown.ts';

const FOLDER = 'docs/reference/kinds';

/** Returns a page for each kind, one that lists them with the fields of every document, and one about changes of fields. */
export function kindPages(): readonly Page[] {
  const declarations = [...kindDeclarations.values()];
  const [first] = declarations;
  if (first === undefined) throw new Error('there are no kinds');
  const shared = documentFields(first).fields.filter(({ name }) => name !== 'spec' && name !== 'kind');
  const list = table(
    ['kind', 'location', 'description'],
    declarations.map(({ kind, trust, specSchema: { description } }) => [
      `[${kind}](${fileOf(kind)})`,
      placeOf(trust),
      prose(description),
    ]),
  );
  const index = `${GENERATED}
# Manifests and configuration: every field

The same as \`portolan explain\`. *Manifests* come from git; *configuration* is the operator's, in the file of \`--config\`
(by default \`portolan.yaml\`). A field that is absent from a manifest is not managed.

${list}
[Changes of fields](changes.md) lists the effect of a change of each field.

## Every document

${fieldsTable(shared)}`;
  return [
    { file: `${FOLDER}/README.md`, text: index },
    { file: `${FOLDER}/changes.md`, text: `${GENERATED}\n${effectsSection(declarations)}` },
    ...declarations.map((declaration) => ({
      file: `${FOLDER}/${fileOf(declaration.kind)}`,
      text: `${GENERATED}\n${kindSection(declaration)}`,
    })),
  ];
}

function fileOf(kind: string): string {
  return `${schemaFileName(kind).replace(/\.schema\.json$/, '')}.md`;
}

const CHANGES: Readonly<Record<ChangeEffect, { readonly update: string; readonly recreate: string }>> = {
  update: { update: 'yes', recreate: 'not needed' },
  'update-not-clear': {
    update: 'yes, but not cleared',
    recreate: 'to clear it: held, or by `onImmutableChange: recreate`',
  },
  'recreate-or-hold': { update: 'no', recreate: 'held, or by `onImmutableChange: recreate`' },
  hold: { update: 'no', recreate: 'no: held' },
  'other-object': { update: 'names the object', recreate: 'no: another object, or the object moves' },
  'creation-only': { update: 'no: used on creation, not compared', recreate: 'no' },
  local: { update: 'never sent', recreate: 'no' },
};

/** What a change of each field comes to: the data that a generic test holds against the sandbox. */
function effectsSection(declarations: readonly KindDeclaration<unknown>[]): string {
  const rows = declarations.flatMap((declaration) => {
    const { kind, effects } = declaration;
    const specs = documentFields(declaration).fields.filter(({ name }) => name === 'spec');
    if (effects.length === 0)
      return [[kind, 'every field', 'configuration', 'never sent as a value to keep', 'no', 'no']];
    return specs.flatMap(leavesOf).flatMap(({ path }) => {
      const effect = effectOf(effects, path);
      if (effect === undefined) throw new Error(`${kind} does not say what a change of ${path} comes to`);
      const { documented, extended } = effect;
      const same = JSON.stringify(documented) === JSON.stringify(extended);
      const dialects: [string, DialectEffect][] = same
        ? [['both', extended]]
        : [
            ['extended', extended],
            ['documented', documented],
          ];
      return dialects.map(([dialect, { change, readBack }]) => {
        const { update, recreate } = CHANGES[change];
        return [kind, code(path), dialect, update, readBack, recreate];
      });
    });
  });
  return `# Effect of a change of each field

For an object that exists. *Update*: whether the server changes the field. *Read back*: which answer shows its present value; a
change that no answer shows is never reported as done. *Recreate*: whether deleting and creating the object again is a way.

${table(['kind', 'field', 'dialect', 'update', 'read back', 'recreate'], rows)}`;
}

function kindSection(declaration: KindDeclaration<unknown>): string {
  const {
    kind,
    trust,
    specSchema: { description },
    defaultName,
    examples,
  } = declaration;
  const spec = documentFields(declaration).fields.filter(({ name }) => name === 'spec');
  const name = defaultName === undefined ? '' : ` \`metadata\` may be left out: its name is then \`${defaultName}\`.`;
  const shown = trust === 'manifest' ? examples : examples.slice(0, 1);
  return `# ${kind}

${prose(description)} Location: ${placeOf(trust)}.${name}
Schema: [\`${schemaFileName(kind)}\`](../../../schemas/${schemaFileName(kind)}). [All kinds](README.md).

\`\`\`yaml
${shown.map((example) => stringify(example, { lineWidth: 0 })).join('---\n')}\`\`\`

${fieldsTable(spec.flatMap(({ fields }) => fields))}`;
}

function placeOf(trust: KindDeclaration<unknown>['trust']): string {
  return trust === 'operator' ? 'configuration' : 'manifests';
}

function fieldsTable(fields: readonly Field[]): string {
  return table(['field', 'type', 'required', 'what it is'], fields.flatMap(below).map(rowOf));
}

function below(field: Field): readonly Field[] {
  return [field, ...field.fields.flatMap(below)];
}

function rowOf(field: Field): readonly string[] {
  const { path, type, values, expected } = field;
  const said = [
    prose(field.description),
    values.length === 0 ? '' : `One of ${values.map((value) => code(value)).join(', ')}.`,
    ...expected.filter((words) => !field.description.includes(words)).map(limit),
  ];
  return [code(path), type, needOf(field), said.filter((part) => part !== '').join(' ')];
}

function limit(words: string): string {
  const [, each] = /^each: (.*)$/.exec(words) ?? [];
  return each === undefined ? `Must be: ${prose(words)}.` : `Each must be: ${prose(each)}.`;
}

function needOf({ need, alternatives, default: fallback }: Field): string {
  if (need === 'required') return 'yes';
  if (need === 'one-of') return `this or ${alternatives.map((name) => code(name)).join(', ')}`;
  if (need === 'any-of') return `this, ${alternatives.map((name) => code(name)).join(', ')}, or both`;
  return fallback === undefined || JSON.stringify(fallback) === '{}' ? 'no' : `no: ${code(fallback)}`;
}
