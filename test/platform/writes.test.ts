import { expect, test } from 'vitest';
import { writeRequest } from '../../src/platform/requests.ts';
import { defineWrite, NO_EVIDENCE } from '../../src/platform/writes.ts';

const renameThing = defineWrite<{ readonly operation?: string; readonly declared?: unknown }>('renameThing', {
  method: 'PUT',
  class: 'target-state',
  request: () => ({ path: '/openapi/v1/things/1' }),
  evidence: () => NO_EVIDENCE,
});

test('no value that a write is made from says which operation it is, or how it is sent', () => {
  const { declared } = renameThing({});
  const write = renameThing({ operation: 'deleteThing', declared: { ...declared, method: 'DELETE' } });
  expect(writeRequest(write)).toMatchObject({ operation: 'renameThing', method: 'PUT' });
});
