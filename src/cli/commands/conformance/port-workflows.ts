import { PRUNE, type Scene, type Workflow } from './scene.ts';
import { portText, seePort } from './suite.ts';

/** Workflows with ports. */
export const portWorkflows: readonly Workflow[] = [
  {
    id: 'apply',
    title: 'apply, and an empty plan afterwards',
    async run({ app, isExtended, domain: domainOf, leave, rule, want, apply, plan, checkHttpPort }) {
      const domain = domainOf('applies');
      want(rule(domain, { weight: 50, cookie: 'a=1', header: 'X-A=1' }));
      await apply('apply', 'apply');
      await plan('apply-again', 'the plan after an apply is empty');
      await checkHttpPort('apply-port', 'the port after an apply');
      if (!isExtended) leave(`rule ${domain}/ of application ${app.appId}`);
    },
  },
  {
    id: 'drift',
    title: 'drift of a port is seen and healed',
    async run({ port, want, apply, plan, check, changePort, portOf }) {
      want();
      await apply('drift-begin', 'apply before drift');
      await changePort(port, { action: 'close_outer' });
      await plan('drift-seen', 'the plan shows that outer access was closed', 2);
      await apply('drift-healed', 'apply opens it again');
      const outer = (await portOf(port))?.outer === true ? 'open' : 'closed';
      check('drift-port', 'outer access after healing', 'open', outer);
    },
  },
  { id: 'protocols', title: 'protocol changes with outer access open', run: changesProtocols },
  {
    id: 'aliases',
    title: 'two ports swap their aliases',
    async run({ write, application, component, freePort, portOf, apply, check }) {
      const ports = [freePort(), freePort()] as const;
      const writeWith = (...aliases: readonly [string, string]): void => {
        const entries = ports.map((port, at) => ({ ...PLAIN, port, alias: aliases[at] }));
        write(application(), component({}, { ports: entries }));
      };
      const [a, b] = [`SWAP${ports[0]}`, `SWAP${ports[1]}`] as const;
      writeWith(a, b);
      await apply('aliases-begin', 'apply with two aliases');
      writeWith(b, a);
      await apply('aliases-swap', 'apply with the two aliases swapped');
      const aliases = [(await portOf(ports[0]))?.alias, (await portOf(ports[1]))?.alias];
      check('aliases-state', 'the aliases afterwards', `${b}, ${a}`, aliases.join(', '));
    },
  },
  {
    // A port that Portolan created is removed with its entry; a port that existed before stays.
    id: 'prune-port',
    title: 'prune removes a port that was created, and leaves one that was found',
    needs: ['rules'],
    async run({ port: created, application, component, write, freePort, addPort, portOf, apply, check }) {
      const found = freePort();
      await addPort(found, PLAIN);
      const kept = { ...PLAIN, port: freePort(), alias: 'KEPT' };
      const added = { port: created, protocol: 'http', alias: `P${created}`, inner: true, outer: true };
      const ports = [added, { ...PLAIN, port: found, alias: `P${found}` }, kept];
      write(application(), component({}, { ports }));
      await apply('prune-port-begin', 'apply a new port beside one that exists');
      write(application(), component({}, { ports: [kept] }));
      await apply('prune-port', 'apply --prune without both entries', 0, ...PRUNE);
      const state = [await portOf(created), await portOf(found)];
      const text = state.map((one) => (one === undefined ? 'absent' : 'there')).join(', ');
      check('prune-port-state', 'the created port, and the one that existed', 'absent, there', text);
    },
  },
  {
    // The server does not check that a component belongs to an empty application: a write through it would succeed.
    id: 'other-application',
    title: 'a component of another application is not written to',
    needs: ['rules'],
    async run(scene) {
      const { port, write, application, component, check } = scene;
      await scene.addPort(port, PLAIN);
      const before = portText(await seePort(scene, port));
      write(application(await scene.empty()), component());
      const run = await scene.place.apply();
      const after = portText(await seePort(scene, port));
      check('other-application-state', 'the component stays as it was', before, after);
      scene.checkExit('other-application', 'apply holds the component', 4, run);
    },
  },
];

const PLAIN = { protocol: 'tcp', inner: false, outer: false } as const;

/** Changes a port through a sequence of protocols. */
async function changesProtocols(scene: Scene): Promise<void> {
  const { port, write, application, component, apply, check } = scene;
  const route = ['http', 'tcp', 'http', 'grpc', 'tcp', 'mysql', 'http', 'udp', 'mysql'] as const;
  for (const [index, protocol] of route.entries()) {
    write(application(), component({ protocol }));
    const before = index === 0 ? 'absent' : route[index - 1];
    const title = `${before} becomes ${protocol}, outer access open`;
    const id = `protocol-${index}-${before}-${protocol}`;
    if (!(await apply(id, title))) return;
    const seen = await seePort(scene, port);
    if (seen === 'absent') {
      check(`${id}-state`, `${title}: what answers afterwards`, `${protocol}, outer open`, seen);
      continue;
    }
    const isHttp = protocol === 'http';
    const [wanted, shown] = [
      [`${protocol}, outer open`],
      [`${seen.protocol}, outer ${seen.outer ? 'open' : 'closed'}`],
    ];
    for (const [what, isWanted] of [
      ['rules', isHttp],
      ['endpoint', !isHttp],
    ] as const) {
      if (seen[what] === undefined) continue;
      wanted.push(`${what} ${isWanted ? 'active' : 'not active'}`);
      shown.push(`${what} ${seen[what] === 'active' ? 'active' : 'not active'}`);
    }
    check(`${id}-state`, `${title}: what answers afterwards`, wanted.join(', '), shown.join(', '));
  }
}
