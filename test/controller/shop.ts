import { onTestFinished } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { DaemonWorld } from './daemon.ts';

export const SHOP = 'Application/shop';

export const APPLICATION = `apiVersion: portolan/v1
kind: Application
metadata: { name: shop, labels: { env: prod } }
spec: { team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }
`;

export const BLOG = `apiVersion: portolan/v1
kind: Application
metadata: { name: blog }
spec: { team: ${demo.team}, region: ${demo.region}, appId: 43 }
`;

export const web = (alias: string, annotations = '') => `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web${annotations === '' ? '' : `, annotations: { ${annotations} }`} }
spec:
  application: shop
  serviceId: ${demo.webServiceId}
  ports:
    - { port: 8080, protocol: http, alias: ${alias}, inner: true, outer: true }
`;

export const rule = (name: string, domain: string) => `apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: ${name} }
spec: { application: shop, component: shop-web, port: 8080, domain: ${domain} }
`;

export const FILES = {
  'app.yaml': APPLICATION,
  'blog.yaml': BLOG,
  'web.yaml': web('WEB'),
  'www.yaml': rule('www', 'www.example.com'),
};

/** A daemon at work; it ends with the test. */
export function started(settings?: string): DaemonWorld {
  const world = new DaemonWorld(settings);
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  return world;
}

export const portOf = (world: DaemonWorld) => {
  const row = [...world.state.ports.all()].find(
    ({ serviceId, port }) => serviceId === demo.webServiceId && port === 8080,
  );
  if (row === undefined) throw new Error('the sandbox has no such port');
  return row;
};

export const domains = (world: DaemonWorld): readonly string[] =>
  [...world.state.rules.all()]
    .filter(({ type }) => type === 1)
    .map(({ domain }) => domain)
    .sort();
