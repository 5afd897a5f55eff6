import { expect, test } from 'vitest';
import type { PlatformRequest, PlatformResponse } from '../../src/platform/transport.ts';
import type { RecordField } from '../../src/platform/record-fields.ts';
import { portTable } from '../../src/kinds/component/wire.ts';
import { placeTable, ruleTable } from '../../src/kinds/http-gateway-rule/wire.ts';
import { installedTable, installTable } from '../../src/kinds/store-install/wire.ts';
import { applicationTable, componentTable, regionTable, summaryTable } from '../../src/platform/records.ts';
import { demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { exampleWork } from '../support/example-work.ts';
import { ScopeWorld } from '../support/scope-world.ts';

type Table = Readonly<Record<string, RecordField<unknown>>>;

/** Fields that are shown at most, of the answers to each operation. */
const shownOf: Readonly<Record<string, readonly string[]>> = {
  listRegions: shownFields(regionTable),
  getApplication: shownFields(applicationTable),
  listApplications: shownFields(summaryTable),
  listComponents: shownFields(componentTable),
  listPorts: shownFields(portTable),
  listRules: shownFields(ruleTable),
  createRule: shownFields(ruleTable),
  updateRule: shownFields(ruleTable),
  listAllRules: shownFields(ruleTable, placeTable),
  listInstalled: shownFields(installedTable),
  install: shownFields(installTable),
};

function shownFields(table: object, stricter: object = {}): readonly string[] {
  const decided = new Set(Object.values(stricter as Table).flatMap(({ wire }) => wire));
  return Object.values(table as Table)
    .filter(({ need, wire }) => need === 'shown' && !decided.has(wire[0]))
    .flatMap(({ wire }) => wire);
}

/** The answer with each of those fields replaced in every record. */
function altered(request: PlatformRequest, response: PlatformResponse, value: unknown): PlatformResponse {
  if (response.status >= 300) return response;
  const json: unknown = response.json ?? JSON.parse(response.body);
  const fields = shownOf[request.operation] ?? [];
  const { json: _, ...rest } = response;
  return { ...rest, body: JSON.stringify(replaced(json, fields, value)) };
}

function replaced(json: unknown, fields: readonly string[], value: unknown): unknown {
  if (Array.isArray(json)) return json.map((item) => replaced(item, fields, value));
  if (typeof json !== 'object' || json === null) return json;
  const record: Record<string, unknown> = { ...json };
  for (const field of fields) if (Object.hasOwn(record, field)) record[field] = value;
  if (Array.isArray(record['service_list']))
    record['service_list'] = replaced(record['service_list'], shownFields(componentTable), value);
  return record;
}

const work = exampleWork();

/** What is written until the install runs and what hangs on it is done, and the plan that is left. */
async function applied(value: { readonly of: unknown } | undefined) {
  const world = new ScopeWorld(demoSeed, 'extended');
  if (value !== undefined) world.alter = (request, response) => altered(request, response, value.of);
  for (let round = 0; round < 10; round += 1) {
    const outcome = await world.pass(work);
    if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
    if (outcome.error !== undefined) throw outcome.error;
    if (outcome.waits.length === 0) {
      const { holds, notes, actions } = outcome.plan;
      const writes = world.writes().map(({ request: { operation, path, body } }) => ({ operation, path, body }));
      return { writes, holds, notes, actions };
    }
    world.clock.advance(5_000);
  }
  throw new Error('still waiting');
}

test.for([
  ['null', null],
  ['a record', { a: 1 }],
  ['words', 'two words'],
  ['a fraction', 23.4375],
  ['a list', [1]],
  ['true', true],
] as const)('%s in every field that is only shown changes no plan, no write and no outcome', async ([, value]) => {
  const usual = await applied(undefined);
  expect(usual.writes.length).toBeGreaterThan(6);
  expect(await applied({ of: value })).toEqual(usual);
});
