import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { loadConfiguration } from '../../src/configuration/configuration.ts';

const readme = readFileSync('docs/reference/settings.md', 'utf8');
const blocks = [...readme.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = '']) => text);

test('the readme of Settings shows its sections', () => {
  expect(blocks.map((text) => text.split(':')[0])).toEqual(
    expect.arrayContaining(['source', 'server', 'windows', 'notifications', 'telemetry']),
  );
});

test.for(blocks)('what the readme of Settings shows is taken: %s', (text) => {
  const spec = text.replace(/^/gm, '  ');
  const { problems } = loadConfiguration(
    kindDeclarations,
    `apiVersion: portolan/v1\nkind: Settings\nspec:\n${spec}`,
    'portolan.yaml',
  );
  expect(problems).toEqual([]);
});
