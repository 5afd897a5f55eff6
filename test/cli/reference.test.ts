import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { schemaFileName } from '../../src/kinds/schema.ts';
import { documentFields, type Field } from '../../src/kinds/fields.ts';
import { commandPaths } from './command-tree.ts';
import { runHere } from './running.ts';

test.for([...kindDeclarations.values()])('the page of $kind has every field', (declaration) => {
  const file = schemaFileName(declaration.kind).replace('.schema.json', '.md');
  const section = readFileSync(`docs/reference/kinds/${file}`, 'utf8');
  const paths = (field: Field): readonly string[] => [field.path, ...field.fields.flatMap(paths)];
  const ofSpec = paths(documentFields(declaration)).filter((path) => path.startsWith('spec.'));
  expect(ofSpec.length).toBeGreaterThan(3);
  for (const path of ofSpec) expect(section).toContain(`\n| \`${path}\` | `);
});

test('the page of a command has its help, and the list has all commands', async () => {
  const text = readFileSync('docs/reference/commands/explain.md', 'utf8');
  const { out } = await runHere(['explain', '--help']);
  const [usage = ''] = out.split('\n');
  expect(text).toContain(`\n# portolan explain\n`);
  expect(text).toContain(`\n\`\`\`text\n${usage}\n`);
  expect(readFileSync('docs/reference/commands/init.md', 'utf8')).toContain('PORTOLAN_INIT_URL');
  const list = readFileSync('docs/reference/commands/README.md', 'utf8');
  for (const words of commandPaths())
    expect(list).toContain(`| [\`portolan ${words.join(' ')}\`](${words.join('-')}.md) |`);
});
