import { listInstalled } from '../../../kinds/store-install/readings.ts';
import { count } from '../../terminal/text.ts';
import type { Ground } from './ground.ts';
import { ARRIVES, type Loss, LOSSES } from './proxy.ts';
import { PRUNE, type Scene, sceneOf } from './scene.ts';
import type { Suite } from './suite.ts';

/** Maximum number of applies until everything is in sync after a lost answer. */
const RUNS_MAX = 5;

/** @returns whether the n-th write exists. If so, the next one is lost too. */
type Experiment = (scene: Scene, loss: Loss, nth: number) => Promise<boolean>;

/**
 * Loses the answer of each write of an apply, in every way, lets the settle windows pass, and applies until everything is
 * in sync. No object may exist twice.
 */
export async function checkLostAnswers(suite: Suite): Promise<void> {
  const experiments: readonly (readonly [readonly Loss[], Experiment])[] = [
    [LOSSES, loseChanges],
    [['before', 'after'], loseProtocol],
    [suite.isExtended ? LOSSES : [], loseRemoval],
    [suite.store === undefined ? [] : LOSSES, loseInstall],
  ];
  for (const [losses, experiment] of experiments)
    for (const loss of losses)
      for (let nth = 1; !suite.signal.aborted; nth += 1) if (!(await experiment(sceneOf(suite), loss, nth))) break;
}

/** Applies until the plan is empty, and skips the settle windows in between. */
async function converged({ place, proxy }: Scene, ...args: readonly string[]) {
  let run = await place.apply(...args);
  const lost = proxy.lost();
  proxy.lose(undefined);
  for (let runs = 1; run.code !== 0 && runs < RUNS_MAX; runs += 1) {
    place.skipSettling();
    run = await place.apply(...args);
  }
  return { run: run.code === 0 ? await place.plan() : run, lost };
}

async function loseChanges(scene: Scene, loss: Loss, nth: number): Promise<boolean> {
  const { port, isExtended, proxy, want, rule } = scene;
  const id = `${loss}-${nth}`;
  const domain = scene.domain(`lost-${port}`);
  // Where rules cannot be listed, a lost answer requires manual action by design, so no rule is created.
  want(...(isExtended ? [rule(domain)] : []));
  proxy.lose(loss, nth);
  const { run, lost } = await converged(scene);
  if (lost === 0) return false;
  const title = `write ${nth} of an apply, answer lost: ${loss}`;
  scene.checkExit(id, `${title}: in sync at last`, 0, run);
  await scene.checkHttpPort(`${id}-port`, `${title}: the port`);
  if (isExtended)
    scene.check(`${id}-rules`, `${title}: rules of the domain`, '1', String((await scene.rulesOf(domain)).length));
  return true;
}

/** Loses answers of a change of protocol, which closes outer access for a moment: in the end it must be open. */
async function loseProtocol(scene: Scene, loss: Loss, nth: number): Promise<boolean> {
  const { place, write, application, component } = scene;
  write(application(), component({ protocol: 'tcp' }));
  const begun = await place.apply();
  scene.want();
  scene.proxy.lose(loss, nth);
  const { run, lost } = await converged(scene);
  if (lost === 0) return false;
  const title = `write ${nth} of a change from tcp to http, answer lost: ${loss}`;
  const id = `protocol-${loss}-${nth}`;
  scene.checkExit(id, `${title}: in sync at last`, 0, begun.code === 0 ? run : begun);
  await scene.checkHttpPort(`${id}-port`, `${title}: the port`, 'inactive');
  return true;
}

/** Loses the answer of a removal: only the removed rule must be gone. */
async function loseRemoval(scene: Scene, loss: Loss): Promise<boolean> {
  const { want, rule } = scene;
  const [kept, removed] = [scene.domain(`kept-${loss}`), scene.domain(`removed-${loss}`)];
  want(rule(kept), rule(removed));
  const begun = await scene.place.apply();
  want(rule(kept));
  scene.proxy.lose(loss);
  const { run } = await converged(scene, ...PRUNE);
  const title = `a removal, answer lost: ${loss}`;
  scene.checkExit(`removal-${loss}`, `${title}: in sync at last`, 0, begun.code === 0 ? run : begun);
  const left = await scene.countText({ kept, removed });
  scene.check(`removal-${loss}-rules`, `${title}: the rules afterwards`, '1 kept, 0 removed', left);
  return false;
}

async function loseInstall(scene: Scene, loss: Loss): Promise<boolean> {
  const { app, proxy, check, checkExit } = scene;
  scene.write(scene.application(), scene.install(`lost-${loss}`, { allowSecondCopy: true }));
  const before = await copies(scene);
  const former = proxy.arrived('/install');
  proxy.lose(loss);
  const { run } = await converged(scene);
  const sent = proxy.arrived('/install') - former;
  const title = `an install, answer lost: ${loss}`;
  const id = `install-${loss}`;
  if (sent > 0) scene.leaveInstall(app, title);
  const after = await copies(scene);
  if (before === undefined || after === undefined) {
    // Without a listing, only a person can decide the outcome: the install is held and not sent again.
    checkExit(id, `${title}: held`, 4, run);
    check(`${id}-sent`, `${title}: requests that reached the server`, ARRIVES[loss] ? '1' : '0', String(sent));
  } else {
    checkExit(id, `${title}: in sync at last`, 0, run);
    const made = `${after - before} by ${count(sent, 'request')}`;
    check(`${id}-copies`, `${title}: copies`, '1 by 1 request', made);
  }
  return false;
}

/** Counts the copies of the model: each is an entry of its own. */
async function copies({ server, app, store }: Ground): Promise<number | undefined> {
  return (await server.read(listInstalled, app))?.filter((one) => one.modelId === store?.modelId).length;
}
