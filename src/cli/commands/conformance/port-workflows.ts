import { addPort, deletePort, updatePort } from '../../../kinds/component/requests.ts';
import { COMPONENT } from '../../../kinds/component/name.ts';
import { portText, seePort } from './ports.ts';
import type { Doc } from './product.ts';
import { expectHttpPort, type Scene } from './scene.ts';

export async function applies(scene: Scene): Promise<void> {
  const { ground, place, base, rule, expectExit } = scene;
  const domain = ground.domain('applies');
  place.write([...base(), rule(domain, { weight: 50, cookie: 'a=1', header: 'X-A=1' })]);
  expectExit('workflows/apply', 'apply', 0, await place.apply());
  expectExit('workflows/apply-again', 'the plan after an apply is empty', 0, await place.plan());
  await expectHttpPort(scene, 'workflows/apply-port', 'the port after an apply', 'none');
  if (!ground.isExtended) ground.leave(`rule ${domain}/ of application ${ground.app.appId}`);
}

export async function healsPort({ ground, place, port, findings, base, expectExit }: Scene): Promise<void> {
  const { server, app, components } = ground;
  const serviceId = components[0];
  place.write(base());
  expectExit('workflows/drift-begin', 'apply before drift', 0, await place.apply());
  await server.send(updatePort({ app, serviceId, port, change: { action: 'close_outer' } }));
  expectExit('workflows/drift-seen', 'the plan shows that outer access was closed', 2, await place.plan());
  expectExit('workflows/drift-healed', 'apply opens it again', 0, await place.apply());
  const seen = await seePort(ground, serviceId, port);
  findings.check(
    'workflows/drift-port',
    'outer access after healing',
    'open',
    seen !== 'absent' && seen.outer ? 'open' : 'closed',
  );
}

/** Each protocol becomes each other one. */
export async function changesProtocols({ ground, place, port, findings, base, expectExit }: Scene): Promise<void> {
  const route = ['http', 'tcp', 'http', 'grpc', 'tcp', 'mysql', 'http', 'udp', 'mysql'] as const;
  for (const [index, protocol] of route.entries()) {
    place.write(base({ protocol }));
    const before = index === 0 ? 'absent' : route[index - 1];
    const title = `${before} becomes ${protocol}, outer access open`;
    const id = `workflows/protocol-${index}-${before}-${protocol}`;
    if (!expectExit(id, title, 0, await place.apply())) return;
    const seen = await seePort(ground, ground.components[0], port);
    const isHttp = protocol === 'http';
    const rest = seen === 'absent' ? { rules: undefined, endpoint: undefined } : seen;
    const shown = [
      seen === 'absent' ? 'absent' : `${seen.protocol}, outer ${seen.outer ? 'open' : 'closed'}`,
      ...(rest.rules === undefined ? [] : [`rules ${rest.rules === 'active' ? 'active' : 'not active'}`]),
      ...(rest.endpoint === undefined ? [] : [`endpoint ${rest.endpoint === 'active' ? 'active' : 'not active'}`]),
    ].join(', ');
    const wanted = [
      `${protocol}, outer open`,
      ...(rest.rules === undefined ? [] : [`rules ${isHttp ? 'active' : 'not active'}`]),
      ...(rest.endpoint === undefined ? [] : [`endpoint ${isHttp ? 'not active' : 'active'}`]),
    ].join(', ');
    findings.check(`${id}-state`, `${title}: what answers afterwards`, wanted, shown);
  }
}

export async function swapsAliases({ ground, place, findings, expectExit, base }: Scene): Promise<void> {
  const ports = [ground.freePort(), ground.freePort()] as const;
  const docs = (first: string, second: string): readonly Doc[] => {
    const [application, component] = base();
    const entries = [first, second].map((alias, index) => ({
      port: ports[index],
      protocol: 'tcp',
      alias,
      inner: false,
      outer: false,
    }));
    return [application, component].flatMap((doc) => {
      if (doc === undefined) return [];
      return doc.kind === COMPONENT ? [{ ...doc, spec: { ...doc.spec, ports: entries } }] : [doc];
    });
  };
  const [a, b] = ports.map((port) => `SWAP${port}`) as [string, string];
  place.write(docs(a, b));
  expectExit('workflows/aliases-begin', 'apply with two aliases', 0, await place.apply());
  place.write(docs(b, a));
  expectExit('workflows/aliases-swap', 'apply with the two aliases swapped', 0, await place.apply());
  const records = await ground.server.client.ports(ground.app, ground.components[0]);
  const aliases = ports.map((port) => records?.find((one) => one.port === port)?.alias);
  findings.check('workflows/aliases-state', 'the aliases afterwards', `${b}, ${a}`, aliases.join(', '));
}

