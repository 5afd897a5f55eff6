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

test('a tree of a controller has the ports and rules that are on record, for operators', async () => {
  const serving = await serve();
  const [object] = await serving.api.objects();
  if (object === undefined) throw new Error('the controller has no object');
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
      ],
    }),
  ];
  const row = { ...object, resource: web as ResourceStatus['id'] };
  serving.api.objects = async () => [
    { ...row, naturalKey: 'component/abc', remoteId: 'abc' },
    { ...row, naturalKey: 'port/abc/8080', lastApplied: { protocol: 'http', alias: 'WEB', inner: true } },
    { ...row, naturalKey: 'port/abc/9000' },
    { ...row, naturalKey: 'port/abc/9999', state: 'gone' },
    {
      ...row,
      kind: 'HttpGatewayRule',
      resource: 'HttpGatewayRule/www',
      naturalKey: 'rule/abc/8080/http://www.example.com/',
    },
  ];
  const { code, out } = await run(serving, ['tree', 'shop']);
  expect(code).toBe(0);
  expect(out).toBe(`RESOURCE                                         STATE       REASON
Application/shop  default/team-a/region-1/4      in sync     -
├─ Component/shop-web  abc                       to change   -
│  ├─ port 8080  http WEB, inner                 in sync     -
│  │  └─ HttpGatewayRule/www  www.example.com/   in sync     -
│  └─ port 9000                                  to change   open inner access of port 9000
└─ HttpGatewayRule/new                           suspended   -

1 application: 2 in sync, 2 to change, 1 suspended.
`);
  const viewer = await run(serving, ['tree'], { PORTOLAN_SERVER_TOKEN: TOKENS.viewer });
  expect(viewer.code).toBe(0);
  expect(viewer.out).not.toContain('port 8080');
  expect(viewer.out).toContain('→ Application/shop: ports are not shown: ');
  expect((await run(serving, ['tree', 'shpo'])).err).toContain('Did you mean shop?');
});
