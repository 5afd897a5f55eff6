import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { loadConfiguration, operatorNames } from '../../src/configuration/configuration.ts';
import { groupByApplication } from '../../src/manifest/group.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { nodeFileSystem, readSources } from '../../src/manifest/read.ts';
import { renderProblems } from '../../src/manifest/render.ts';

const fs = nodeFileSystem(async function* () {});

test('the examples have no fault, and every kind of manifest is among them', async () => {
  const { configuration, problems } = loadConfiguration(
    kindDeclarations,
    readFileSync('examples/portolan.yaml'),
    'examples/portolan.yaml',
  );
  expect(renderProblems(problems, { color: false })).toBe('');
  expect(configuration.platforms.get('default')).toMatchObject({ url: 'http://127.0.0.1:7070', dialect: 'auto' });
  expect(configuration.stores.get('main')).toMatchObject({ accessKey: { env: 'STORE_ACCESS_KEY' } });

  // What deploys Portolan, or runs it in CI, is for other programs to read, and is left out.
  const sources = await readSources(['examples'], fs, { exclude: ['examples/portolan.yaml'] });
  const operator = operatorNames(configuration);
  const manifests = loadManifests({
    kinds: kindDeclarations,
    files: sources.files,
    problems: sources.problems,
    operator,
  });
  expect(renderProblems(manifests.problems, { color: false })).toBe('');
  expect(
    groupByApplication(manifests.desired).map(({ application, resources }) => [
      application.id,
      resources.map(({ id }) => id),
    ]),
  ).toEqual([
    ['Application/blog', ['StoreInstall/blog-cache', 'Component/blog-cache']],
    [
      'Application/shop',
      [
        'Component/shop-api',
        'HttpGatewayRule/shop-api',
        'StoreInstall/shop-db',
        'Component/shop-db-mysql',
        'Component/shop-web',
        'HttpGatewayRule/shop-www',
      ],
    ],
  ]);
});

test('defaults are filled in, fields that are absent stay absent', async () => {
  const { files } = await readSources(['examples/shop'], fs);
  const { desired } = loadManifests({ kinds: kindDeclarations, files });
  expect(desired.get('Application/shop')?.spec).toEqual({
    platform: 'default',
    team: 'team-a',
    region: 'region-1',
    appId: 42,
  });
  expect(desired.get('HttpGatewayRule/shop-api')?.spec).toEqual({
    application: 'shop',
    onImmutableChange: 'hold',
    component: 'shop-api',
    port: 8000,
    domain: 'api.shop.example.com',
    path: '/v1',
  });
});
