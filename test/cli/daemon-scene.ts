import { expect, onTestFinished } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { collectingTerminal, type Run, runHere } from './running.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

/** Tokens and keys of the daemon. */
export const SECRETS = {
  CI: 'ci-ci-ci-ci-ci-ci-ci-ci',
  OPS: 'ops-ops-ops-ops-ops-ops',
  ADMIN: 'admin-admin-admin-admin-1',
  HOOK: 'hook-hook-hook-hook',
};

const SETTINGS = `
  server:
    listen: 127.0.0.1:0
    tokens:
      - { name: ci, role: viewer, value: { env: CI } }
      - { name: ops, role: operator, value: { env: OPS } }
      - { name: admin, role: admin, value: { env: ADMIN } }
    webhooks: [{ name: hub, type: github, secret: { env: HOOK } }]
`;

export interface Daemon {
  readonly url: string;
  log(): string;
  /** A command that asks it, with the operator's token unless told otherwise. */
  ask(args: readonly string[], token?: string): Promise<Run>;
  /** As SIGTERM does. */
  stop(): Promise<number>;
}

/** `portolan run` over a scene's manifests, in this process, when it has looked at them once. */
async function startDaemon(scene: Scene): Promise<Daemon> {
  const stop = new AbortController();
  const { terminal, text } = collectingTerminal();
  const ended = runHere(['run', ...scene.options, '--ledger', scene.ledgerFile], {
    terminal,
    env: { ...scene.env, ...SECRETS },
    clock: systemClock,
    signal: stop.signal,
  });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  await expect.poll(() => text.err).toMatch(/listening +url=\S+/);
  const [, url = ''] = /listening +url=(\S+)/.exec(text.err) ?? [];
  return {
    url,
    log: () => text.err,
    ask: (args, token = SECRETS.OPS) => runHere([...args, '--server', url], { env: { PORTOLAN_SERVER_TOKEN: token } }),
    stop: async () => {
      stop.abort();
      return (await ended).code;
    },
  };
}

/** A daemon with one application in sync. @param others further manifests. */
export async function daemonScene(others: Readonly<Record<string, string>> = {}) {
  const scene = await setScene({
    settings: SETTINGS,
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com', 'weight: 50')), ...others },
  });
  const daemon = await startDaemon(scene);
  await expect
    .poll(async () => (await daemon.ask(['status'])).out)
    .toContain(`${1 + Object.keys(others).length} ready`);
  return { scene, daemon };
}
