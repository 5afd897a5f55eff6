import { expect } from 'vitest';
import { type DaemonHere, startDaemonHere } from './daemon-here.ts';
import { type Run, runHere } from './running.ts';
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

export interface Daemon extends DaemonHere {
  /** A command that asks it, with the operator's token unless told otherwise. */
  ask(args: readonly string[], token?: string): Promise<Run>;
}

/** `portolan run` over a scene's manifests, in this process, when it has looked at them once. */
async function startDaemon(scene: Scene): Promise<Daemon> {
  const daemon = await startDaemonHere([...scene.options, '--ledger', scene.ledgerFile], { ...scene.env, ...SECRETS });
  return {
    ...daemon,
    ask: (args, token = SECRETS.OPS) =>
      runHere([...args, '--server', daemon.url], { env: { PORTOLAN_SERVER_TOKEN: token } }),
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
