import { listComponents, listPorts } from '../../../kinds/component/readings.ts';
import { listAllRules, listRules } from '../../../kinds/http-gateway-rule/readings.ts';
import { listInstalled } from '../../../kinds/store-install/readings.ts';
import { PortolanError } from '../../../model/errors.ts';
import type { Ground } from './ground.ts';
import type { Suite } from './suite.ts';

/** A read that Portolan sends, with the expected result, which may be an absence. */
interface ReadExpectation {
  readonly id: string;
  readonly title: string;
  readonly expected: string;
  /** @returns undefined where the server does not have this read. */
  observe(ground: Ground): Promise<string | undefined>;
}

const UNKNOWN_COMPONENT = '0c0f0e0d'.repeat(4);
const UNKNOWN_APP = 999_999_999;

const READS: readonly ReadExpectation[] = [
  {
    id: 'regions',
    title: 'the region is listed and takes changes',
    expected: 'status 1',
    observe: async ({ server, app }) => {
      const region = (await server.client.regions()).find(({ name }) => name === app.region);
      return region === undefined ? 'not listed' : `status ${region.status}`;
    },
  },
  {
    id: 'application',
    title: 'the application',
    expected: 'its own id',
    observe: async ({ server, app }) =>
      (await server.client.application(app))?.appId === app.appId ? 'its own id' : 'another id',
  },
  {
    id: 'unknown-application',
    title: 'an application that does not exist',
    expected: 'absent',
    observe: async ({ server, app }) =>
      (await server.client.application({ ...app, appId: UNKNOWN_APP })) === undefined ? 'absent' : 'a record',
  },
  {
    id: 'ports',
    title: 'the ports of a component',
    expected: 'a list',
    observe: async ({ server, app, components }) =>
      (await server.read(listPorts(components[0]), app)) === undefined ? 'absent' : 'a list',
  },
  {
    id: 'unknown-component',
    title: 'the ports of a component that does not exist',
    expected: 'absent',
    observe: async ({ server, app }) =>
      (await server.read(listPorts(UNKNOWN_COMPONENT), app)) === undefined ? 'absent' : 'a list',
  },
  {
    id: 'components',
    title: 'the components of the application',
    expected: 'all that are known',
    observe: async ({ server, app, components }) => {
      const listed = await server.read(listComponents, app);
      if (listed === undefined) return undefined;
      const ids = new Set(listed.map(({ serviceId }) => serviceId));
      return components.every((id) => ids.has(id)) ? 'all that are known' : 'some are missing';
    },
  },
  {
    id: 'all-rules',
    title: 'the rules of the application are in the listing of all rules',
    expected: 'the same ids',
    observe: async ({ server, app }) => {
      const own = await server.read(listRules, app);
      const all = await server.read(listAllRules, {});
      if (own === undefined || all === undefined) return undefined;
      const placed = all.filter((one) => one.appId === app.appId && one.team === app.team);
      const ids = new Set(placed.map(({ rule }) => rule.ruleId));
      return ids.size === own.length && own.every(({ ruleId }) => ids.has(ruleId)) ? 'the same ids' : 'other ids';
    },
  },
  {
    id: 'installed',
    title: 'the installed applications',
    expected: 'a list',
    observe: async ({ server, app }) => (await server.read(listInstalled, app)) && 'a list',
  },
  {
    id: 'monitor',
    title: 'the monitoring history',
    expected: 'a list',
    observe: async ({ server, app }) => {
      await server.client.monitor(app, { start: 1_700_000_000, end: 1_700_000_600, stepSeconds: 60 });
      return 'a list';
    },
  },
];

export async function checkReads(suite: Suite): Promise<void> {
  for (const { id, title, expected, observe } of READS) {
    const observed = await observe(suite).catch((error: unknown) => {
      if (error instanceof PortolanError) return `${error.code}: ${error.message}`;
      throw error;
    });
    if (observed === undefined) suite.skip(id, title, 'the server has no such address');
    else suite.check(id, title, expected, observed);
  }
}
