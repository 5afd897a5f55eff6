import { COMPONENT } from '../../../kinds/component/name.ts';
import { GATEWAY_RULE } from '../../../kinds/http-gateway-rule/name.ts';
import type { PortProtocol } from '../../../model/observed.ts';
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
        kind: COMPONENT,
        name: 'web',
        spec: {
          application: 'app',
          serviceId: components[0],
          ports: [{ port, protocol: 'http', alias: `P${port}`, inner: true, outer: true, ...changes }],
        },
      },
    ],
    rule: (domain, spec) => ({
      kind: GATEWAY_RULE,
      name: domain.split('.')[0] ?? domain,
      spec: { application: 'app', component: 'web', port, domain, path: '/', ...spec },
    }),
    expectExit: (id, title, expected, run) =>
      findings.check(id, title, `exit ${expected}`, `exit ${run.code}${run.code === expected ? '' : `: ${tail(run)}`}`),
  };
}

/** Checks that the port of a scene is an open http port, as `base` wants it. @param endpoint of the stream that it may have had. */
export async function expectHttpPort(
  { ground, port, findings }: Scene,
  id: string,
  title: string,
  endpoint: 'none' | 'inactive',
): Promise<void> {
  const seen = await seePort(ground, ground.components[0], port);
  const wanted = { protocol: 'http', inner: true, outer: true, alias: 'first', rules: 'active', endpoint } as const;
  findings.check(id, title, portText(wanted, seen), portText(seen));
}

function tail({ out, err }: Run): string {
  return `${out}\n${err}`.trim().split('\n').slice(-14).join('\n');
}

export async function idsOf({ server, app }: Ground, domain: string): Promise<readonly string[]> {
  const listed = await server.client.rules(app);
  return listed.readable ? listed.value.filter((rule) => rule.domain === domain).map(({ ruleId }) => ruleId) : [];
}

export async function idsText(ground: Ground, domain: string): Promise<string> {
  return (await idsOf(ground, domain)).join(', ') || 'none';
}
