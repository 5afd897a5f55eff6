import type { Dependencies } from '../../src/controller/api.ts';
import type { ReplicaGroup } from '../../src/model/replicas.ts';
import type { TimeWindow } from '../../src/model/series.ts';
import type { Monitoring } from '../../src/platform/monitoring.ts';
import type { ComponentMonitor } from '../../src/platform/records.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

const load = {
  running: 1,
  waiting: 0,
  concurrency: 8,
  requestsPerSecond: 50,
  max: { concurrency: 16, requestsPerSecond: 50 },
};

/** A component with one item: a sample at each step but the second. */
function monitored(name: string, { startSeconds, endSeconds, stepSeconds }: TimeWindow): ComponentMonitor {
  const samples: (readonly [number, number])[] = [];
  for (let at = startSeconds; at <= endSeconds; at += stepSeconds)
    if (at !== startSeconds + stepSeconds) samples.push([at, samples.length]);
  const items = ['request_time', 'request'].map((item) => ({ name: item, status: 'success', series: [{ samples }] }));
  return { serviceId: `id-of-${name}`, componentName: name, componentAlias: `gr-${name}`, items };
}

export function twoComponents(window: TimeWindow): Monitoring {
  const monitors = ['shop-web', 'shop-api'].map((name) => monitored(name, window));
  return { source: 'region', isEmpty: false, monitors };
}

export const dependencies: Dependencies = {
  platforms: [{ name: 'default', url: 'https://console.example.com', load }],
  regions: [
    {
      platform: 'default',
      region: 'region-1',
      state: 'open',
      message: '',
      sinceMs: null,
      untilMs: null,
      applications: 2,
    },
  ],
  ledger: {
    location: '/var/lib/portolan/portolan.db',
    lineage: 'l',
    epoch: 3,
    bytes: 4096,
    lastWriteMs: NOW,
    serial: 3,
    isReadable: true,
    open: 0,
    inDoubt: 0,
  },
};

/** Two processes, of which one is ending; one platform has no leader. */
export const replicas: ReplicaGroup = {
  isShared: true,
  asOfMs: NOW,
  isCurrent: true,
  replicas: [
    {
      name: 'portolan-0',
      version: '0.1.0',
      address: 'https://portolan.example.com',
      startedMs: NOW,
      seenAgoMs: 1200,
      isDraining: false,
      isSelf: true,
      leads: 2,
    },
    {
      name: 'portolan-1',
      version: '0.1.0',
      address: null,
      startedMs: NOW,
      seenAgoMs: 300,
      isDraining: true,
      isSelf: false,
      leads: 0,
    },
  ],
  units: [
    {
      unit: 'platform:default',
      type: 'platform',
      name: 'default',
      leader: 'portolan-0',
      epoch: 3,
      sinceMs: NOW,
      leaseLeftMs: 9_000,
      isConfigured: true,
    },
    {
      unit: 'platform:other',
      type: 'platform',
      name: 'other',
      leader: null,
      epoch: 2,
      sinceMs: NOW,
      leaseLeftMs: null,
      isConfigured: true,
    },
    {
      unit: 'source:default',
      type: 'source',
      name: 'default',
      leader: 'portolan-0',
      epoch: 1,
      sinceMs: NOW,
      leaseLeftMs: 9_000,
      isConfigured: true,
    },
  ],
};
