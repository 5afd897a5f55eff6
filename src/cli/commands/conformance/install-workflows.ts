import { STORE_INSTALL } from '../../../kinds/store-install/name.ts';
import { join } from 'node:path';
import type { Doc } from './product.ts';
import type { Scene } from './scene.ts';

export async function refusesInstall({ ground, place, base, findings, expectExit }: Scene): Promise<void> {
  const [application] = base();
  if (application === undefined || ground.store === undefined) return;
  place.write([
    application,
    {
      kind: STORE_INSTALL,
      name: 'refused',
      spec: { application: 'app', store: 'store', model: { id: 'conformance0no0such0model', version: '1.0' } },
    },
  ]);
  expectExit('workflows/refused-install', 'apply of a model that the store does not have', 1, await place.apply());
  const list = JSON.parse((await place.run('ledger', 'list', '-o', 'json')).out) as { intents?: readonly unknown[] };
  findings.check('workflows/refused-install-doubt', 'requests in doubt afterwards', '0', String(list.intents?.length));
}

/** The first install into an application that is empty, and its upgrade: there the image alone tells. */
export async function upgrades({ ground, place, findings, expectExit }: Scene): Promise<void> {
  const { server, store } = ground;
  const app = await ground.empty();
  if (app === undefined || store === undefined) return;
  const images = async (): Promise<readonly string[]> => {
    const listed = await server.client.components(app);
    return listed.readable ? listed.value.map(({ image }) => image) : [];
  };
  const docs = (version: string): readonly Doc[] => [
    { kind: 'Application', name: 'app', spec: { ...app } },
    {
      kind: STORE_INSTALL,
      name: 'installed',
      spec: { application: 'app', store: 'store', model: { id: store.modelId, version }, build: false },
    },
  ];
  place.write(docs(store.version));
  const installed = expectExit(
    'workflows/install',
    'apply an install into an empty application',
    0,
    await place.apply(),
  );
  ground.leave(`one installation of ${store.modelId} ${store.version} in application ${app.appId}, by a workflow`);
  expectExit('workflows/install-again', 'the plan afterwards is empty', 0, await place.plan());
  if (!installed || store.upgradeTo === undefined)
    return findings.skip('workflows/upgrade', 'apply another version', 'no --upgrade-to was given');
  const before = await images();
  place.write(docs(store.upgradeTo));
  expectExit('workflows/upgrade', 'apply another version: an upgrade', 0, await place.apply());
  expectExit('workflows/upgrade-again', 'the plan after an upgrade is empty', 0, await place.plan());
  const after = await images();
  const observed = `${after.length === before.length ? 'as many components' : 'other components'}, ${after.some((one) => !before.includes(one)) ? 'another image' : 'the same images'}`;
  findings.check('workflows/upgrade-state', 'the components afterwards', 'as many components, another image', observed);
}

/** Where only a count shows installs, a ledger that has never seen an application does not install into it unasked. */
export async function holdsUnconfirmed({ ground, place, base, findings, expectExit }: Scene): Promise<void> {
  const [application] = base();
  const { store } = ground;
  if (application === undefined || store === undefined) return;
  if (ground.isExtended)
    return findings.skip(
      'workflows/unconfirmed',
      'an install that nobody confirmed',
      'the server lists what is installed',
    );
  const model = { id: store.modelId, version: store.version };
  const install = { application: 'app', store: 'store', model, build: false };
  place.write([application, { kind: STORE_INSTALL, name: 'unconfirmed', spec: install }]);
  const run = await place.run('apply', '-f', join(place.folder, 'manifests.yaml'), '--yes');
  expectExit('workflows/unconfirmed', 'an install with a new ledger that nobody confirmed is held', 4, run);
}
