import { expect, test } from 'vitest';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runProgram } from '../../src/cli/program.ts';
import { collectingTerminal, surroundingsFor } from './running.ts';
import { install, PORTS, rule, setScene, shop, web } from './scene.ts';
import { Screen } from './screen.ts';

/** Both outputs are one terminal, as a person has it. */
function terminalOf(screen: Screen): Terminal {
  const output = {
    isTerminal: true,
    columns: 60,
    rows: 20,
    color: false,
    write: (text: string) => screen.write(text),
  };
  return { out: output, err: output, async *input() {} };
}

const WEB = shop(web(PORTS), rule('www', 'www.example.com'));

test('an apply on a terminal leaves the plan, a line for each outcome, the account and nothing else', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': WEB }, sandbox: { latencyMs: 20 } });
  const fault = { type: 'status', when: 'before', status: 503, body: { msg: 'busy' } } as const;
  scene.sandbox.setFaults([{ operation: 'listPorts', times: 1, fault }]);
  const screen = new Screen();
  await scene.run('apply', ['--log-level', 'debug'], { terminal: terminalOf(screen), clock: systemClock });
  const account = screen.lines.slice(screen.lines.findIndex((line) => line === 'Digest:') + 2);
  const took = account.splice(-2);
  expect(took[0]).toMatch(/^Took \d+s, \d+ requests to the platform, including 3 writes\.$/);
  expect(took[1]).toBe('');
  expect(account).toEqual([
    '✓ Component/shop-web: change alias of port 8080 to WEB',
    '  (1/3)',
    '✓ Component/shop-web: add port 9000 (grpc, inner open)',
    '  (2/3)',
    '✓ HttpGatewayRule/www: create rule www.example.com/ on port',
    '  8080 of Component/shop-web  (3/3)',
    '',
    'Applied: 3 done, 0 failed, 0 skipped. Everything is in sync.',
  ]);
  // What logs said meanwhile stands above, whole.
  expect(
    screen.lines.filter((line) => /^debug {2}read is retried {2}operation=listPorts .*503/.test(line)),
  ).toHaveLength(1);
  expect(screen.lines.join('\n')).not.toMatch(/look \d|apply \d|looking/);
});

test('elsewhere there is one line for each action, and nothing that was only on its way', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': WEB } });
  const { err } = await scene.run('apply');
  expect(err.split('\n').map((line) => line.replace(/^Took .*/, 'Took'))).toEqual([
    '✓ Component/shop-web: change alias of port 8080 to WEB  (1/3)',
    '✓ Component/shop-web: add port 9000 (grpc, inner open)  (2/3)',
    '✓ HttpGatewayRule/www: create rule www.example.com/ on port 8080 of Component/shop-web  (3/3)',
    'Took',
    '',
  ]);
});

const INSTALL = shop(
  web(PORTS),
  install('shop-db'),
  `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-db-mysql }
spec:
  application: shop
  from: { install: shop-db, component: mysql }
  ports: [{ port: 3306, alias: DB }]
`,
);

test('numbers only grow up to the number that was approved, and changes of pending resources are counted beside it', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': INSTALL } });
  const { terminal, text } = collectingTerminal({ isTerminal: true, columns: 200, answers: ['y'] });
  const args = ['apply', ...scene.options, '--ledger', scene.ledgerFile];
  const { env, clock } = scene;
  expect(await runProgram(args, surroundingsFor(terminal, { env, clock }))).toBe(0);
  expect(text.err).toContain('Apply 4 changes, then the changes of 1 pending resource? [y/N]');
  const numbers = [...text.err.matchAll(/^(?:.*\r.*\u001b\[J)?✓ .*\(([^()]+)\)$/gm)].map(([, number]) =>
    number?.replace(/, \d+s$/, ''),
  );
  expect(numbers).toEqual(['1/4', '2/4', '3/4', '4/4', '+1 that was pending']);
  const tallies = [...text.err.matchAll(/apply: (\d+) of (\d+) finished/g)].map(([, done, total]) => [
    Number(done),
    total,
  ]);
  expect(tallies).toEqual(tallies.toSorted(([left], [right]) => Number(left) - Number(right)));
  expect(new Set(tallies.map(([, total]) => total))).toEqual(new Set(['4']));
  expect(text.out).toContain('Applied: 5 done, 0 failed, 0 skipped. Everything is in sync.');
});
