import { install, upgrade } from '../../../kinds/store-install/requests.ts';
import type { Verdict } from '../../../platform/verdict.ts';
import { Secret } from '../../../model/secret.ts';
import { type InstallExpectation, REFUSED_INSTALLS } from './expectations.ts';
import type { Findings } from './findings.ts';
import type { Ground, StoreModel } from './ground.ts';

/** Installs that are refused, that are repeated, and an upgrade. What they leave behind is listed, for none can be removed. */
export async function checkInstalls(ground: Ground, findings: Findings, signal: AbortSignal): Promise<void> {
  const { store } = ground;
  if (store === undefined) {
    findings.skip('installs', 'installs', 'no store was given (--store-url, --store-domain, --model)');
    return;
  }
  for (const row of REFUSED_INSTALLS) if (!signal.aborted) await checkRefused(ground, findings, { row, store });
  const before = await evidence(ground);
  const verdict = await send(ground, store);
  const after = await evidence(ground);
  ground.leave(
    `one installation of ${store.modelId} ${store.version} in application ${ground.app.appId}, by a repeated request`,
  );
  findings.check(
    'installs/repeated',
    'a repeated install: a second copy',
    'applied, more components',
    `${verdict.verdict}, ${grown(before, after, verdict)}`,
  );
  await checkUpgrade(ground, findings, store);
}

async function checkRefused(
  ground: Ground,
  findings: Findings,
  { row, store }: { readonly row: InstallExpectation; readonly store: StoreModel },
): Promise<void> {
  const before = await evidence(ground);
  const verdict = await send(ground, refusedOf(row, ground, store));
  const after = await evidence(ground);
  const components = before === undefined ? '' : `, ${grown(before, after, verdict)}`;
  const expected = before === undefined ? 'rejected' : 'rejected, no more components';
  findings.check(`installs/${row.id}`, row.title, expected, `${verdict.verdict}${components}`);
}

/**
 * The server keeps the first key that it sees of an address and name of a store: what is refused goes under a name of its own,
 * so that nothing of the given store is spoilt.
 */
function refusedOf({ id }: InstallExpectation, ground: Ground, store: StoreModel): StoreModel {
  switch (id) {
    case 'unknown-model':
      return { ...store, modelId: 'conformance0no0such0model' };
    case 'unknown-version':
      return { ...store, version: '0.0.0-none' };
    case 'refused-key':
      ground.leave(`an entry of the store ${store.url} under the name conformance-refused`);
      return { ...store, domain: 'conformance-refused', accessKey: new Secret('conformance-wrong-key', 'conformance') };
    case 'unreachable-store':
      ground.leave(`an entry of the store ${UNREACHABLE} under the name conformance-unreachable`);
      return { ...store, url: UNREACHABLE, domain: 'conformance-unreachable', accessKey: null };
  }
}

/** The discard port, as the server sees it: nothing answers there. */
const UNREACHABLE = 'http://127.0.0.1:9';

function send({ server, app }: Ground, store: StoreModel): Promise<Verdict> {
  const { modelId, version } = store;
  return server.send(install({ app, build: false, store, modelId, modelVersion: version }));
}

/** Component ids; undefined where the server does not list them. */
async function evidence({ server, app }: Ground): Promise<ReadonlyMap<string, string> | undefined> {
  const listed = await server.client.components(app);
  return listed.readable ? new Map(listed.value.map(({ serviceId, image }) => [serviceId, image])) : undefined;
}

function grown(
  before: ReadonlyMap<string, string> | undefined,
  after: ReadonlyMap<string, string> | undefined,
  verdict: Verdict,
): string {
  if (before === undefined || after === undefined)
    return verdict.verdict === 'applied' && verdict.evidence.type === 'install' ? 'more components' : 'unknown';
  return after.size > before.size ? 'more components' : 'no more components';
}

/** After an upgrade the listing of installed applications stays as it was; the image alone tells. */
async function checkUpgrade(ground: Ground, findings: Findings, store: StoreModel): Promise<void> {
  const { server, app } = ground;
  const installed = await server.client.installed(app);
  const title = 'an upgrade: the image of a component changes';
  const entry = installed.readable ? installed.value.find(({ modelId }) => modelId === store.modelId) : undefined;
  if (store.upgradeTo === undefined || entry === undefined) {
    const why =
      store.upgradeTo === undefined ? 'no --upgrade-to was given' : 'the server lists no installed applications';
    findings.skip('installs/upgrade', title, why);
    return;
  }
  const before = await evidence(ground);
  await server.send(
    upgrade({ app, modelId: store.modelId, modelVersion: store.upgradeTo, marketName: entry.marketName }),
  );
  const after = await evidence(ground);
  const changed = [...(after ?? [])].some(([id, image]) => before?.has(id) === true && before.get(id) !== image);
  findings.check('installs/upgrade', title, 'another image', changed ? 'another image' : 'the same images');
}
