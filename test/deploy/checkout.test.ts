/** What depends on git-sync and on the forge: new commits, but neither the start of a controller nor its readiness. */
import { symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../cli/platform.ts';
import { API_TOKEN, placed, until } from '../processes/place.ts';
import { documents, plain, read, rendered } from './chart.ts';
import type { Part } from './kubernetes.ts';

const SETS: readonly (readonly [string, () => readonly Part[]])[] = [
  ['the manifests', () => [...plain, ...documents(read('monitoring', 'servicemonitor.yaml'))]],
  ['the chart', () => rendered(({ serviceMonitor }) => (serviceMonitor.enabled = true))],
];
const specOf = (objects: readonly Part[], kind: string): Part => objects.find((one) => one.kind === kind).spec;

test.for(SETS)('%s: git-sync does not end, start or ready a pod by its fetches', ([, objects]) => {
  const [sync] = specOf(objects(), 'Deployment').template.spec.initContainers;
  expect(sync.args).toContain('--max-failures=-1');
  // The next container waits for a startup probe of a sidecar, and the readiness of the pod for a readiness probe.
  expect([sync.startupProbe, sync.readinessProbe]).toEqual([undefined, undefined]);
  // The address / of git-sync answers 503 until its first fetch.
  expect(sync.livenessProbe.httpGet).toEqual({ path: '/metrics', port: 'git-sync' });
});

test.for(SETS)('%s: Prometheus reaches the metrics of git-sync', ([, objects]) => {
  const [sync] = specOf(objects(), 'Deployment').template.spec.initContainers;
  const [{ name, containerPort }] = sync.ports;
  expect(sync.args).toEqual(expect.arrayContaining([`--http-bind=:${containerPort}`, '--http-metrics']));
  expect(specOf(objects(), 'Service').ports).toContainEqual({ name, port: containerPort, targetPort: name });
  expect(specOf(objects(), 'ServiceMonitor').endpoints).toContainEqual({
    port: name,
    path: '/metrics',
    interval: '30s',
  });
  expect(specOf(objects(), 'NetworkPolicy').ingress[0].ports).toContainEqual({ port: containerPort, protocol: 'TCP' });
});

test('the volume of the checkout and the memory of git-sync are values of the chart, with the same defaults as the manifests', () => {
  const sizes = (objects: readonly Part[]) => {
    const { initContainers, volumes } = specOf(objects, 'Deployment').template.spec;
    return [volumes.find(({ name }: Part) => name === 'git').emptyDir.sizeLimit, initContainers[0].resources.limits];
  };
  expect([sizes(plain), sizes(rendered())]).toEqual(Array(2).fill(['1Gi', { memory: '256Mi' }]));
  const large = rendered(({ git }) =>
    Object.assign(git, { volumeSize: '8Gi', resources: { limits: { memory: '1Gi' } } }),
  );
  expect(sizes(large)).toEqual(['8Gi', { memory: '1Gi' }]);
});

test.for(SETS)('%s: an update waits until a pod has stayed ready', ([, objects]) => {
  expect(specOf(objects(), 'Deployment').minReadySeconds).toBe(30);
});

/** A place whose checkout is a link in an empty folder, as git-sync has it. */
async function linked() {
  const place = await placed();
  const { checkout } = place;
  const link = join(temporaryFolder(), 'current');
  return {
    place: Object.assign(place, { checkout: link }),
    fetch: () => symlinkSync(checkout, link),
    lose: () => unlinkSync(link),
  };
}

test('a controller waits for its first checkout; after a restart it is ready without one, and corrects drift', async () => {
  const git = await linked();
  const { place } = git;
  const first = await place.daemon();
  const readyz = async (url: string) => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, await response.json()] as const;
  };
  expect(await readyz(first.url)).toEqual([503, { ready: false, reasons: ['the source was not loaded yet'] }]);
  // The alert PortolanStarting.
  const headers = { authorization: `Bearer ${API_TOKEN}` };
  const metrics = await (await fetch(`${first.url}/metrics`, { headers })).text();
  expect(metrics).toContain('portolan_phase{phase="starting"} 1\n');
  git.fetch();
  await until(
    () => place.domains().length === 2 && place.port().alias === 'WEB',
    () => first.outputSoFar().err,
  );
  expect(await readyz(first.url)).toEqual([200, { ready: true, reasons: [] }]);
  first.child.kill('SIGTERM');
  expect((await first.ended).code).toBe(0);

  git.lose();
  place.alterPort('BY_HAND');
  const next = await place.daemon();
  await until(
    () => place.port().alias === 'WEB',
    () => next.outputSoFar().err,
  );
  expect(await readyz(next.url)).toEqual([200, { ready: true, reasons: [] }]);
});
