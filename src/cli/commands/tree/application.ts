import { kindWithNoun, type ReconciledKinds } from '../../../kinds/define.ts';
import type { ComponentSpec, PortSpec } from '../../../kinds/component/spec.ts';
import { portKey } from '../../../kinds/component/steps.ts';
import type { HttpGatewayRuleSpec } from '../../../kinds/http-gateway-rule/spec.ts';
import { where } from '../../../kinds/http-gateway-rule/asserted.ts';
import { ruleKey } from '../../../kinds/http-gateway-rule/steps.ts';
import type { StoreInstallSpec } from '../../../kinds/store-install/spec.ts';
import { installKey } from '../../../kinds/store-install/steps.ts';
import type { ResourceId } from '../../../model/ids.ts';
import type { ComponentRecord, PortRecord, RuleRecord } from '../../../model/observed.ts';
import type { Resource } from '../../../model/resource.ts';
import type { Prepared } from '../../../reconcile/reconcile.ts';
import { standingOf } from '../status/rows.ts';
import { type Inventory, serviceIdOf } from './inventory.ts';
import type { TreeNode, TreeState } from './node.ts';
import { byName, byNumber, foreignRule, hasPlace, portFacts } from './parts.ts';

/** The tree of one application: installs, components, ports, rules; with what no manifest names. */
export function applicationTree(kinds: ReconciledKinds, inventory: Inventory): TreeNode {
  return new ApplicationTree(kinds, inventory).root();
}

type Standing = Pick<TreeNode, 'state' | 'reason'>;

class ApplicationTree {
  readonly #kinds: ReconciledKinds;
  readonly #prepared: Prepared;
  readonly #components: readonly ComponentRecord[];
  readonly #rules: readonly RuleRecord[];
  readonly #ports: ReadonlyMap<string, readonly PortRecord[]>;
  readonly #resources: readonly Resource[];
  /** Of components that a manifest names. */
  readonly #serviceIds = new Map<ResourceId, string>();

  constructor(kinds: ReconciledKinds, { prepared, components, rules, ports }: Inventory) {
    this.#kinds = kinds;
    this.#prepared = prepared;
    this.#components = components ?? [];
    this.#rules = rules ?? [];
    this.#ports = ports;
    this.#resources = [...prepared.work.resources.values()];
    for (const resource of this.#ofKind<ComponentSpec>('component')) {
      const serviceId = serviceIdOf(resource, prepared);
      if (serviceId !== undefined) this.#serviceIds.set(resource.id, serviceId);
    }
  }

