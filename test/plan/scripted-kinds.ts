import { defineKind, type ReconciledKinds } from '../../src/kinds/define.ts';
import {
  type DiffContext,
  type Difference,
  noDifference,
  recordedAs,
  type StepProposal,
  type WithdrawContext,
} from '../../src/kinds/reconciled.ts';
import { type ResourceId, scopeKey } from '../../src/model/ids.ts';
import type { Resource } from '../../src/model/resource.ts';
import { objectUid, type OwnedObject } from '../../src/model/owned.ts';
import type { PlanInput } from '../../src/plan/draft.ts';
import { doubtOf, inputOf, objectOf, resourceOf, scope, stepOf } from './plans.ts';

/**
 * Kinds that find what a test says they find: a plan knows nothing of a kind but its differences. What they were asked is kept here, from test to test.
 */
export const seen: DiffContext<unknown, unknown>[] = [];
export const withdrawn: WithdrawContext[] = [];

const scripted = (kind: string, order: number) => ({
  kind,
  order,
  calls: {},
  copyHold: () => holdOf('test/may-be-a-copy'),
  diff: (context: DiffContext<unknown, unknown>) => {
    seen.push(context);
    return { ...noDifference, claims: [context.resource.name], ...(context.live as object) };
  },
  withRemovalMarks: (object: OwnedObject, { annotations }: Resource) =>
    annotations['portolan/prune'] === undefined ? undefined : recordedAs(object, { remoteAux: { kept: true } }),
  withdraw: (object: OwnedObject, context: WithdrawContext) => {
    withdrawn.push(context);
    return { ...noDifference, ...(object.remoteAux as object) };
  },
});

// By name they stand the other way round.
const kinds: ReconciledKinds = new Map(
  [scripted('First', 10), scripted('Also', 20)].map((kind) => [kind.kind, defineKind(kind as never)]),
);

/** What a kind finds of a resource; without `claims` it speaks for one object of the resource's own name. */
export type Found = Partial<Difference>;
export interface Wanted {
  readonly found?: Found;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Resources by id, each with what its kind finds; one that finds `undefined` could not be observed. */
export function wanting(resources: Readonly<Record<string, Wanted>>, parts: Partial<PlanInput> = {}): PlanInput {
  const entries = Object.entries(resources) as [ResourceId, Wanted][];
  return inputOf({
    kinds,
    resources: new Map(entries.map(([id, { annotations }]) => [id, resourceOf(id, { id }, annotations)])),
    live: new Map(entries.flatMap(([id, { found }]) => (found === undefined ? [] : [[id, found] as const]))),
    ...parts,
  });
}

/** A step on the object `a`. */
export const proposal = (key: string, changes: Partial<StepProposal> = {}) =>
  stepOf('First/a', key, { object: 'a', summary: key, ...changes }).proposal;
/** An object on record by its natural key. */
export const row = (id: ResourceId, naturalKey: string, changes: Partial<OwnedObject> = {}) => {
  const kind = id.slice(0, id.indexOf('/'));
  const uid = objectUid(changes.source ?? 'default', scopeKey(scope), kind, naturalKey);
  return objectOf({ resource: id, kind, naturalKey, uid, ...changes });
};
export const remedy = 'do it';
export const holdOf = (code: string) => ({ code, message: `held: ${code}`, remedy, changes: [] });
export const otherwise = { code: 'test/unmet', message: 'nobody gives it', remedy };
export const outer = { field: 'outer', path: 'outer', before: false, after: true };

/** A creation of the object `a` in doubt. */
export const creation = doubtOf(
  { uid: objectUid('default', scopeKey(scope), 'First', 'a'), resource: 'First/a', idempotence: 'duplicate-rejecting' },
  {},
);
