import { expect, test } from 'vitest';
import { builtProgram } from '../support/program.ts';
import { type OnTerminal, startOnTerminal } from '../support/pty.ts';
import { PORTS, type Scene, setScene, shop, web } from './scene.ts';

/** `apply` of two changes on a terminal, up to its question. */
async function applyUpToItsQuestion(): Promise<{ readonly scene: Scene; readonly terminal: OnTerminal }> {
  const scene = await setScene({ manifests: { 'shop.yaml': shop(web(PORTS)) } });
  const args = ['apply', ...scene.options, '--ledger', scene.ledgerFile];
  const terminal = startOnTerminal(process.execPath, [builtProgram(), ...args], { env: scene.env, cwd: scene.folder });
  await terminal.expect('[y/N] ');
  return { scene, terminal };
}

test('on a terminal, apply asks, and a yes that is typed goes on', async () => {
  const { scene, terminal } = await applyUpToItsQuestion();
  expect(scene.traffic().writes).toEqual([]);
  terminal.type('y\r');
  expect((await terminal.ended).code).toBe(0);
  expect(scene.traffic().writes.length).toBeGreaterThan(0);
});

test.for([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
] as const)('%s at the question ends with 130, and nothing is changed', async ([, key]) => {
  const { scene, terminal } = await applyUpToItsQuestion();
  terminal.type(key);
  const { code, shown } = await terminal.ended;
  expect(code, shown).toBe(130);
  expect(shown).toContain('interrupted');
  expect(scene.traffic().writes).toEqual([]);
});

test('a command that another one runs updates its progress in place', async () => {
  const scene = await setScene({ manifests: {} });
  const terminal = startOnTerminal(process.execPath, [builtProgram(), 'demo'], { env: {}, cwd: scene.folder });
  const { code, shown } = await terminal.ended;
  expect(code, shown).toBe(0);
  // It was erased, and no sequence was written out as text.
  expect(shown).toContain('\u001b[J');
  expect(shown).not.toMatch(/\\u00(?:0d|1b)/);
});
