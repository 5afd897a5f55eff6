import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { FileCache } from '../../src/manifest/file-cache.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import type { Resource } from '../../src/model/resource.ts';
import type { SourceReading } from '../../src/source/feed.ts';
import { contentsOf, contentsRead, type Listening, listen } from './feeds.ts';
import { git, repository } from './repositories.ts';

const FILES_PER_APPLICATION = 10;

const pathOf = (application: number, file: number): string =>
  `manifests/team-${application % 20}/app-${application}/${file}.yaml`;

function manifest(application: number, file: number, weight = 100): string {
  const head = (kind: string, name: string) => `apiVersion: portolan/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
  const app = `app-${application}`;
  if (file === 0)
    return `${head('Application', app)}spec: { team: team-a, region: region-1, appId: ${application + 1} }\n`;
  if (file === 1)
    return `${head('Component', `${app}-web`)}spec: { application: ${app}, serviceId: s${application}, serviceName: ${app}-web, ports: [{ port: 8080, protocol: http, alias: WEB, inner: true, outer: true }] }\n`;
  return `${head('HttpGatewayRule', `${app}-${file}`)}spec: { application: ${app}, component: ${app}-web, port: 8080, domain: r${file}.${app}.example.com, path: /, weight: ${weight} }\n`;
}

/** One commit of that many applications, ten files each, without a work tree. */
function manyManifests(applications: number): string {
  const root = repository();
  const files = Array.from({ length: applications * FILES_PER_APPLICATION }, (_, index) => {
    const [application, file] = [Math.floor(index / FILES_PER_APPLICATION), index % FILES_PER_APPLICATION];
    return change(pathOf(application, file), manifest(application, file));
  });
  fastImport(root, files, '');
  return root;
}

function change(path: string, content: string): string {
  return `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
}

function fastImport(root: string, changes: readonly string[], from: string): void {
  const head = `commit refs/heads/main\ncommitter T <t@example.com> 1700000000 +0000\ndata 1\nx\n${from}`;
  execFileSync('git', ['-C', root, 'fast-import', '--quiet', '--date-format=raw'], { input: head + changes.join('') });
}

/** Changes one file among all, and holds what that costs to exactly one. */
export async function holdToItsCost(applications: number): Promise<void> {
  const files = applications * FILES_PER_APPLICATION;
  const root = manyManifests(applications);
  const listening = listen([root], { ref: 'main', settings: { intervalMs: 3_600_000 } });
  const cache = new FileCache();
  const before = loadManifests({ kinds: kindDeclarations, files: contentsOf(await readingOf(listening)).files, cache });
  expect(before.problems).toEqual([]);
  expect(before.desired.size).toBe(files);
  expect([contentsRead(listening.told), cache.parsed]).toEqual([files, files]);

  const [application, file] = [Math.floor(applications / 2), 5];
  fastImport(root, [change(pathOf(application, file), manifest(application, file, 7))], 'from refs/heads/main^0\n');
  const after = loadManifests({ kinds: kindDeclarations, files: contentsOf(await readingOf(listening)).files, cache });
  expect([contentsRead(listening.told), cache.parsed]).toEqual([files + 1, files + 1]);
  const changed = [...after.desired.values()].filter((resource) => before.desired.get(resource.id) !== resource);
  expect(changed.map((resource: Resource) => resource.id)).toEqual([`HttpGatewayRule/app-${application}-${file}`]);
  expect(git(root, 'rev-list', '--count', 'main')).toBe('2');
}

async function readingOf(listening: Listening): Promise<SourceReading> {
  await listening.next(60_000);
  const state = listening.told.at(-1);
  if (state?.type !== 'read') throw new Error(`it was not read: ${state?.error.message}`);
  return state.reading;
}
