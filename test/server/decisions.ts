import type { Author, ControllerApi, ResolveRequest } from '../../src/controller/api.ts';
import type { ResourceId, ScopeKey } from '../../src/model/ids.ts';
import type { Adopted, Doubt, Forgotten, Pruned, Resolved, Retried } from '../../src/model/manual.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import type { ResourceDetails } from '../../src/model/resource-details.ts';
import { planDocument, type PlanDocument } from '../../src/plan/document.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

export function ownedObject(uid: string): OwnedObject {
  return {
    uid,
    scope: 'default/team-a/region-1/42',
    platform: 'default',
    source: 'default',
    kind: 'Component',
    resource: 'Component/shop-web',
    naturalKey: 'port/x/80',
    remoteId: null,
    remoteAux: { former: 1 },
    origin: 'created',
    state: 'present',
    lastApplied: { port: 80 },
    obligation: null,
    failures: 0,
    lastSnapshot: 's',
  };
}

function doubt(id: string): Doubt {
  return {
    id,
    resource: 'Component/shop-web',
    operation: 'addPort',
    summary: 'add port 8080',
    idempotence: 'duplicate-rejecting',
    sentMs: NOW,
    answer: null,
    settleWindow: { state: 'over', atMs: NOW },
    evidence: 'no port 8080, twice',
  };
}

const emptyPlan = planDocument({
  source: 'default',
  revision: null,
  ledger: 'known',
  scopes: [],
  unobserved: [],
  refusals: [],
  notes: [],
});

type Decisions = Pick<
  ControllerApi,
  | 'resource'
  | 'doubts'
  | 'resolve'
  | 'retry'
  | 'forget'
  | 'adoptById'
  | 'planAdoption'
  | 'adopt'
  | 'planPrune'
  | 'prune'
  | 'forgetOrphan'
>;

/** The part of a hand-made controller that people use to decide about the ledger. */
export class HandMadeDecisions implements Decisions {
  /** Every word of it that changes something, as it was said. */
  readonly asked: string[] = [];

  async resource(application: ResourceId, id: ResourceId): Promise<ResourceDetails> {
    const position = { id, file: 'a.yaml', line: 1, column: 1, revision: 'main@sha1:1' };
    return {
      id,
      application,
      status: null,
      source: position,
      observedMs: NOW,
      fields: [],
      pending: [],
      doubts: [doubt('1')],
      records: [],
    };
  }

  async doubts(): Promise<readonly Doubt[]> {
    return [doubt('1')];
  }

  async resolve(id: ResourceId, intent: string, { by, reason, decision }: ResolveRequest): Promise<Resolved> {
    this.asked.push(`resolve ${intent} of ${id} as ${JSON.stringify(decision)} by ${by}: ${reason}`);
    return { intent, decision: decision.type, object: null, warnings: [] };
  }

  async retry(id: ResourceId, resource: ResourceId, by: string): Promise<Retried> {
    this.asked.push(`retry ${resource} of ${id} by ${by}`);
    return { retried: [{ uid: 'a', failures: 3 }] };
  }

  async forget(id: ResourceId, resource: ResourceId, { by, reason }: Author): Promise<Forgotten> {
    this.asked.push(`forget ${resource} of ${id} by ${by}: ${reason}`);
    return { forgotten: [ownedObject('a')], warnings: [] };
  }

  async adoptById(
    id: ResourceId,
    resource: ResourceId,
    { by, reason, objectId }: Author & { readonly objectId: string | undefined },
  ): Promise<Adopted> {
    this.asked.push(`identify ${resource} of ${id} as ${objectId} by ${by}: ${reason}`);
    return { adopted: ownedObject('a') };
  }

  async planAdoption(): Promise<PlanDocument> {
    return emptyPlan;
  }

  async adopt(
    id: ResourceId,
    resource: ResourceId,
    { by, reason, digest }: Author & { readonly digest: string },
  ): Promise<void> {
    this.asked.push(`adopt ${resource} of ${id} as ${digest} by ${by}: ${reason}`);
  }

  async planPrune(_scope: ScopeKey): Promise<PlanDocument> {
    return emptyPlan;
  }

  async prune(scope: ScopeKey, { by, reason, digest }: Author & { readonly digest: string }): Promise<Pruned> {
    this.asked.push(`prune ${scope} as ${digest} by ${by}: ${reason}`);
    return { scope, results: [], error: null, left: 0 };
  }

  async forgetOrphan(scope: ScopeKey, resource: ResourceId | undefined, { by, reason }: Author): Promise<Forgotten> {
    this.asked.push(`forget ${resource ?? 'all'} of ${scope} by ${by}: ${reason}`);
    return { forgotten: [ownedObject('a')], warnings: [] };
  }
}
