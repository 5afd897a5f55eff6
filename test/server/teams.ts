import { type HistoryQuery, type MonitoringReading, notOrphaned, type Within } from '../../src/controller/api.ts';
import { parseScopeKey, type ResourceId, type ScopeKey } from '../../src/model/ids.ts';
import type { Forgotten, Pruned } from '../../src/model/manual.ts';
import type { HistoryRow, Intent, OwnedObject } from '../../src/model/owned.ts';
import type { PlanDocument } from '../../src/model/plan-document.ts';
import type { TimeWindow } from '../../src/model/series.ts';
import type { ApplicationStatus, ControllerStatus } from '../../src/model/status.ts';
import { planDocument } from '../../src/plan/document.ts';
import { application, HandMadeController, historyRow, intent, planOf } from './controller.ts';
import { ownedObject } from './decisions.ts';

/** A controller with applications of several teams, whose every answer depends on them alone. */
export class TeamsController extends HandMadeController {
  override list: ApplicationStatus[];
  override rows: HistoryRow[];

  constructor(list: readonly ApplicationStatus[]) {
    super();
    this.list = [...list].sort((left, right) => (left.id < right.id ? -1 : 1));
    const scopes = this.list.flatMap(({ scope }) => (scope === null ? [] : [scope]));
    this.rows = [...scopes, ...scopes, 'source:default']
      .map((scope, at) => ({ ...historyRow(at + 1), scope, detail: null }))
      .reverse();
    this.orphaned = [...new Set(scopes.map((scope) => scope.replace(/\d+$/, '77')))].map((scope) => ({
      scope,
      id: `Component/gone-of-${scope.split('/')[1]}`,
      origin: 'created',
      objects: [],
      sinceMs: 1,
    }));
  }

  #scopeOf(id: ResourceId): ScopeKey | null {
    return this.list.find((one) => one.id === id)?.scope ?? null;
  }

  #scopesOf(id: ResourceId | 'all'): readonly ScopeKey[] {
    return this.list.flatMap((one) => (one.scope !== null && (id === 'all' || one.id === id) ? [one.scope] : []));
  }

  override status(within: Within = () => true): ControllerStatus {
    const own = this.list.filter(({ scope }) => within(scope));
    const regions = new Map(own.map(({ platform, region }) => [`${platform}/${region}`, { platform, region }]));
    return {
      ...this.state,
      source: { ...this.state.source, resources: this.list.length },
      regions: [...regions.values()].map((region) => ({ ...region, state: 'open', message: 'a cause' })),
      orphans: this.orphaned.filter(({ scope }) => within(scope)).length,
      counts: {
        ...this.state.counts,
        applications: own.length,
        failing: own.filter(({ failures }) => failures > 0).length,
      },
    };
  }

  override async history({ application: id, within, limit, beforeSerial = Infinity }: HistoryQuery) {
    const scope = id === undefined ? undefined : this.#scopeOf(id);
    return this.rows
      .filter((row) => row.serial < beforeSerial && (scope === undefined || row.scope === scope))
      .filter((row) => within?.(row.scope) ?? true)
      .slice(0, limit);
  }

  override async objects(id: ResourceId): Promise<readonly OwnedObject[]> {
    return this.#scopesOf(id).map((scope) => ({ ...ownedObject(`object of ${scope}`), scope }));
  }

  override async intents(id: ResourceId | 'all'): Promise<readonly Intent[]> {
    return this.#scopesOf(id).map((scope) => ({ ...intent(`intent of ${scope}`), scope }));
  }

  override async monitoring(id: ResourceId, window: TimeWindow): Promise<MonitoringReading> {
    return { ...(await super.monitoring(id, window)), scope: this.#scopeOf(id) ?? '' };
  }

  #orphaned(scope: ScopeKey): void {
    if (!this.orphaned.some((one) => one.scope === scope)) throw notOrphaned(scope);
  }

  override async planPrune(scope: ScopeKey): Promise<PlanDocument> {
    this.#orphaned(scope);
    return super.planPrune(scope);
  }

  override async prune(...asked: Parameters<HandMadeController['prune']>): Promise<Pruned> {
    this.#orphaned(asked[0]);
    return super.prune(...asked);
  }

  override async forgetOrphan(...asked: Parameters<HandMadeController['forgetOrphan']>): Promise<Forgotten> {
    this.#orphaned(asked[0]);
    return super.forgetOrphan(...asked);
  }

  override async plan(ids: readonly ResourceId[] | 'all'): Promise<PlanDocument> {
    const [sample] = planOf().scopes;
    const scopes = this.list.flatMap(({ id, scope: key }) => {
      const scope = key === null ? undefined : parseScopeKey(key);
      if (sample === undefined || scope === undefined || (ids !== 'all' && !ids.includes(id))) return [];
      return [{ ...sample, application: id, scope }];
    });
    const notes = [{ code: 'scope/orphaned', message: `no Application refers to ${this.orphaned[0]?.scope ?? 'it'}` }];
    return planDocument({ ...planOf(), scopes, notes });
  }
}

/** An application of a team. @param faults consecutive failures. */
export function ofTeam(name: string, scope: ScopeKey | null, faults = 0): ApplicationStatus {
  const [platform = 'default', , region = 'region-1'] = scope?.split('/') ?? [];
  return application(name, { scope, platform, region, failures: faults });
}
