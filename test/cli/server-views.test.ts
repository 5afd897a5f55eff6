import { expect, test } from 'vitest';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import type { ResourceStatus } from '../../src/model/status.ts';
import { application } from '../server/controller.ts';
import { serve, type Serving, TOKENS } from '../server/serving.ts';
import { collectingTerminal, runHere } from './running.ts';

const operator = { PORTOLAN_SERVER_TOKEN: TOKENS.operator };

function run(serving: Pick<Serving, 'url'>, args: readonly string[], env: Record<string, string> = operator) {
  return runHere(args, { env: { PORTOLAN_SERVER: serving.url, ...env } });
}

test('events on a terminal are cut to nothing: what is too long goes on in the next line', async () => {
  const serving = await serve();
  serving.api.happen({ message: 'a message that is much too long for the narrow window that it is shown in' });
  const { terminal, text } = collectingTerminal({ isTerminal: true, columns: 80 });
  await runHere(['events', '--server', serving.url], { terminal, env: operator });
  expect(text.out.split('\n').filter((line) => displayWidth(line) > 80)).toEqual([]);
  expect(text.out).toMatch(/ago +warning +drift\.detected +Component\/shop-web\n {4}a message/);
  expect(text.out.replace(/\s+/g, ' ')).toContain('too long for the narrow window that it is shown in');
});

test('events --watch is a table of the newest that is redrawn, and without a terminal it is --follow', async () => {
  const serving = await serve();
  serving.api.happen();
  for (const isTerminal of [true, false]) {
    const stop = new AbortController();
    const { terminal, text } = collectingTerminal({ isTerminal, columns: 100 });
    const args = ['events', '--watch', '1s', '--server', serving.url];
    const watching = runHere(args, { terminal, env: operator, signal: stop.signal });
    await expect.poll(() => text.out).toContain('event 1');
    await expect.poll(() => isTerminal || serving.api.listeners === 1).toBe(true);
    serving.api.happen({ severity: 'error', message: `news for ${isTerminal}` });
    await expect.poll(() => text.out).toContain(`news for ${isTerminal}`);
    stop.abort();
    expect((await watching).code).toBe(130);
    if (!isTerminal) expect(text.out).not.toContain('\u001b');
    else
      expect(text.out).toMatch(
        /2 events: 1 error, 1 warning\.\u001b\[K\r\n\u001b\[K\r\nAGE [^]*\u001b\[\?25h\u001b\[\?1049l/,
      );
  }
});

test('a tree of a controller shows what was observed, how long ago, and kinds that nobody here knows', async () => {
  const serving = await serve();
  const web = 'Component/shop-web';
  const part = (id: string): ResourceStatus => ({
    ...(application('shop').resources[0] as ResourceStatus),
    id: id as ResourceStatus['id'],
  });
  serving.api.list = [
    application('shop', {
      pending: {
        digest: 'd',
        actions: [{ id: `${web}#ports/9000/open_inner`, resource: web, summary: 'open inner access of port 9000' }],
        deferred: [],
        waits: [],
      },
      resources: [
        {
          ...part(web),
          conditions: part(web).conditions.map((one) => ({ ...one, status: 'False', reason: 'Pending' })),
        },
        part('HttpGatewayRule/www'),
        { ...part('HttpGatewayRule/new'), mode: 'suspend' },
        part('Banner/sale'),
      ],
    }),
  ];
  const resource = web;
  const port = (number: number, facts: string) =>
    ({
      type: 'port',
      key: `port/abc/${number}`,
      below: ['component/abc'],
      rank: number,
      name: `port ${number}`,
      facts,
      resource,
      part: `ports[${number}]`,
    }) as const;
  const named = (type: string, id: ResourceStatus['id']) => ({
    type,
    key: id,
    below: [],
    name: id,
    facts: '',
    resource: id,
  });
  serving.api.observed = {
    atMs: Date.UTC(2026, 10, 20, 11, 59),
    lines: [
      { ...named('component', web), key: 'component/abc', facts: 'abc' },
      port(10_000, 'grpc, closed'),
      port(8080, 'http HAND, inner'),
      port(9000, 'http RPC, closed'),
      { ...named('rule', 'HttpGatewayRule/www'), below: ['port/abc/8080', 'component/abc'], facts: 'www.example.com/' },
      {
        type: 'rule',
        key: 'rule 7',
        below: ['port/abc/8080'],
        name: 'rule old.example.com/',
        facts: '',
        state: 'withdrawn',
      },
      { ...named('banner', 'Banner/sale'), facts: '"Hello"' },
    ],
  };
  const shown = `RESOURCE                                                                                STATE                       REASON
Application/shop  default/team-a/region-1/4, observed 2026-11-20T11:59:00.000Z          in sync                     -
├─ Component/shop-web  abc                                                              out of sync                 -
│  ├─ port 8080  http HAND, inner                                                       in sync                     -
│  │  ├─ HttpGatewayRule/www  www.example.com/                                          in sync                     -
│  │  └─ rule old.example.com/                                                          removed from git            -
│  ├─ port 9000  http RPC, closed                                                       out of sync                 open inner access of port 9000
│  └─ port 10000  grpc, closed                                                          in sync                     -
├─ Banner/sale  "Hello"                                                                 in sync                     -
└─ HttpGatewayRule/new                                                                  suspended                   by its annotation
`;
  // Whoever may see plans may see what is there.
  for (const role of ['operator', 'viewer'] as const) {
    const { code, out } = await run(serving, ['tree', 'shop'], { PORTOLAN_SERVER_TOKEN: TOKENS[role] });
    expect(code).toBe(0);
    expect(out.replaceAll(/ {2,}/g, '  ')).toBe(
      `${shown.replaceAll(/ {2,}/g, '  ')}\n1 application: 4 in sync, 2 out of sync, 1 suspended, 1 removed from git.\n`,
    );
  }
  const json = JSON.parse((await run(serving, ['tree', '-o', 'json'])).out) as { applications: unknown };
  expect(json.applications).toMatchObject([{ observedMs: serving.api.observed.atMs, type: 'application' }]);
  serving.api.observed = null;
  expect((await run(serving, ['tree'])).out).toContain('not observed yet');
  expect((await run(serving, ['tree', 'shpo'])).err).toContain('Did you mean shop?');
});
