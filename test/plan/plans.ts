import { reconciledKinds } from '../../src/kinds/registry.ts';
import type { LedgerView, StepProposal } from '../../src/kinds/reconciled.ts';
import { type ResourceId, resourceId, type Scope, scopeKey } from '../../src/model/ids.ts';
import { type Intent, objectUid, type OwnedObject } from '../../src/model/owned.ts';
import type { Action, ScopePlan } from '../../src/model/plan.ts';
import type { Resource } from '../../src/model/resource.ts';
import type { DoubtfulIntent, Draft, PlanInput } from '../../src/plan/draft.ts';
import { type PlacedStep, stepId } from '../../src/plan/order.ts';

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

/** A step of a resource; what a test does not speak of neither needs nor gives anything. */
export function stepOf(
  resource: ResourceId,
  key: string,
  proposal: Partial<StepProposal> = {},
  kindOrder = 20,
): PlacedStep {
  const defaults: StepProposal = {
    key,
    step: { type: 'open_outer', serviceId: 's', port: 8080 },
    verb: 'update',
    object: 'port/s/8080',
    summary: `${key} of ${resource}`,
    changes: [],
    effects: [],
    after: [],
    needs: [],
    provides: [],
    prune: false,
  };
  return { id: stepId(resource, key), resource, kindOrder, proposal: { ...defaults, ...proposal } };
}

/** A manifest that has passed its checks. */
export function resourceOf(
  id: ResourceId,
  spec: unknown,
  annotations: Readonly<Record<string, string>> = {},
): Resource {
  const [kind = '', name = ''] = id.split('/');
  const position = { file: 'shop.yaml', line: 1, column: 1 };
  return { id, kind, name, labels: {}, annotations, spec, position };
}

export function memoryOf(...objects: readonly OwnedObject[]): LedgerView {
  return { known: true, scopeRecorded: true, restored: false, objects };
}

/** All that a plan of the scope is made from: no resources, nothing on record, nothing in doubt. */
export function inputOf(parts: Partial<PlanInput> = {}): PlanInput {
  return {
    kinds: reconciledKinds,
    application: resourceId('Application', 'shop'),
    scope,
    source: 'default',
    resources: new Map(),
    live: new Map(),
    withdrawal: new Map(
      ['First', 'Also'].map((kind) => [
        kind,
        {
          rules: { readable: true, value: [] },
          unproven: new Set(),
          ports: new Map(),
          canDeleteRules: true,
          canDeletePorts: true,
        },
      ]),
    ),
    ledgerView: memoryOf(),
    permissions: { adopt: () => false, adoptNamed: () => false, prune: false, firstInstall: () => true },
    targets: undefined,
    inDoubt: [],
    nowMs: 1_000_000,
    ...parts,
  };
}

export function draftOf(parts: Partial<Draft> = {}): Draft {
  return {
    steps: [],
    deferred: [],
    holds: [],
    notes: [],
    waits: [],
    inSync: [],
    forget: [],
    expects: [],
    claimed: new Set(),
    unread: new Set(),
    checkedObligations: new Set(),
    unchangedFields: 0,
    ...parts,
  };
}

/** An intent on port 8080 of `Component/web` whose outcome nobody knows, held until told otherwise. */
export function doubtOf(intent: Partial<Intent> = {}, parts: Partial<DoubtfulIntent> = {}): DoubtfulIntent {
  return {
    intent: {
      id: 'intent-1',
      uid: objectUid('default', scopeKey(scope), 'Component', 'port/s/8080'),
      scope: scopeKey(scope),
      resource: resourceId('Component', 'web'),
      operation: 'updatePort',
      idempotence: 'target-state',
      action: {},
      epoch: 1,
      requestHash: 'hash',
      preimage: null,
      state: 'unknown',
      createdMs: 0,
      sendDeadlineMs: 2_000,
      settleMs: 90_000,
      settleMark: '',
      outcome: null,
      resolvedBy: null,
      ...intent,
    },
    state: 'held',
    evidence: 'two of them were seen',
    ...parts,
  };
}
