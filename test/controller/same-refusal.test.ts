import { expect, test } from 'vitest';
import { startDaemonHere } from '../cli/daemon-here.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from '../cli/scene.ts';

const TOKEN = 'ops-ops-ops-ops-ops-ops';
const SETTINGS = `{ server: { listen: "127.0.0.1:0", tokens: [{ name: ops, role: operator, value: { env: OPS } }] } }`;
const RULES = 12;

const manifests = (weight: number): string =>
  shop(web(PORTS), ...Array.from({ length: RULES }, (_, n) => rule(`r${n}`, `r${n}.example.com`, `weight: ${weight}`)));

interface Refused {
  readonly code: string;
  readonly message: string;
  readonly override: string;
}

/** What a daemon over the scene's manifests and ledger says of the plan that waits for its approval. */
async function refusalsOfDaemon(scene: Scene): Promise<readonly Refused[]> {
  const { url } = await startDaemonHere([...scene.options, '--ledger', scene.ledgerFile], { ...scene.env, OPS: TOKEN });
  const ask = async (): Promise<readonly Refused[] | undefined> => {
    const answer = await fetch(`${url}/api/v1/applications/shop`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const { approval } = (await answer.json()) as { approval?: { refusals: readonly Refused[] } | null };
    return approval?.refusals;
  };
  await expect.poll(ask).toBeDefined();
  return (await ask()) ?? [];
}

async function refusalsOfApply(scene: Scene): Promise<readonly Refused[]> {
  const run = await scene.run('apply', ['-o', 'json']);
  expect(run.code).toBe(4);
  const { plan } = JSON.parse(run.out) as { plan: { refusals: readonly Refused[] } };
  return plan.refusals;
}

test.for([
  ['a commit that changes all rules', (scene: Scene) => scene.write('a.yaml', manifests(60))],
  [
    'drift of all rules',
    (scene: Scene) =>
      scene.sandbox.alter(({ rules }) => {
        for (const row of rules.all()) rules.put({ ...row, weight: 7 });
      }),
  ],
] as const)('apply and the daemon refuse %s by the same code, with the same words and numbers', async ([, change]) => {
  const scene = await setScene({ settings: SETTINGS, manifests: { 'a.yaml': manifests(50) } });
  expect((await scene.run('apply')).code).toBe(0);
  change(scene);
  const ofApply = await refusalsOfApply(scene);
  expect(ofApply.map(({ code }) => code)).toEqual(['guard/share']);
  const ofDaemon = await refusalsOfDaemon(scene);
  const said = ({ code, message }: Refused) => ({ code, message });
  expect(ofDaemon.map(said)).toEqual(ofApply.map(said));
  // Each names its own way out, with the same number.
  expect(ofApply[0]?.override).toBe('--max-share 0.8');
  expect(ofDaemon[0]?.override).toBe('approve this plan, or raise spec.prune.maxShare of Settings to 0.8');
});
