import { STORE_INSTALL } from '../../../kinds/store-install/name.ts';
import { count } from '../../terminal/text.ts';
import type { Findings } from './findings.ts';
import type { Ground } from './ground.ts';
import type { Doc, Run, Workplace } from './product.ts';
import { ARRIVES, type Loss, LOSSES, type Proxy } from './proxy.ts';
import { expectHttpPort, idsOf, type Scene, sceneOf } from './scene.ts';

/** Applies that it may take until everything is in sync after one answer was lost. */
const RUNS_MAX = 5;

/**
 * Loses the answer of each write of an apply, in every way, lets the settle windows pass and applies again until everything is
 * in sync. Nothing may be there twice.
 */
export async function checkLostAnswers(
  ground: Ground,
  findings: Findings,
  open: () => Workplace,
  proxy: Proxy,
  signal: AbortSignal,
): Promise<void> {
  for (const loss of LOSSES) {
    for (let nth = 1; ; nth += 1) {
      if (signal.aborted) return;
      if (!(await checkChanges(sceneOf(ground, findings, open()), proxy, loss, nth))) break;
    }
  }
  for (const loss of ['before', 'after'] as const) {
    for (let nth = 1; ; nth += 1) {
      if (signal.aborted) return;
      if (!(await checkProtocol(sceneOf(ground, findings, open()), proxy, loss, nth))) break;
    }
  }
  for (const loss of ground.isExtended ? LOSSES : []) {
    if (signal.aborted) return;
    await checkRemoval(sceneOf(ground, findings, open()), proxy, loss);
  }
  for (const loss of ground.store === undefined ? [] : LOSSES) {
    if (signal.aborted) return;
    await checkInstall(sceneOf(ground, findings, open()), proxy, loss);
  }
}

/** @returns whether there was an n-th write. */
async function checkChanges(scene: Scene, proxy: Proxy, loss: Loss, nth: number): Promise<boolean> {
  const { ground, place, port, findings, base, rule, expectExit } = scene;
  const id = `lost-answers/${loss}-${nth}`;
  const domain = ground.domain(`lost-${port}`);
  // Where rules cannot be listed, one whose answer was lost needs a person by design.
  place.write(ground.isExtended ? [...base({ protocol: 'http' }), rule(domain)] : base({ protocol: 'http' }));
  proxy.lose(loss, nth);
  const { run, lost } = await converged(place, proxy);
  if (lost === 0) return false;
  const title = `write ${nth} of an apply, answer lost: ${loss}`;
  expectExit(id, `${title}: in sync at last`, 0, run);
  await expectHttpPort(scene, `${id}-port`, `${title}: the port`, 'none');
  if (ground.isExtended)
    findings.check(`${id}-rules`, `${title}: rules of the domain`, '1', String((await idsOf(ground, domain)).length));
  return true;
}

/** Applies until the plan is empty, with the settle windows skipped in between. */
async function converged(
  place: Workplace,
  proxy: Proxy,
  ...args: readonly string[]
): Promise<{ readonly run: Run; readonly lost: number }> {
  let run = await place.apply(...args);
  const lost = proxy.lost();
  proxy.lose(undefined);
  for (let runs = 1; run.code !== 0 && runs < RUNS_MAX; runs += 1) {
    place.skipSettling();
    run = await place.apply(...args);
  }
  return { run: run.code === 0 ? await place.plan() : run, lost };
}

/** A change of protocol closes outer access for a moment: whichever answer is lost, it is open again in the end. */
async function checkProtocol(scene: Scene, proxy: Proxy, loss: Loss, nth: number): Promise<boolean> {
  const { place, base, expectExit } = scene;
  place.write(base({ protocol: 'tcp' }));
  const begun = await place.apply();
  place.write(base({ protocol: 'http' }));
  proxy.lose(loss, nth);
  const { run, lost } = await converged(place, proxy);
  if (lost === 0) return false;
  const title = `write ${nth} of a change from tcp to http, answer lost: ${loss}`;
  const id = `lost-answers/protocol-${loss}-${nth}`;
  expectExit(id, `${title}: in sync at last`, 0, begun.code === 0 ? run : begun);
  await expectHttpPort(scene, `${id}-port`, `${title}: the port`, 'inactive');
  return true;
}

/** A removal whose answer is lost: the rule is gone, and nothing else. */
async function checkRemoval(scene: Scene, proxy: Proxy, loss: Loss): Promise<void> {
  const { ground, place, base, rule, findings, expectExit } = scene;
  const [kept, removed] = [ground.domain(`kept-${loss}`), ground.domain(`removed-${loss}`)];
  place.write([...base(), rule(kept), rule(removed)]);
  const begun = await place.apply();
  place.write([...base(), rule(kept)]);
  proxy.lose(loss);
  const { run } = await converged(place, proxy, '--prune', '--max-share', '1');
  const title = `a removal, answer lost: ${loss}`;
  expectExit(`lost-answers/removal-${loss}`, `${title}: in sync at last`, 0, begun.code === 0 ? run : begun);
  const left = `${(await idsOf(ground, kept)).length} kept, ${(await idsOf(ground, removed)).length} removed`;
  findings.check(`lost-answers/removal-${loss}-rules`, `${title}: the rules afterwards`, '1 kept, 0 removed', left);
}

async function checkInstall(scene: Scene, proxy: Proxy, loss: Loss): Promise<void> {
  const { ground, place, findings, base, expectExit } = scene;
  const { store, app } = ground;
  const [application] = base();
  if (store === undefined || application === undefined) return;
  const install: Doc = {
    kind: STORE_INSTALL,
    name: `lost-${loss}`,
    spec: {
      application: 'app',
      store: 'store',
      model: { id: store.modelId, version: store.version },
      build: false,
      allowSecondCopy: true,
    },
  };
  place.write([application, install]);
  const before = await copies(ground, store.modelId);
  const former = proxy.arrived('/install');
  proxy.lose(loss);
  const { run } = await converged(place, proxy);
  const sent = proxy.arrived('/install') - former;
  const title = `an install, answer lost: ${loss}`;
  const id = `lost-answers/install-${loss}`;
  if (sent > 0)
    ground.leave(`one installation of ${store.modelId} ${store.version} in application ${app.appId}, by ${title}`);
  const after = await copies(ground, store.modelId);
  if (before === undefined || after === undefined) {
    // Without a listing only a person can tell whether it was done: held, and sent again by nobody.
    expectExit(id, `${title}: held`, 4, run);
    findings.check(`${id}-sent`, `${title}: requests that reached the server`, ARRIVES[loss] ? '1' : '0', String(sent));
    return;
  }
  expectExit(id, `${title}: in sync at last`, 0, run);
  findings.check(
    `${id}-copies`,
    `${title}: copies`,
    '1 by 1 request',
    `${after - before} by ${count(sent, 'request')}`,
  );
}

/** Two copies of a model are two equal entries. */
async function copies({ server, app }: Ground, modelId: string): Promise<number | undefined> {
  const listed = await server.client.installed(app);
  return listed.readable ? listed.value.filter((one) => one.modelId === modelId).length : undefined;
}
