import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { documentFields, type Field } from '../../src/kinds/fields.ts';
import { runHere } from './running.ts';

const PAGES = ['src/kinds/README.md', 'src/cli/README.md'] as const;

/** What GitHub makes of a heading. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

test.for(PAGES)('every link of %s leads somewhere', (page) => {
  const text = readFileSync(page, 'utf8');
  const anchors = new Set([...text.matchAll(/^##? (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)));
  const links = [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(6);
  for (const link of links) {
    if (link.startsWith('#')) expect([...anchors]).toContain(link.slice(1));
    else expect(existsSync(join(dirname(page), link)), link).toBe(true);
  }
});

test.for([...kindDeclarations.values()])('the page of kinds has every field of $kind', (declaration) => {
  const text = readFileSync('src/kinds/README.md', 'utf8');
  const [section = ''] = text.split(`\n## ${declaration.kind}\n`)[1]?.split('\n## ') ?? [];
  const paths = (field: Field): readonly string[] => [field.path, ...field.fields.flatMap(paths)];
  const ofSpec = paths(documentFields(declaration)).filter((path) => path.startsWith('spec.'));
  expect(ofSpec.length).toBeGreaterThan(3);
  for (const path of ofSpec) expect(section).toContain(`\n| \`${path}\` | `);
});

test('the page of commands says of each what it says itself', async () => {
  const text = readFileSync('src/cli/README.md', 'utf8');
  const { out } = await runHere(['explain', '--help']);
  const [usage = ''] = out.split('\n');
  expect(text).toContain(`\n## portolan explain\n\n\`\`\`text\n${usage}\n`);
  expect(text).toContain('PORTOLAN_INIT_URL');
  expect(text).toContain('| [`portolan ledger list`](#portolan-ledger-list) |');
});