/** An empty application does not check whether a component is its own: a write through it would really write. */
export async function keepsAway({ ground, place, port, base, findings, expectExit }: Scene): Promise<void> {
  const { server, app, components } = ground;
  const empty = await ground.empty();
  const serviceId = components[0];
  if (empty === undefined)
    return findings.skip('workflows/other-application', 'an empty application', 'none could be created');
  await server.send(addPort({ app, serviceId, port: { port, protocol: 'tcp', inner: false, alias: `P${port}` } }));
  const before = portText(await seePort(ground, serviceId, port));
  const [, component] = base({ protocol: 'http' });
  const application = { kind: 'Application', name: 'app', spec: { ...empty } };
  place.write(component === undefined ? [] : [application, component]);
  const run = await place.apply();
  findings.check(
    'workflows/other-application-state',
    'the component stays as it was',
    before,
    portText(await seePort(ground, serviceId, port)),
  );
  expectExit('workflows/other-application', 'apply holds the component', 4, run);
}

/** A component that moved away holds itself back, and not the rest of its former application. */
export async function releasesMoved({ ground, place, port, base, findings, expectExit }: Scene): Promise<void> {
  const { server, components } = ground;
  const id = 'workflows/moved-component';
  const former = await ground.empty();
  const listed = former === undefined ? undefined : await server.client.components(former);
  const own = listed?.readable === true ? listed.value[0] : undefined;
  if (former === undefined || own === undefined)
    return findings.skip(id, 'a component that moved', 'there is no second application with a component');
  const before = portText(await seePort(ground, components[0], port));
  const [, moved] = base();
  const ports = [{ port, protocol: 'http', alias: `P${port}`, inner: true, outer: false }];
  const stayed: Doc = { kind: COMPONENT, name: 'own', spec: { application: 'app', serviceId: own.serviceId, ports } };
  const application: Doc = { kind: 'Application', name: 'app', spec: { ...former } };
  place.write(moved === undefined ? [] : [application, stayed, moved]);
  expectExit(id, 'apply holds the component that moved', 4, await place.apply());
  const records = await server.client.ports(former, own.serviceId);
  const reconciled = records?.some((one) => one.port === port && one.inner) === true ? 'reconciled' : 'not reconciled';
  findings.check(`${id}-rest`, 'the rest of its former application', 'reconciled', reconciled);
  const after = portText(await seePort(ground, components[0], port));
  findings.check(`${id}-state`, 'the component that moved', before, after);
  for (const action of ['close_outer', 'close_inner'] as const)
    await server.send(updatePort({ app: former, serviceId: own.serviceId, port, change: { action } }));
  await server.send(deletePort({ app: former, serviceId: own.serviceId, port }));
}

/** A port that Portolan created goes with its entry; one that it found stays. */
export async function prunesPort({ ground, place, port, base, findings, expectExit }: Scene): Promise<void> {
  const { server, app, components } = ground;
  const serviceId = components[0];
  const found = ground.freePort();
  const entry = { protocol: 'tcp', inner: false, outer: false } as const;
  await server.send(addPort({ app, serviceId, port: { port: found, ...entry, alias: `P${found}` } }));
  const [application, component] = base();
  const docs = (ports: readonly object[]): readonly Doc[] =>
    application === undefined || component === undefined
      ? []
      : [application, { ...component, spec: { ...component.spec, ports } }];
  const foundEntry = { port: found, ...entry, alias: `P${found}` };
  const created = { port, protocol: 'http', alias: `P${port}`, inner: true, outer: true };
  const kept = { port: ground.freePort(), protocol: 'tcp', alias: 'KEPT', inner: false, outer: false };
  place.write(docs([created, foundEntry, kept]));
  expectExit('workflows/prune-port-begin', 'apply a new port beside one that exists', 0, await place.apply());
  place.write(docs([kept]));
  const run = await place.apply('--prune', '--max-share', '1');
  expectExit('workflows/prune-port', 'apply --prune without both entries', 0, run);
  const state = [await seePort(ground, serviceId, port), await seePort(ground, serviceId, found)];
  const text = state.map((one) => (one === 'absent' ? 'absent' : 'there')).join(', ');
  findings.check('workflows/prune-port-state', 'the created port, and the one that existed', 'absent, there', text);
}