  root(): TreeNode {
    const { work, scope, plan, waits } = this.#prepared;
    const installing = this.#ofKind<StoreInstallSpec>('install');
    const installs = installing.map((install) => this.#install(install));
    const loose = this.#ofKind<ComponentSpec>('component')
      .filter(({ spec }) => !installing.some(({ name }) => name === spec.from?.install))
      .map((component) => this.#component(component));
    const placed = new Set(installing.flatMap(({ name }) => this.#groupOf(name)));
    const foreign = this.#foreignComponents().filter(({ installGroupId }) => !placed.has(installGroupId ?? 0));
    const children = [
      ...byName(installs),
      ...byName(loose),
      ...byName(foreign.map((one) => this.#foreignComponent(one))),
      ...byName(this.#others()),
    ];
    return {
      type: 'application',
      name: work.application.id,
      facts: `${scope.team}/${scope.region}/${scope.appId}`,
      state: worstOf([...plan.inSync, ...this.#resources.map(({ id }) => id)].map((id) => this.#standing(id).state)),
      reason: waits[0]?.message ?? '',
      children,
    };
  }

  #ofKind<Spec>(noun: string): readonly Resource<Spec>[] {
    const kind = kindWithNoun(this.#kinds, noun);
    return this.#resources.filter((resource) => resource.kind === kind) as readonly Resource<Spec>[];
  }

  /** Resources of kinds that have no place of their own here. */
  #others(): readonly TreeNode[] {
    return this.#resources.flatMap((resource): TreeNode[] => {
      const view = this.#kinds.get(resource.kind)?.view;
      if (view === undefined || hasPlace(view)) return [];
      const facts = view.facts?.(resource) ?? '';
      return [{ type: view.noun, name: resource.id, facts, ...this.#standing(resource.id), children: [] }];
    });
  }

  /** Install groups on the platform, by the name of the manifest. */
  #groupOf(name: string): readonly number[] {
    const mine = this.#prepared.memory.objects.find(({ naturalKey }) => naturalKey === installKey(name));
    return mine?.remoteId == null ? [] : [Number(mine.remoteId)];
  }

  #standing(id: ResourceId): Standing {
    const { plan, waits } = this.#prepared;
    const { state, reason } = standingOf(id, plan, waits);
    const drifted = plan.actions.some((action) => action.resource === id && action.cause.includes('drift'));
    const holds = plan.holds.filter((hold) => hold.resource === id);
    switch (state) {
      case 'InSync':
        return { state: 'in-sync', reason: '' };
      case 'OutOfSync':
        return { state: drifted ? 'drifted' : 'to-change', reason };
      case 'Held':
        return { state: holds.some(({ code }) => code.endsWith('/not-ours')) ? 'not-ours' : 'held', reason };
      case 'Waiting':
        return { state: 'waiting', reason };
      case 'Suspended':
        return { state: 'suspended', reason: 'by its annotation' };
      case 'Reported':
        return { state: 'reported', reason };
      case 'Unknown':
        return { state: 'unknown', reason: '' };
    }
  }

  #install(install: Resource<StoreInstallSpec>): TreeNode {
    const { model, store } = install.spec;
    const named = this.#ofKind<ComponentSpec>('component').filter(({ spec }) => spec.from?.install === install.name);
    const groups = new Set(this.#groupOf(install.name));
    const foreign = this.#foreignComponents().filter(({ installGroupId }) => groups.has(installGroupId ?? 0));
    return {
      type: 'install',
      name: install.id,
      facts: `${model.id} ${model.version} from Store/${store}`,
      ...this.#standing(install.id),
      children: [
        ...byName(named.map((component) => this.#component(component))),
        ...byName(foreign.map((one) => this.#foreignComponent(one))),
      ],
    };
  }

  #component(component: Resource<ComponentSpec>): TreeNode {
    const { id, spec } = component;
    const serviceId = this.#serviceIds.get(id);
    const known = this.#ports.get(serviceId ?? '') ?? [];
    const ports = new Map<number, TreeNode>();
    for (const record of known) {
      const wanted = spec.ports.find(({ port }) => port === record.port);
      const standing: Standing =
        wanted === undefined
          ? this.#unlistedPort(component, serviceId, record.port)
          : this.#port(component, serviceId, wanted, true);
      ports.set(record.port, this.#portNode(component, record.port, portFacts(record), standing));
    }
    for (const wanted of spec.ports) {
      if (ports.has(wanted.port)) continue;
      const standing = this.#port(component, serviceId, wanted, false);
      ports.set(wanted.port, this.#portNode(component, wanted.port, portFacts(wanted), standing));
    }
    for (const { port } of this.#rulesOf(component, serviceId))
      if (!ports.has(port)) ports.set(port, this.#portNode(component, port, '', { state: 'unknown', reason: '' }));
    return {
      type: 'component',
      name: id,
      facts: serviceId ?? (spec.from === undefined ? '' : `${spec.from.component} of ${spec.from.install}`),
      ...this.#standing(id),
      children: byNumber(ports),
    };
  }

  /** As the plan has it: what is to be done with this port, what holds it, or how its component stands. */
  #port({ id }: Resource<ComponentSpec>, serviceId: string | undefined, wanted: PortSpec, isThere: boolean): Standing {
    const { plan } = this.#prepared;
    const whole = this.#standing(id);
    if (whole.state === 'suspended' || whole.state === 'unknown' || whole.state === 'waiting')
      return { state: whole.state, reason: '' };
    const path = `ports[${wanted.port}]`;
    const hold = plan.holds.find(
      (one) => one.resource === id && one.changes.some((change) => change.path.startsWith(path)),
    );
    if (hold !== undefined) return { state: 'held', reason: hold.message };
    const actions = plan.actions.filter(
      (one) =>
        one.resource === id && (one.object === portKey(serviceId ?? '', wanted.port) || touches(one.changes, path)),
    );
    if (actions.length > 0) {
      const drifted = actions.some(({ cause }) => cause.includes('drift'));
      return { state: drifted ? 'drifted' : 'to-change', reason: actions.map(({ summary }) => summary).join('; ') };
    }
    const told = plan.notes.find((note) => note.resource === id && touches(note.changes ?? [], path));
    if (told !== undefined) return { state: 'reported', reason: '' };
    return isThere ? { state: 'in-sync', reason: '' } : { state: whole.state, reason: '' };
  }

  #unlistedPort({ id, spec }: Resource<ComponentSpec>, serviceId: string | undefined, port: number): Standing {
    const actions = this.#prepared.plan.actions.filter(
      (one) => one.resource === id && one.object === portKey(serviceId ?? '', port),
    );
    const keeps = spec.unlistedPorts === 'keep' ? '' : `unlistedPorts: ${spec.unlistedPorts}`;
    return {
      state: 'not-in-manifests',
      reason: actions.length > 0 ? actions.map(({ summary }) => summary).join('; ') : keeps,
    };
  }

  #portNode(component: Resource<ComponentSpec>, port: number, facts: string, standing: Standing): TreeNode {
    const serviceId = this.#serviceIds.get(component.id);
    const rules = this.#rulesOf(component, serviceId).filter((rule) => rule.port === port);
    return { type: 'port', name: `port ${port}`, facts, ...standing, children: byName(rules.map(({ node }) => node)) };
  }

  /** Rules of a component, by manifest and by the platform. */
  #rulesOf(
    component: Resource<ComponentSpec>,
    serviceId: string | undefined,
  ): readonly { readonly port: number; readonly node: TreeNode }[] {
    const named = this.#ofKind<HttpGatewayRuleSpec>('rule').filter(({ spec }) => spec.component === component.name);
    const ids = new Set(named.map(({ id }) => id));
    const claimed = new Set([
      ...named.map(({ spec }) => ruleKey({ ...spec, serviceId: serviceId ?? '' })),
      ...this.#prepared.memory.objects.flatMap(({ resource, remoteId }) =>
        ids.has(resource) && remoteId !== null ? [remoteId] : [],
      ),
    ]);
    const foreign = serviceId === undefined ? [] : this.#foreignRules(serviceId, claimed);
    return [
      ...named.map((rule) => ({
        port: rule.spec.port,
        node: {
          type: 'rule' as const,
          name: rule.id,
          facts: where(rule.spec),
          ...this.#standing(rule.id),
          children: [],
        },
      })),
      ...foreign,
    ];
  }

  /** @param claimed ids and keys of the rules that manifests mean. */
  #foreignRules(serviceId: string, claimed: ReadonlySet<string>) {
    const ours = new Set(
      this.#prepared.memory.objects.flatMap(({ kind, state, naturalKey, remoteId }) =>
        kind === kindWithNoun(this.#kinds, 'rule') && state === 'present' ? [remoteId ?? naturalKey] : [],
      ),
    );
    return this.#rules
      .filter((rule) => rule.serviceId === serviceId && !claimed.has(rule.ruleId) && !claimed.has(ruleKey(rule)))
      .map((rule) => ({
        port: rule.port,
        node: foreignRule(rule, ours.has(rule.ruleId) || ours.has(ruleKey(rule)) ? 'withdrawn' : 'not-in-manifests'),
      }));
  }

  #foreignComponents(): readonly ComponentRecord[] {
    const named = new Set(this.#serviceIds.values());
    return this.#components.filter(({ serviceId }) => !named.has(serviceId));
  }

  #foreignComponent({ serviceId, displayName, k8sComponentName, alias }: ComponentRecord): TreeNode {
    const rules = Map.groupBy(this.#foreignRules(serviceId, new Set()), (rule) => rule.port);
    const ports = new Map<number, TreeNode>();
    const add = (port: number, facts: string): void => {
      const children = byName((rules.get(port) ?? []).map(({ node }) => node));
      ports.set(port, { type: 'port', name: `port ${port}`, facts, state: 'not-in-manifests', reason: '', children });
    };
    for (const record of this.#ports.get(serviceId) ?? []) add(record.port, portFacts(record));
    for (const port of rules.keys()) if (!ports.has(port)) add(port, '');
    return {
      type: 'component',
      name: `component ${displayName ?? (k8sComponentName || alias)}`,
      facts: serviceId,
      state: 'not-in-manifests',
      reason: '',
      children: byNumber(ports),
    };
  }
}

function touches(changes: readonly { readonly path: string }[], path: string): boolean {
  return changes.some((change) => change.path.startsWith(path));
}

/** What an application as a whole is, from the first of these that there is. */
const WORST: readonly TreeState[] = ['held', 'unknown', 'drifted', 'to-change', 'waiting', 'reported', 'suspended'];

function worstOf(states: readonly TreeState[]): TreeState {
  if (states.includes('not-ours')) return 'held';
  return WORST.find((state) => states.includes(state)) ?? 'in-sync';
}
