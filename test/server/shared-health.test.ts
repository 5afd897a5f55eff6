import { expect, test } from 'vitest';
import { SharedWorld } from '../controller/replicas/shared-world.ts';
import { controllerStatus, HandMadeController } from './controller.ts';
import { serve } from './serving.ts';

test('a replica that has started stays ready and alive without the database, and one whose source was not read is not ready', async () => {
  const api = new HandMadeController();
  const { ask } = await serve({ api, replicas: { shared: new SharedWorld().open('one'), leaseMs: 15_000 } });
  const readyAfter = async (ageMs: number, phase: 'starting' | 'running' | 'draining' = 'running') => {
    const { source } = controllerStatus();
    const database = { isReachable: ageMs < 5_000, asOfMs: 1, ageMs };
    api.state = controllerStatus({ phase, database, source: { ...source, error: null } });
    const { status, body } = await ask('/readyz', { role: null });
    expect((await ask('/healthz', { role: null })).status).toBe(200);
    return { status, reasons: (body as { reasons: readonly string[] }).reasons };
  };
  // The ledger itself is not asked: that would wait for the database.
  api.ledgerFails = true;
  expect(await readyAfter(0)).toEqual({ status: 200, reasons: [] });
  expect(await readyAfter(15_000)).toEqual({ status: 200, reasons: [] });
  // Reads show the last state with its age.
  expect(await readyAfter(3_600_000)).toEqual({ status: 200, reasons: [] });
  expect((await ask('/api/v1/status')).body).toMatchObject({ database: { isReachable: false, ageMs: 3_600_000 } });
  expect(await readyAfter(15_001, 'starting')).toEqual({ status: 503, reasons: ['the source was not loaded yet'] });
  expect(await readyAfter(15_001, 'draining')).toEqual({ status: 503, reasons: ['draining'] });
  const starting = controllerStatus({ phase: 'starting', database: { isReachable: true, asOfMs: 1, ageMs: 0 } });
  const error = { code: 'source/not-followed', message: 'a variable of the team differs', remedy: 'Compare.', atMs: 1 };
  api.state = { ...starting, source: { ...starting.source, error } };
  const { body } = await ask('/readyz', { role: null });
  expect(body).toMatchObject({ reasons: ['the source was not accepted yet: source/not-followed'] });
});
