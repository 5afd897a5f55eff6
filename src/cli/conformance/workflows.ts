import { join } from 'node:path';
import type { PortProtocol } from '../../model/observed.ts';
import type { RuleFields } from '../../platform/writes.ts';
import type { Findings } from './findings.ts';
import type { Ground } from './ground.ts';
import { portText, seePort } from './ports.ts';
import type { Doc, Run, Workplace } from './product.ts';

/** What one workflow works with: a workplace of its own, and one port of the first component. */
export interface Scene {
  readonly ground: Ground;
  readonly place: Workplace;
  readonly port: number;
  readonly findings: Findings;
  /** The Application document and the component with this port. */
  base(port?: Partial<PortDoc>): readonly Doc[];
  rule(domain: string, spec?: object): Doc;
  /** The exit code of a command, and its words where it is another one. */
  expectExit(id: string, title: string, expected: number, run: Run): boolean;
}

interface PortDoc {
  readonly port: number;
  readonly protocol: PortProtocol;
  readonly alias: string;
  readonly inner: boolean;
  readonly outer: boolean;
}

interface Workflow {
  readonly id: string;
  readonly title: string;
  /** Rules can be listed and changed. */
  readonly needsRules?: true;
  readonly needsStore?: true;
  readonly needsTwoComponents?: true;
  run(scene: Scene): Promise<void>;
}

const WORKFLOWS: readonly Workflow[] = [
  { id: 'apply', title: 'apply, and an empty plan afterwards', run: applies },
  { id: 'drift', title: 'drift of a port is seen and healed', run: healsPort },
  { id: 'protocols', title: 'protocol changes with outer access open', run: changesProtocols },
  { id: 'aliases', title: 'two ports swap their aliases', run: swapsAliases },
  { id: 'edited-rule', title: 'a rule that was edited in place is healed', needsRules: true, run: healsEditedRule },
  {
    id: 'edited-prune',
    title: 'a removal of a rule that was edited in place is held',
    needsRules: true,
    run: holdsEditedRemoval,
  },
  { id: 'prune', title: 'prune removes a rule and nothing else', needsRules: true, run: prunes },
  { id: 'adopt', title: 'a rule that exists is adopted', needsRules: true, run: adopts },
  {
    id: 'weights',
    title: 'one domain and path on two components',
    needsRules: true,
    needsTwoComponents: true,
    run: weighs,
  },
  { id: 'export', title: 'export, and an empty plan of what it wrote', needsRules: true, run: exports },
  {
    id: 'configuration',
    title: 'a changed configuration is not reported as applied',
    needsRules: true,
    run: holdsConfiguration,
  },
  {
    id: 'other-application',
    title: 'a component of another application is not written to',
    needsRules: true,
    run: keepsAway,
  },
  {
    id: 'refused-install',
    title: 'a refused install is a failure, and not in doubt',
    needsStore: true,
    run: refusesInstall,
  },
];

export async function checkWorkflows(
  ground: Ground,
  findings: Findings,
  open: () => Workplace,
  signal: AbortSignal,
): Promise<void> {
  for (const { id, title, needsRules, needsStore, needsTwoComponents, run } of WORKFLOWS) {
    if (signal.aborted) return;
    const lacks =
      (needsRules === true && !ground.isExtended && 'the server cannot list, change or delete rules') ||
      (needsStore === true && ground.store === undefined && 'no store was given') ||
      (needsTwoComponents === true && ground.components.length < 2 && 'the application has only one component');
    if (lacks) findings.skip(`workflows/${id}`, title, lacks);
    else await run(sceneOf(ground, findings, open()));
  }
}

export function sceneOf(ground: Ground, findings: Findings, place: Workplace): Scene {
  const { app, components } = ground;
  const port = ground.freePort();
  const { team, region, appId } = app;
  return {
    ground,
    place,
    port,
    findings,
    base: (changes) => [
      { kind: 'Application', name: 'app', spec: { team, region, appId } },
      {
        kind: 'Component',
        name: 'web',
        spec: {
          application: 'app',
          serviceId: components[0],
          ports: [{ port, protocol: 'http', alias: `P${port}`, inner: true, outer: true, ...changes }],
        },
      },
    ],
    rule: (domain, spec) => ({
      kind: 'HttpGatewayRule',
      name: domain.split('.')[0] ?? domain,
      spec: { application: 'app', component: 'web', port, domain, path: '/', ...spec },
    }),
    expectExit: (id, title, expected, run) =>
      findings.check(id, title, `exit ${expected}`, `exit ${run.code}${run.code === expected ? '' : `: ${tail(run)}`}`),
  };
}

function tail({ out, err }: Run): string {
  return `${out}\n${err}`.trim().split('\n').slice(-14).join('\n');
}

