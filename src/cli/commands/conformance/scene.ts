import { COMPONENT } from '../../../kinds/component/name.ts';
import { GATEWAY_RULE } from '../../../kinds/http-gateway-rule/name.ts';
import { STORE_INSTALL } from '../../../kinds/store-install/name.ts';
import type { RuleRecord } from '../../../kinds/http-gateway-rule/wire.ts';
import type { PortRequestFields } from '../../../kinds/component/requests.ts';
import type { Doc, Run } from './product.ts';
import { type Need, portText, seePort, type Suite } from './suite.ts';

/** Holds what one workflow works with: its own workplace, and one port of the first component. */
export type Scene = ReturnType<typeof sceneOf>;

/** A typical task, carried out with Portolan's own commands. */
export interface Workflow {
  readonly id: string;
  readonly title: string;
  readonly needs?: readonly Need[];
  run(scene: Scene): Promise<void>;
}

/** Removes all resources that were removed from the manifests, without a limit. */
export const PRUNE = ['--prune', '--max-share', '1'] as const;

export function sceneOf(suite: Suite) {
  const { check } = suite;
  const place = suite.open();
  const port = suite.freePort();
  const docs = docsOf(suite, port);
  /** Checks the exit code of a command. On a difference, shows its output. */
  const checkExit = (id: string, title: string, expected: number, { code, out, err }: Run): boolean => {
    const words = `${out}\n${err}`.trim().split('\n').slice(-14).join('\n');
    return check(id, title, `exit ${expected}`, `exit ${code}${code === expected ? '' : `: ${words}`}`);
  };
  return {
    ...suite,
    place,
    port,
    ...docs,
    write: (...all: readonly Doc[]): void => place.write(all),
    /** Replaces all manifests with the application, the component with the open port, and these. */
    want: (...more: readonly Doc[]): void => place.write([docs.application(), docs.component(), ...more]),
    checkExit,
    apply: async (id: string, title: string, expected = 0, ...args: readonly string[]): Promise<boolean> =>
      checkExit(id, title, expected, await place.apply(...args)),
    plan: async (id: string, title: string, expected = 0): Promise<boolean> =>
      checkExit(id, title, expected, await place.plan()),
    /**
     * Checks that the port is an open http port, as `want` declares it. @param endpoint of a stream that the port may
     * have had.
     */
    async checkHttpPort(id: string, title: string, endpoint: 'none' | 'inactive' = 'none'): Promise<void> {
      const seen = await seePort(suite, port);
      const wanted = { protocol: 'http', inner: true, outer: true, alias: 'first', rules: 'active', endpoint } as const;
      check(id, title, portText(wanted, seen), portText(seen));
    },
    idsText: async (domain: string): Promise<string> => idsText(await suite.rulesOf(domain)),
    /** Returns the number of rules of each domain: `1 kept, 0 removed`. */
    async countText(domains: Readonly<Record<string, string>>): Promise<string> {
      const counts = Object.entries(domains).map(
        async ([name, domain]) => `${(await suite.rulesOf(domain)).length} ${name}`,
      );
      return (await Promise.all(counts)).join(', ');
    },
  };
}

/** Returns functions that make the manifests of a scene. */
function docsOf({ app, components, store }: Suite, port: number) {
  return {
    application: ({ team, region, appId } = app): Doc => ({
      kind: 'Application',
      name: 'app',
      spec: { team, region, appId },
    }),
    /** A component with the port of this scene, or with others. */
    component: (changes?: Partial<PortRequestFields & { outer: boolean }>, spec?: object, name = 'web'): Doc => ({
      kind: COMPONENT,
      name,
      spec: {
        application: 'app',
        serviceId: components[0],
        ports: [{ port, protocol: 'http', alias: `P${port}`, inner: true, outer: true, ...changes }],
        ...spec,
      },
    }),
    rule: (domain: string, spec?: object, name = domain.split('.')[0] ?? domain): Doc => ({
      kind: GATEWAY_RULE,
      name,
      spec: { application: 'app', component: 'web', port, domain, path: '/', ...spec },
    }),
    install: (name: string, spec?: object): Doc => ({
      kind: STORE_INSTALL,
      name,
      spec: {
        application: 'app',
        store: 'store',
        model: { id: store?.modelId, version: store?.version },
        build: false,
        ...spec,
      },
    }),
  };
}

function idsText(rules: readonly RuleRecord[]): string {
  return rules.map(({ ruleId }) => ruleId).join(', ') || 'none';
}
