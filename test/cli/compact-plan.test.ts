import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import { collectingTerminal, runHere } from './running.ts';
import { rule, setScene, shop, web } from './scene.ts';

/** A component with so many ports, all of them new, and a rule. */
function ports(count: number): string {
  const lines = Array.from({ length: count }, (_, at) => `  - { port: ${9000 + at}, protocol: tcp, inner: true }`);
  return shop(web(`ports:\n${lines.join('\n')}`), rule('www', 'www.example.com', 'openOuter: true'));
}

test('a terminal shows more than 50 changes in one line each, and a program gets all fields, unless a flag says otherwise', async () => {
  const scene = await setScene({ manifests: { 'shop.yaml': ports(50) } });
  const args = ['plan', ...scene.options, '--ledger', scene.ledgerFile];
  const planOn = async (isTerminal: boolean, ...flags: readonly string[]): Promise<string> => {
    const { terminal, text } = collectingTerminal({ isTerminal, columns: 80 });
    const { env, clock } = scene;
    expect((await runHere([...args, ...flags], { env, clock, terminal })).code).toBe(0);
    return text.out;
  };
  const compact = await planOn(true);
  const lines = compact.split('\n');
  expect(lines.slice(0, 4)).toEqual([
    'Application/shop  default/team-a/region-1/42',
    '  51 to create, 0 to change, 0 to delete',
    '  + Component/shop-web: add port 9000 (tcp, inner open)  (new in git)',
    '  + Component/shop-web: add port 9001 (tcp, inner open)  (new in git)',
  ]);
  expect(lines.slice(52, 57)).toEqual([
    '  + HttpGatewayRule/www: create rule www.example.com/ on port 8080 of Component…',
    '',
    'One line for each change. --no-compact shows fields, values and remedies too.',
    'Plan: 51 to create, 0 to change, 0 to delete. 0 resources in sync, 0 unchanged',
    'fields not shown.',
  ]);
  expect(lines.every((line) => displayWidth(line) <= 80)).toBe(true);
  for (const full of [await planOn(true, '--no-compact'), await planOn(false)]) {
    expect(full).toContain('        ports[9000].protocol: "tcp"\n');
    expect(full).not.toContain('--no-compact');
  }
  const file = join(scene.folder, 'plan.txt');
  const piped = await planOn(false, '--compact', '--out', file);
  expect(piped).toContain(
    '  + HttpGatewayRule/www: create rule www.example.com/ on port 8080 of Component/shop-web  (new in git)  also: opens outer access of port 8080; no default rule appears\n',
  );
  expect(readFileSync(file, 'utf8')).toBe(piped);

  // The preview of apply has the same form. 50 changes are shown in full.
  const no = collectingTerminal({ isTerminal: true, answers: ['n', 'n'] });
  const apply = ['apply', ...scene.options, '--ledger', scene.ledgerFile];
  await runHere(apply, { env: scene.env, clock: scene.clock, terminal: no.terminal });
  expect(no.text.out).toBe(compact);
  expect(no.text.err).toContain('Apply 51 changes? [y/N]');
  scene.write('shop.yaml', ports(49));
  expect(await planOn(true)).toContain('        ports[9000].protocol: "tcp"\n');
  expect(await planOn(true, '--compact')).toContain('  50 to create, 0 to change, 0 to delete\n');
});
