import { expect, test } from 'vitest';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { planFailure, sourceFailure } from '../../src/source/thread-failures.ts';

test('a thread that fails is a bug of the server in a plan request, and a rejected commit in a source', () => {
  const limits = () => defaultSettings().source.limits;
  const plan = planFailure(limits);
  const source = sourceFailure(limits);
  const failed = { type: 'failed', reason: 'a bug' } as const;
  expect(plan(failed)).toMatchObject({ code: 'plan/thread-failed', disposition: 'give-up' });
  expect(plan({ type: 'too-slow' })).toMatchObject({ code: 'plan/too-slow', disposition: 'invalid' });
  expect(source(failed, 'main')).toMatchObject({ code: 'source/thread-failed', disposition: 'invalid' });
});
