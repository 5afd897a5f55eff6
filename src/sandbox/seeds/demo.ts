import type { Seed, SeedModel } from '../seed.ts';

/** Names and ids that the example manifests refer to. */
export const demo = {
  team: 'team-a',
  region: 'region-1',
  maintenanceRegion: 'region-maint',
  appId: 42,
  application: 'shop',
  /** `serviceId` of `shop-web`: what the visitor sees. */
  webServiceId: '6f3c1d5e8a9b40c7a2e4d6f8091b3c5d',
  /** `serviceId` of `shop-api`. */
  apiServiceId: '7a4d2e6f9bac41d8b3f5e7091a2c4d6e',
  /** `serviceId` of `shop-worker`: no ports. */
  workerServiceId: '8b5e3f70acbd42e9c406f81a2b3d5e7f',
  storeUrl: 'https://store.example.com',
  storeDomain: 'market-1',
  storeType: 'rainstore',
  mysqlModelId: '0a1b2c',
  mysqlVersions: ['8.0.36', '8.0.37'],
  redisModelId: '1b2c3d',
} as const;

const mysql: SeedModel = {
  id: demo.mysqlModelId,
  name: 'MySQL',
  versions: demo.mysqlVersions.map((version) => ({
    version,
    components: [
      {
        key: 'mysql',
        name: 'mysql',
        image: `registry.example.com/mysql:${version}`,
        memoryMib: 512,
        cpuMillis: 500,
        ports: [{ port: 3306, protocol: 'mysql', alias: 'MYSQL', inner: true }],
      },
    ],
  })),
};

const redis: SeedModel = {
  id: demo.redisModelId,
  name: 'Redis with a dashboard',
  versions: ['7.2.4', '7.4.0'].map((version) => ({
    version,
    components: [
      {
        key: 'redis',
        name: 'redis',
        image: `registry.example.com/redis:${version}`,
        memoryMib: 256,
        ports: [{ port: 6379, protocol: 'tcp', alias: 'REDIS', inner: true }],
      },
      {
        key: 'redis-dashboard',
        name: 'redis-dashboard',
        image: `registry.example.com/redis-dashboard:${version}`,
        ports: [{ port: 8081, alias: 'DASHBOARD', inner: true }],
      },
    ],
  })),
};

/** A friendly shop, before any manifest was applied to it. */
export const demoSeed: Seed = {
  enterprise: { id: 'e0e1e2e3e4e5e6e7e8e9eaebecedeeef' },
  regions: [
    {
      id: '11a1b2c3d4e5f60718293a4b5c6d7e8f',
      name: demo.region,
      alias: 'Region One',
      httpDomain: 'region-1.apps.example.com',
      tcpDomain: 'tcp.region-1.apps.example.com',
      websocketUrl: 'wss://ws.region-1.example.com',
    },
    {
      id: '22b1c2d3e4f506172839a4b5c6d7e8f0',
      name: demo.maintenanceRegion,
      alias: 'Region Two',
      httpDomain: 'region-maint.apps.example.com',
      status: '3',
      description: 'under maintenance',
    },
  ],
  teams: [
    { id: 'd0d1d2d3d4d5d6d7d8d9dadbdcdddedf', name: demo.team },
    { id: 'd1d2d3d4d5d6d7d8d9dadbdcdddedfd0', name: 'team-b', regions: [demo.region] },
  ],
  certificates: [{ id: 7, team: demo.team, alias: 'shop.example.com' }],
  applications: [
    {
      id: demo.appId,
      team: demo.team,
      region: demo.region,
      name: demo.application,
      components: [
        {
          id: demo.webServiceId,
          alias: 'gr6f3c1d',
          name: 'shop-web',
          image: 'registry.example.com/shop-web:1.4.0',
          ports: [{ port: 8080, alias: 'GR6F3C1D8080', inner: true }],
        },
        {
          id: demo.apiServiceId,
          alias: 'gr7a4d2e',
          name: 'shop-api',
          image: 'registry.example.com/shop-api:2.1.3',
          ports: [
            { port: 8000, inner: true },
            { port: 9100, alias: 'METRICS', inner: true },
          ],
        },
        {
          id: demo.workerServiceId,
          alias: 'gr8b5e3f',
          name: 'shop-worker',
          image: 'registry.example.com/shop-worker:2.1.3',
          monitored: false,
        },
      ],
    },
    { id: 43, team: demo.team, region: demo.region, name: 'blog' },
    { id: 44, team: 'team-b', region: demo.region, name: 'billing' },
  ],
  stores: [{ url: demo.storeUrl, domain: demo.storeDomain, marketName: 'main', models: [mysql, redis] }],
};
