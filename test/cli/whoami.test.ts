import { expect, test } from 'vitest';
import { serve, type Serving, TOKENS } from '../server/serving.ts';
import { runHere } from './running.ts';

const LIMITED = 'limited-limited-limited-1';

async function serving(): Promise<Serving> {
  const started = await serve();
  started.secrets.set('limited', LIMITED);
  started.reload({
    ...started.settings,
    tokens: [...started.settings.tokens, { name: 'team-a', value: { env: 'limited' } }],
    roles: [
      { role: 'viewer', tokens: ['team-a'], users: [], groups: [], applications: ['default/team-a/*/*'] },
      { role: 'approve', tokens: ['team-a'], users: [], groups: [], applications: ['default/team-b/*/7'] },
    ],
  });
  return started;
}

function whoami({ url }: Serving, token: string, ...args: string[]) {
  return runHere(['whoami', ...args], { env: { PORTOLAN_SERVER: url, PORTOLAN_SERVER_TOKEN: token } });
}

test('whoami shows the token, its roles, and their applications', async () => {
  const at = await serving();
  expect(await whoami(at, TOKENS.operate)).toMatchObject({
    code: 0,
    err: '',
    out: 'token operate\n\nROLE      APPLICATIONS\noperate   everything\n',
  });
  expect((await whoami(at, LIMITED)).out).toBe(
    'token team-a\n\nROLE      APPLICATIONS\nviewer    default/team-a/*/*\napprove   default/team-b/*/7\n',
  );
  const { out } = await whoami(at, LIMITED, '-o', 'json');
  expect(JSON.parse(out)).toEqual({
    formatVersion: 1,
    name: 'team-a',
    via: 'token',
    groups: [],
    roles: [
      { role: 'viewer', applications: ['default/team-a/*/*'] },
      { role: 'approve', applications: ['default/team-b/*/7'] },
    ],
    isLimited: true,
    permissions: ['viewer', 'approve'],
    sessionEndsMs: null,
  });
});

test('whoami shows the permissions for one application, and does not tell one outside the scope from none', async () => {
  const at = await serving();
  expect((await whoami(at, LIMITED, '--application', 'shop')).out).toContain(
    'permissions for Application/shop: viewer\n',
  );
  const hidden = await whoami(at, LIMITED, '--application', 'blog');
  const unknown = await whoami(at, LIMITED, '--application', 'none');
  expect(hidden.code).toBe(unknown.code);
  expect(hidden.err.replaceAll('blog', 'none')).toBe(unknown.err);
});

test('a command without the role says which role it needs, and what to do', async () => {
  const at = await serving();
  const env = { PORTOLAN_SERVER: at.url, PORTOLAN_SERVER_TOKEN: LIMITED };
  const sync = await runHere(['sync', 'shop'], { env });
  expect(sync.code).not.toBe(0);
  expect(sync.err).toContain('The token team-a has the roles viewer and approve, but this request needs operate');
  expect(sync.err).toContain('Use a token or a user with the role operate, operator or admin');
  expect(sync.err).toContain('spec.server.roles of Settings');
});

test('the status of a limited caller counts the faults of others, and does not name them', async () => {
  const at = await serving();
  const env = { PORTOLAN_SERVER: at.url, PORTOLAN_SERVER_TOKEN: LIMITED };
  const { out } = await runHere(['status'], { env });
  expect(out).toContain('Application/shop');
  expect(out).not.toContain('blog');
  expect(out).toContain(', 1 fault outside your scope\n');
});
