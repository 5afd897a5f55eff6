import { listComponents } from '../../../kinds/component/readings.ts';
import { listInstalled } from '../../../kinds/store-install/readings.ts';
import { install, upgrade } from '../../../kinds/store-install/requests.ts';
import { REFUSED_INSTALLS } from './expectations.ts';
import type { Ground, StoreModel } from './ground.ts';
import { hasNeeds, type Suite } from './suite.ts';

/**
 * Checks refused installs, a repeated install, and an upgrade. Reports what stays on the server, because installs cannot
 * be removed.
 */
export async function checkInstalls(suite: Suite): Promise<void> {
  const { app, store, check, leave, signal } = suite;
  if (!hasNeeds(suite, '', 'installs', ['store']) || store === undefined) return;
  for (const { id, title, asked } of REFUSED_INSTALLS) {
    if (signal.aborted) break;
    const model = { ...store, ...asked };
    if (asked.domain !== undefined) leave(`an entry of the store ${model.url} under the name ${model.domain}`);
    const { verdict, growth, isListed } = await grown(suite, model);
    check(
      id,
      title,
      isListed ? 'rejected, no more components' : 'rejected',
      isListed ? `${verdict}, ${growth}` : verdict,
    );
  }
  const { verdict, growth } = await grown(suite, store);
  suite.leaveInstall(app, 'a repeated request');
  check('repeated', 'a repeated install: a second copy', 'applied, more components', `${verdict}, ${growth}`);
  await checkUpgrade(suite, store);
}

/** Installs, and observes whether components were added. `isListed`: the server can list components. */
async function grown(suite: Ground, store: StoreModel) {
  const { server, app } = suite;
  const { modelId, version: modelVersion } = store;
  const before = await imagesOf(suite);
  const answer = await server.send(install({ app, build: false, store, modelId, modelVersion }));
  const after = await imagesOf(suite);
  const isProved = answer.verdict === 'applied' && answer.evidence.type === 'install';
  const growth =
    before === undefined || after === undefined
      ? isProved
        ? 'more components'
        : 'unknown'
      : after.size > before.size
        ? 'more components'
        : 'no more components';
  return { verdict: answer.verdict, growth, isListed: before !== undefined };
}

/** Returns images by component id; undefined where the server cannot list components. */
async function imagesOf({ server, app }: Ground): Promise<ReadonlyMap<string, string> | undefined> {
  const listed = await server.read(listComponents, app);
  return listed && new Map(listed.map(({ serviceId, image }) => [serviceId, image]));
}

/** Checks an upgrade. The listing of installed applications does not change; only the image shows it. */
async function checkUpgrade(suite: Suite, { modelId, upgradeTo: modelVersion }: StoreModel): Promise<void> {
  const { server, app, check, skip } = suite;
  const title = 'an upgrade: the image of a component changes';
  const entry = (await server.read(listInstalled, app))?.find((one) => one.modelId === modelId);
  if (!hasNeeds(suite, 'upgrade', title, ['later version']) || modelVersion === undefined) return;
  if (entry === undefined) return skip('upgrade', title, 'the server lists no installed applications');
  const before = await imagesOf(suite);
  await server.send(upgrade({ app, modelId, modelVersion, marketName: entry.marketName }));
  const after = await imagesOf(suite);
  const changed = [...(after ?? [])].some(([id, image]) => before?.has(id) === true && before.get(id) !== image);
  check('upgrade', title, 'another image', changed ? 'another image' : 'the same images');
}