async function applies({ ground, place, port, findings, base, rule, expectExit }: Scene): Promise<void> {
  const domain = ground.domain('applies');
  place.write([...base(), rule(domain, { weight: 50, cookie: 'a=1', header: 'X-A=1' })]);
  expectExit('workflows/apply', 'apply', 0, await place.apply());
  expectExit('workflows/apply-again', 'the plan after an apply is empty', 0, await place.plan());
  const seen = await seePort(ground, ground.components[0], port);
  const wanted = {
    protocol: 'http',
    inner: true,
    outer: true,
    alias: 'first',
    rules: 'active',
    endpoint: 'none',
  } as const;
  findings.check('workflows/apply-port', 'the port after an apply', portText(wanted, seen), portText(seen));
  if (!ground.isExtended) ground.leave(`rule ${domain}/ of application ${ground.app.appId}`);
}

async function healsPort({ ground, place, port, findings, base, expectExit }: Scene): Promise<void> {
  const { server, app, components } = ground;
  const serviceId = components[0];
  place.write(base());
  expectExit('workflows/drift-begin', 'apply before drift', 0, await place.apply());
  await server.send({ operation: 'updatePort', app, serviceId, port, change: { action: 'close_outer' } });
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
async function changesProtocols({ ground, place, port, findings, base, expectExit }: Scene): Promise<void> {
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

async function swapsAliases({ ground, place, findings, expectExit, base }: Scene): Promise<void> {
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
      return doc.kind === 'Component' ? [{ ...doc, spec: { ...doc.spec, ports: entries } }] : [doc];
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

/** Applies one rule and edits it in place. @returns its id, and the fields of the edited one. */
async function editedRule(
  scene: Scene,
  name: string,
): Promise<{ readonly ruleId: string; readonly domains: readonly [string, string] }> {
  const { ground, place, base, rule, port, expectExit } = scene;
  const { server, app, components } = ground;
  const domains = [ground.domain(name), ground.domain(`${name}-edited`)] as const;
  place.write([...base(), rule(domains[0])]);
  expectExit(`workflows/${name}-begin`, 'apply before the edit', 0, await place.apply());
  const ruleId = (await idsOf(ground, domains[0]))[0] ?? '';
  const edited: RuleFields = { serviceId: components[0], port, domain: domains[1], path: '/' };
  await server.send({ operation: 'updateRule', app, ruleId, rule: edited });
  return { ruleId, domains };
}

async function healsEditedRule(scene: Scene): Promise<void> {
  const { ground, place, findings, expectExit } = scene;
  const { ruleId, domains } = await editedRule(scene, 'edited-heal');
  expectExit('workflows/edited-rule-seen', 'the plan shows the edit', 2, await place.plan());
  expectExit('workflows/edited-rule-healed', 'apply takes the edit back', 0, await place.apply());
  const state = `${await idsText(ground, domains[0])}; ${await idsText(ground, domains[1])}`;
  findings.check(
    'workflows/edited-rule-state',
    'the rule afterwards: one, with the former id',
    `${ruleId}; none`,
    state,
  );
}

async function holdsEditedRemoval(scene: Scene): Promise<void> {
  const { ground, place, base, findings, expectExit } = scene;
  const { ruleId, domains } = await editedRule(scene, 'edited-prune');
  place.write(base());
  const run = await place.apply('--prune', '--max-share', '1');
  expectExit('workflows/edited-prune-held', 'prune of an edited rule is held', 4, run);
  findings.check('workflows/edited-prune-state', 'the edited rule stays', ruleId, await idsText(ground, domains[1]));
}

async function prunes({ ground, place, base, rule, findings, expectExit }: Scene): Promise<void> {
  const [kept, removed] = [ground.domain('prune-kept'), ground.domain('prune-removed')];
  place.write([...base(), rule(kept), rule(removed)]);
  expectExit('workflows/prune-begin', 'apply two rules', 0, await place.apply());
  place.write([...base(), rule(kept)]);
  expectExit('workflows/prune-without', 'apply without --prune', 0, await place.apply());
  findings.check(
    'workflows/prune-nothing',
    'nothing is removed without --prune',
    'one rule',
    (await idsOf(ground, removed)).length === 1 ? 'one rule' : 'no rule',
  );
  expectExit('workflows/prune', 'apply --prune', 0, await place.apply('--prune', '--max-share', '1'));
  const left = `${(await idsOf(ground, kept)).length} kept, ${(await idsOf(ground, removed)).length} removed`;
  findings.check('workflows/prune-state', 'the rules afterwards', '1 kept, 0 removed', left);
}

async function adopts({ ground, place, base, rule, port, findings, expectExit }: Scene): Promise<void> {
  const { server, app, components } = ground;
  const domain = ground.domain('adopted');
  place.write(base());
  expectExit('workflows/adopt-begin', 'apply the port', 0, await place.apply());
  await server.send({ operation: 'createRule', app, rule: { serviceId: components[0], port, domain, path: '/' } });
  const before = await idsText(ground, domain);
  place.write([...base(), rule(domain)]);
  expectExit('workflows/adopt-held', 'a rule that is not ours is held', 4, await place.apply());
  expectExit('workflows/adopt', 'apply --adopt', 0, await place.apply('--adopt'));
  expectExit('workflows/adopt-again', 'the plan afterwards is empty', 0, await place.plan());
  findings.check('workflows/adopt-state', 'it is the same rule', before, await idsText(ground, domain));
}

async function weighs({ ground, place, base, rule, port, findings, expectExit }: Scene): Promise<void> {
  const domain = ground.domain('weighs');
  const second: Doc = {
    kind: 'Component',
    name: 'second',
    spec: {
      application: 'app',
      serviceId: ground.components[1],
      ports: [{ port, protocol: 'http', alias: `P${port}`, inner: true, outer: true }],
    },
  };
  const other = rule(domain, { component: 'second', weight: 30 });
  place.write([...base(), second, rule(domain, { weight: 70 }), { ...other, name: 'weighs-second' }]);
  expectExit('workflows/weights', 'apply both rules', 0, await place.apply());
  expectExit('workflows/weights-again', 'the plan afterwards is empty', 0, await place.plan());
  findings.check('workflows/weights-state', 'the rules afterwards', '2', String((await idsOf(ground, domain)).length));
}

async function exports({ ground, place, base, rule, expectExit }: Scene): Promise<void> {
  const { team, region, appId } = ground.app;
  place.write([...base(), rule(ground.domain('exported'), { weight: 40, cookie: 'a=1' })]);
  expectExit('workflows/export-begin', 'apply before the export', 0, await place.apply());
  const folder = join(place.folder, 'exported');
  const run = await place.run('export', '--app', `default/${team}/${region}/${appId}`, '--to', folder);
  expectExit('workflows/export', 'export proves that its plan is empty', 0, run);
  const again = await place.run('plan', '-f', folder, '--ledger', 'none', '--detailed-exitcode');
  expectExit('workflows/export-again', 'the plan of what was exported is empty', 0, again);
}

async function holdsConfiguration({ ground, place, base, rule, findings, expectExit }: Scene): Promise<void> {
  const domain = ground.domain('configured');
  place.write([...base(), rule(domain, { configuration: { proxyReadTimeout: 61 } })]);
  expectExit('workflows/configuration-begin', 'apply a rule with a configuration', 0, await place.apply());
  const before = await idsText(ground, domain);
  place.write([...base(), rule(domain, { configuration: { proxyReadTimeout: 62 } })]);
  expectExit('workflows/configuration', 'another configuration is held', 4, await place.apply());
  findings.check('workflows/configuration-state', 'the rule stays', before, await idsText(ground, domain));
}

/** An empty application does not check whether a component is its own: a write through it would really write. */
async function keepsAway({ ground, place, port, base, findings, expectExit }: Scene): Promise<void> {
  const { server, app, components } = ground;
  const empty = await ground.empty();
  const serviceId = components[0];
  if (empty === undefined)
    return findings.skip('workflows/other-application', 'an empty application', 'none could be created');
  await server.send({
    operation: 'addPort',
    app,
    serviceId,
    port: { port, protocol: 'tcp', inner: false, alias: `P${port}` },
  });
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

async function refusesInstall({ ground, place, base, findings, expectExit }: Scene): Promise<void> {
  const [application] = base();
  if (application === undefined || ground.store === undefined) return;
  place.write([
    application,
    {
      kind: 'StoreInstall',
      name: 'refused',
      spec: { application: 'app', store: 'store', model: { id: 'conformance0no0such0model', version: '1.0' } },
    },
  ]);
  expectExit('workflows/refused-install', 'apply of a model that the store does not have', 1, await place.apply());
  const list = JSON.parse((await place.run('ledger', 'list', '-o', 'json')).out) as { intents?: readonly unknown[] };
  findings.check('workflows/refused-install-doubt', 'requests in doubt afterwards', '0', String(list.intents?.length));
}

export async function idsOf({ server, app }: Ground, domain: string): Promise<readonly string[]> {
  const listed = await server.client.rules(app);
  return listed.readable ? listed.value.filter((rule) => rule.domain === domain).map(({ ruleId }) => ruleId) : [];
}

async function idsText(ground: Ground, domain: string): Promise<string> {
  return (await idsOf(ground, domain)).join(', ') || 'none';
}
