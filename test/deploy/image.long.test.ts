import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { SANDBOX_TOKEN, startSandbox } from '../../src/sandbox/server.ts';
import { FILES, rules, until, web } from '../processes/place.ts';
import { commit, repository, temporaryFolder } from '../source/repositories.ts';
import { stagesOf, textsOf } from './containerfile.ts';
import { freePort } from '../support/free-port.ts';
import { buildImage, type Engine, IMAGE, installedEngine, run } from './engine.ts';

const API_TOKEN = 'a-token-that-only-this-test-knows-0123456789';

/** As the examples of compose and Kubernetes run it. An engine asks for more files and processes than a machine may have. */
const HARDENED =
  '--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --user 1000:1000 --memory 512m --memory-swap 512m --ulimit nofile=1024:1024 --ulimit nproc=1024:1024'.split(
    ' ',
  );

const configuration = (platformUrl: string, port: number): string => `apiVersion: portolan/v1
kind: Platform
spec: { url: "${platformUrl}", auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }, dialect: extended }
---
apiVersion: portolan/v1
kind: Settings
spec:
  settle: { targetState: 2s, creation: 2s, install: 2s }
  controller: { resyncInterval: 2s, pruneAfter: 1s, drainTimeout: 20s }
  server: { listen: "127.0.0.1:${port}", tokens: [ { name: test, role: admin, value: { env: API_TOKEN } } ] }
`;

/** A sandbox and a checkout of this machine, and a container over them. */
async function containerized(engine: Engine) {
  const sandbox = await startSandbox({ clock: systemClock, random: systemRandom });
  onTestFinished(() => sandbox.close());
  const checkout = repository(FILES);
  // Of another user than the one in the container, as a checkout of the host is.
  chmodSync(checkout, 0o755);
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const config = join(folder, 'portolan.yaml');
  const port = await freePort();
  writeFileSync(config, configuration(sandbox.url, port));
  const name = `portolan-test-${process.pid}`;
  onTestFinished(() => void run(engine, 'rm', '--force', '--volumes', name));
  const volumes = [`${checkout}:/manifests:ro`, `${config}:/etc/portolan/portolan.yaml:ro`];
  const environment = {
    PORTOLAN_CONFIG: '/etc/portolan/portolan.yaml',
    PORTOLAN_FILENAME: '/manifests',
    PORTOLAN_TOKEN: SANDBOX_TOKEN,
    API_TOKEN,
    PORTOLAN_HEALTH_URL: `http://127.0.0.1:${port}/healthz`,
  };
  const given = [
    ...volumes.flatMap((volume) => ['--volume', volume]),
    ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
  ];
  run(engine, 'run', '--detach', '--name', name, '--network', 'host', ...HARDENED, ...given, IMAGE);
  const inspected = (path: string): string => run(engine, 'inspect', '--format', `{{${path}}}`, name);
  const ready = async (): Promise<boolean> => {
    const headers = { authorization: `Bearer ${API_TOKEN}`, connection: 'close' };
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/status`, { headers }).catch(() => undefined);
    if (answer?.ok !== true) return false;
    return ((await answer.json()) as { counts: { ready: number } }).counts.ready === 1;
  };
  return {
    checkout,
    name,
    sandbox,
    inspected,
    logs: (): string => run(engine, 'logs', name),
    page: async () => (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).text(),
    becomesReady: () => until(ready, () => run(engine, 'logs', name)),
    writes: () => sandbox.requests().filter(({ isWrite }) => isWrite).length,
    domains: () =>
      [...sandbox.state.rules.all()]
        .filter(({ type }) => type === 1)
        .map(({ domain }) => domain)
        .sort(),
  };
}

const DOMAINS = (count: number) => Array.from({ length: count }, (_, index) => `r${index}.example.com`);

test('the image runs as the examples do: it applies a commit, ends, is killed, and repeats nothing', async (context) => {
  const engine = installedEngine();
  if (engine === undefined) return context.skip('neither podman nor docker is installed here, or none of them answers');
  const [base = ''] = stagesOf(readFileSync('Dockerfile', 'utf8')).map((stage) => textsOf(stage, 'FROM')[0] ?? '');
  buildImage(engine, `docker.io/library/${base.split(' ')[0]}`);
  const container = await containerized(engine);

  await container.becomesReady();
  expect(container.domains()).toEqual(DOMAINS(2));
  expect(await container.page(), 'the image has the dashboard').toContain('<title>Portolan</title>');
  // Docker asks for the health by itself; podman leaves that to systemd, which not every machine has.
  if (engine === 'podman') run(engine, 'healthcheck', 'run', container.name);
  else await until(() => container.inspected('.State.Health.Status') === 'healthy', container.logs);
  expect(container.inspected('.Config.User')).toBe('1000:1000');
  expect(() => run(engine, 'exec', container.name, 'touch', '/app/x')).toThrow(/Read-only file system/);

  // The shell in between ends at once, and process 1 gets its child.
  run(engine, 'exec', container.name, 'sh', '-c', '(sleep 0.2 &)');
  const zombies = "grep -l '^State:.*zombie' /proc/[0-9]*/status || true";
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(run(engine, 'exec', container.name, 'sh', '-c', zombies), 'process 1 reaps what it did not start').toBe('');

  commit(container.checkout, { 'rules.yaml': rules(4) });
  await until(() => container.domains().length === 4, container.logs);
  await container.becomesReady();

  const written = container.writes();
  run(engine, 'stop', '--time', '45', container.name);
  expect(container.inspected('.State.ExitCode')).toBe('0');
  expect(container.inspected('.State.OOMKilled')).toBe('false');
  run(engine, 'start', container.name);
  await container.becomesReady();
  expect(container.writes(), 'a restart writes nothing').toBe(written);

  // The answer to the third creation is lost together with the process that waits for it.
  container.sandbox.setFaults([{ operation: 'createRule', fault: { type: 'delay', ms: 3_000 } }]);
  commit(container.checkout, { 'rules.yaml': rules(6), 'web.yaml': web('WEB') });
  await until(() => container.writes() > written, container.logs);
  run(engine, 'kill', container.name);
  container.sandbox.setFaults([]);
  run(engine, 'start', container.name);
  await until(() => container.domains().length === 6, container.logs);
  await container.becomesReady();
  expect(container.domains(), 'nothing is made twice').toEqual(DOMAINS(6));
  for (const secret of [SANDBOX_TOKEN, API_TOKEN]) expect(container.logs()).not.toContain(secret);
});
