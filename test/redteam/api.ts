import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { SANDBOX_TOKEN, startSandbox } from '../../src/sandbox/server.ts';
import { projectRoot, startProgram } from '../cli/running.ts';
import { until, FILES } from '../processes/place.ts';
import { repository, temporaryFolder } from '../source/repositories.ts';
import { PUBLIC_URL } from './browser-requests.ts';
import { HOLDERS, type Secrets } from './draft.ts';

/** Every secret of the daemon under attack: none of them may be in an answer, or in its log. */
export const SECRETS: Secrets & { readonly platform: string; readonly oidc: string } = {
  tokens: {
    viewer: 'canary-viewer-4f1c9a7e2b8d',
    operator: 'canary-operator-93d0e6b5a1c7',
    admin: 'canary-admin-7b2e8f4d6c09',
    outsider: 'canary-outsider-2c9f7a1e8d46',
  },
  webhook: 'canary-webhook-5e8a1d3f7c2b',
  oidc: 'canary-oidc-8b5d0c2e7a94',
  platform: SANDBOX_TOKEN,
};

const settings = (platformUrl: string): string => `apiVersion: portolan/v1
kind: Platform
metadata: { name: default }
spec: { url: "${platformUrl}", auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }, dialect: extended, limits: { requestsPerSecond: 1000 } }
---
apiVersion: portolan/v1
kind: Settings
spec:
  scopes: { allow: ["${demo.team}/*/*"] }
  controller: { resyncInterval: 1h, drainTimeout: 20s }
  server:
    listen: "127.0.0.1:0"
    publicUrl: ${PUBLIC_URL}
    oidc: { issuer: "http://127.0.0.1:9", clientId: portolan, clientSecret: { env: OIDC_SECRET } }
    tokens:
${Object.entries(HOLDERS)
  .map(([name, role]) => {
    const own = name === 'outsider' ? '' : ` role: ${role},`;
    return `      - { name: my-${name},${own} value: { env: TOKEN_${name.toUpperCase()} } }`;
  })
  .join('\n')}
    roles: [ { role: ${HOLDERS.outsider}, tokens: [ my-outsider ], applications: [ "*/no-such-team/*/*", "other-*/*/*/*" ] } ]
    webhooks:
${['github', 'gitlab', 'gitea', 'generic'].map((type) => `      - { name: my-${type}, type: ${type}, secret: { env: WEBHOOK } }`).join('\n')}
`;

/** The real daemon over a real checkout and a sandbox, at rest; all of it gone with the test. */
export async function daemonUnderAttack(nodeOptions: readonly string[] = []) {
  const sandbox = await startSandbox({ clock: systemClock, random: systemRandom });
  onTestFinished(() => sandbox.close());
  const folder = temporaryFolder();
  const config = join(folder, 'portolan.yaml');
  const checkout = repository(FILES);
  const ledger = join(folder, 'portolan.db');
  writeFileSync(config, settings(sandbox.url));
  const flags = ['--config', config, '-f', checkout, '--ledger', ledger];
  const run = startProgram(['run', ...flags, '--log-format', 'json', '--log-level', 'debug'], {
    env: {
      PORTOLAN_TOKEN: SECRETS.platform,
      TOKEN_VIEWER: SECRETS.tokens.viewer,
      TOKEN_OPERATOR: SECRETS.tokens.operator,
      TOKEN_ADMIN: SECRETS.tokens.admin,
      TOKEN_OUTSIDER: SECRETS.tokens.outsider,
      WEBHOOK: SECRETS.webhook,
      OIDC_SECRET: SECRETS.oidc,
      NODE_OPTIONS: nodeOptions.join(' '),
    },
  });
  onTestFinished(() => void run.child.kill('SIGKILL'));
  const found = (): string | undefined => /API at (http:\S+?);/.exec(run.outputSoFar().err)?.[1];
  await until(
    () => found() !== undefined,
    () => run.outputSoFar().err,
  );
  const url = found() ?? '';
  const ask = async (path: string): Promise<unknown> => {
    // A connection of its own: the server may close an idle one just when it would be used again.
    const headers = { authorization: `Bearer ${SECRETS.tokens.admin}`, connection: 'close' };
    const response = await fetch(url + path, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return await response.json();
  };
  await until(
    async () => ((await ask('/api/v1/status')) as { counts: { ready: number } }).counts.ready === 1,
    () => run.outputSoFar().err,
  );
  return { ...run, url, port: Number(new URL(url).port), sandbox, ledger, checkout, ask, projectRoot };
}
