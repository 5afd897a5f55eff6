import { createApplication } from '../../src/kinds/application/requests.ts';
import { addPort, deletePort, updatePort } from '../../src/kinds/component/requests.ts';
import { createRule, deleteRule, updateRule } from '../../src/kinds/http-gateway-rule/requests.ts';
import { install, upgrade } from '../../src/kinds/store-install/requests.ts';
import { Secret } from '../../src/model/secret.ts';
import { classify } from '../../src/platform/classifier.ts';
import type { PlatformResponse } from '../../src/platform/transport.ts';
import type { WriteRequest } from '../../src/platform/writes.ts';
import { recordedResponse } from './recorded.ts';
import { VirtualClock } from './virtual-clock.ts';

export const app = { team: 'team-a', region: 'rainbond', appId: 1 };
export const web = 'a'.repeat(32);
export const rule = { serviceId: web, port: 80, domain: 'www.shop.example.com', path: '/' };
const store = { url: 'https://store.example.com', domain: 'm', type: 'rainstore', accessKey: new Secret('k', 'env K') };

/** One of each. */
export const writes = {
  addPort: addPort({ app, serviceId: web, port: { port: 5000, protocol: 'http', inner: false } }),
  updatePort: updatePort({ app, serviceId: web, port: 5000, change: { action: 'open_inner' } }),
  deletePort: deletePort({ app, serviceId: web, port: 5000 }),
  createRule: createRule({ app, rule }),
  updateRule: updateRule({ app, ruleId: '6812f0b26d8282068bd552f1df293c9a', rule }),
  deleteRule: deleteRule({ app, ruleId: '6812f0b26d8282068bd552f1df293c9a' }),
  install: install({ app, build: true, store, modelId: 'm', modelVersion: '1' }),
  upgrade: upgrade({ app, modelId: 'm', modelVersion: '2', marketName: null }),
  createApplication: createApplication({ team: 't', region: 'r', name: 'shop', k8sApp: 'shop' }),
} as const satisfies Readonly<Record<string, WriteRequest>>;
export const everyWrite = Object.values(writes);

/** The verdict in a word; a rejection with its reason, and whether an observation must confirm it. */
export function verdictOf(write: WriteRequest, response: PlatformResponse): string {
  const verdict = classify(write, response, new VirtualClock());
  if (verdict.verdict !== 'rejected') return verdict.verdict;
  return `rejected: ${verdict.reason}${verdict.needsObservation === true ? ' if seen' : ''}`;
}

/** The rule that a real server answered to a creation. */
export function echoOf(): Record<string, unknown> {
  return JSON.parse(recordedResponse('rule that opens outer').body) as Record<string, unknown>;
}

/** The port that a real server answered to an addition. */
export function portBean(): Record<string, unknown> {
  return (JSON.parse(recordedResponse('add a port').body) as { data: { bean: Record<string, unknown> } }).data.bean;
}

const component = JSON.parse(recordedResponse('list components').body)[0] as object;
/** An answer to an install. */
export const installed = {
  enterprise_id: 'e',
  team_id: 't',
  note: '',
  ID: 1,
  region_name: 'r',
  service_list: [component],
};
