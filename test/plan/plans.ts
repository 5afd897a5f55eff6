import { resourceId, type Scope, scopeKey } from '../../src/model/ids.ts';
import { objectUid, type OwnedObject } from '../../src/model/owned.ts';
import type { Action, ScopePlan } from '../../src/model/plan.ts';

export const scope: Scope = { platform: 'default', team: 'team-a', region: 'region-1', appId: 42 };

/** An action of a plan; what a test does not speak of is as harmless as can be. */
export function actionOf(changes: Partial<Action> = {}): Action {
  return {
    id: 'Component/web#ports/8080/open_outer',
    resource: resourceId('Component', 'web'),
    verb: 'update',
    step: { type: 'open_outer', serviceId: 's', port: 8080 },
    object: 'port/s/8080',
    summary: 'open outer access of port 8080',
    changes: [],
    effects: [],
    cause: 'git',
    after: [],
    prune: false,
    ...changes,
  };
}

/** A plan with these parts and nothing else. */
export function planOf(parts: Partial<ScopePlan> = {}): ScopePlan {
  return {
    application: resourceId('Application', 'shop'),
    scope,
    actions: [],
    deferred: [],
    holds: [],
    notes: [],
    inSync: [],
    unchangedFields: 0,
    ...parts,
  };
}

/** An object on record, of the source `default`. */
export function objectOf(changes: Partial<OwnedObject> = {}): OwnedObject {
  const naturalKey = changes.naturalKey ?? 'port/s/8080';
  const kind = changes.kind ?? 'Component';
  return {
    uid: objectUid('default', scopeKey(scope), kind, naturalKey),
    scope: scopeKey(scope),
    platform: 'default',
    source: 'default',
    kind,
    resource: resourceId(kind, 'web'),
    naturalKey,
    remoteId: null,
    remoteAux: {},
    origin: 'created',
    state: 'present',
    lastApplied: {},
    obligation: null,
    failures: 0,
    lastSnapshot: 'snapshot',
    ...changes,
  };
}
