import { expect, test } from 'vitest';
import { type ResourceId, resourceId } from '../../src/model/ids.ts';
import type { Resource } from '../../src/model/resource.ts';
import { snapshotId } from '../../src/source/snapshot.ts';

const spec = { team: 't' };
const application = (name: string, content: object = spec): Resource => ({
  id: resourceId('Application', name),
  kind: 'Application',
  name,
  labels: { tier: 'one' },
  annotations: {},
  spec: content,
  position: { file: 'a.yaml', line: 1, column: 1 },
});
const idOf = (...resources: readonly Resource[]): string =>
  snapshotId(new Map<ResourceId, Resource>(resources.map((resource) => [resource.id, resource])));

test('the id of a snapshot is what earlier builds wrote down, so that an upgrade finds it again', () => {
  const both = [application('a'), application('b', { team: 'u' })];
  expect(idOf(...both)).toBe('39a6073bc4533d399858a3cc15688fa8');
  expect(idOf(...both)).toBe('39a6073bc4533d399858a3cc15688fa8');
});

test('resources that share what they say have lines of their own', () => {
  expect(idOf(application('a'))).not.toBe(idOf(application('b')));
  expect(idOf(application('a'), application('b'))).toBe(
    idOf(application('a', { ...spec }), application('b', { ...spec })),
  );
});
