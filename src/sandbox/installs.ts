import { hash } from 'node:crypto';
import { bare, clusterFailed, refused, refusedWith } from './answers.ts';
import { componentRecords } from './applications.ts';
import { checkFields, type FieldRule, type Fields, isRecord } from './body.ts';
import { type ApplicationCall, isExtended } from './call.ts';
import { startBuild } from './events.ts';
import { openOuter, serviceNamePattern } from './ports.ts';
import {
  type ComponentRow,
  type InstallRow,
  type MarketRow,
  type ModelComponent,
  type ModelRow,
  type ModelVersion,
  modelKey,
  type PortRow,
  type SandboxState,
  type StoreRow,
  storeKey,
} from './state.ts';
import type { Answer } from './wire.ts';

const installRules: Record<string, FieldRule> = {
  market_url: { type: 'text', required: true, maxLength: 255 },
  market_domain: { type: 'text', required: true, maxLength: 64 },
  market_type: { type: 'text', required: true, maxLength: 64 },
  market_access_key: { type: 'text', required: true, nullable: true, maxLength: 64 },
  app_model_id: { type: 'text', required: true, maxLength: 64 },
  app_model_version: { type: 'text', required: true, maxLength: 64 },
};

/** The version of every component from a store, independent of the version of its model. */
const MODEL_VERSION = '1';

/** The digest of a store's access key; the key itself is not stored. */
export function accessKeyHash(key: string): string {
  return hash('sha256', key);
}

/** 4.9. Each call makes a copy of its own; the answer lists every component of the application. */
export function install(call: ApplicationCall): Answer {
  const { state, application, team, region, request } = call;
  const checked = checkFields(call.body, installRules);
  if ('answer' in checked) return checked.answer;
  const { fields } = checked;
  const market = marketOf(call, fields);
  const found = findModel(state, market, fields.text('app_model_id') ?? '');
  if ('answer' in found) return found.answer;
  const { model } = found;
  const version = model.versions.find((item) => item.version === fields.text('app_model_version'));
  if (version === undefined) return refused(404, 'not found', '云端应用版本不存在');
  if (!region.reachable) return refused(400, 'install app failure', '安装应用发生异常');
  const group: InstallRow = {
    id: state.nextNumber('install'),
    appId: application.id,
    storeUrl: model.storeUrl,
    storeDomain: model.storeDomain,
    modelId: model.id,
    version: version.version,
  };
  state.installs.put(group);
  // The real server takes any value for yes, "false" too; only an absent or empty parameter does not build.
  const builds = (request.query['is_deploy'] ?? '') !== '';
  for (const component of version.components) addComponent(call, group, component, builds);
  return bare({
    enterprise_id: state.facts.enterpriseId,
    team_id: team.id,
    note: application.note,
    ID: application.id,
    region_name: region.name,
    service_list: isExtended(call) ? withoutStatus(componentRecords(call)) : componentRecords(call),
  });
}

/** The real server does not ask the cluster for this answer. */
function withoutStatus(records: readonly object[]): readonly object[] {
  return records.map((record) => ({ ...record, status: '' }));
}

/** Returns the server's record of the store. The first install from it, even a failed one, stores its key permanently. */
function marketOf({ state, context }: ApplicationCall, fields: Fields): MarketRow {
  const url = fields.text('market_url') ?? '';
  const domain = fields.text('market_domain') ?? '';
  const known = state.markets.get(storeKey(url, domain));
  if (known !== undefined) return known;
  const key = fields.text('market_access_key');
  const market: MarketRow = {
    url,
    domain,
    name: state.stores.get(storeKey(url, domain))?.marketName ?? context.newId(),
    keyHash: key === undefined ? null : accessKeyHash(key),
  };
  state.markets.put(market);
  return market;
}

/** Returns the store's answer about a model for the key that the server has; the server passes a refusal on. */
function findModel(
  state: SandboxState,
  market: MarketRow,
  modelId: string,
): { readonly model: ModelRow } | { readonly answer: Answer } {
  const store = state.stores.get(storeKey(market.url, market.domain));
  const denied = storeDenial(store, market);
  if (denied !== undefined) return { answer: denied };
  const model = state.models.get(modelKey(market.url, market.domain, modelId));
  return model === undefined
    ? { answer: refusedByStore(404, '{"code": 404, "msg": "app not found"}', '资源不存在') }
    : { model };
}

function storeDenial(store: StoreRow | undefined, { name, keyHash }: MarketRow): Answer | undefined {
  if (store === undefined || store.answers === 'unreachable') {
    return refusedByStore(400, null, '请求失败，请检查网络和配置');
  }
  const { answers, keyHashes } = store;
  const asked = answers !== 'keys' ? answers : keyHashes.length === 0 ? 200 : keyHash === null ? 401 : 403;
  if (asked === 200 || (answers === 'keys' && keyHash !== null && keyHashes.includes(keyHash))) return undefined;
  if (asked === 500) return refusedByStore(400, '{"code": 500, "msg": "boom"}', '请求失败，请检查网络和配置');
  if (asked === 401) return refused(401, 'no store auth token', '缺少云应用市场token', 10_421);
  return refusedWith(403, {
    message: 'no store permissions',
    shown: '没有云应用商店操作权限,去认证',
    code: 10_407,
    bean: { name },
  });
}

function refusedByStore(status: number, message: string | null, shown: string): Answer {
  return refusedWith(status, { message, shown, code: status, bean: {} });
}

function addComponent(call: ApplicationCall, group: InstallRow, from: ModelComponent, builds: boolean): void {
  const { state, application, context } = call;
  const id = context.newId();
  const alias = `gr${id.slice(-6)}`;
  const component: ComponentRow = {
    id,
    appId: application.id,
    teamId: application.teamId,
    region: application.region,
    alias,
    name: from.name,
    key: from.key,
    k8sName: freeName(call, from, alias),
    image: from.image,
    version: MODEL_VERSION,
    updateVersion: 1,
    groupId: group.id,
    memoryMib: from.memoryMib,
    cpuMillis: from.cpuMillis,
    nodes: 1,
    source: 'market',
    monitored: true,
    life: { type: 'steady', status: 'undeploy' },
    details: { desc: 'install from market app', category: 'app_publish' },
  };
  state.components.put(component);
  if (builds) startBuild(state, context, component, from.buildFailure);
  const serviceName = freeServiceName(call, from, alias);
  for (const port of from.ports) {
    const row: PortRow = {
      serviceId: id,
      port: port.port,
      protocol: port.protocol,
      alias: port.alias ?? `${component.alias.toUpperCase()}${port.port}`,
      inner: port.inner,
      outer: false,
      serviceName,
    };
    if (port.outer) openOuter(state, context, component, row);
    else state.ports.put(row);
  }
}

/** The name in the cluster that the model wants, or the alias where it wants none or another component has it. */
function freeName({ state, application }: ApplicationCall, { k8sName }: ModelComponent, alias: string): string {
  const siblings = state.components.in('application', String(application.id));
  return k8sName === null || siblings.some((row) => row.k8sName === k8sName) ? alias : k8sName;
}

/** The service name of the model, with something after it where another component of the team has it. */
function freeServiceName({ state, team, context }: ApplicationCall, from: ModelComponent, alias: string): string {
  const wanted = from.k8sName ?? from.name;
  if (!serviceNamePattern.test(wanted)) return `${alias}-${from.ports[0]?.port ?? ''}`;
  const isTaken = state.ports
    .in('serviceName', wanted)
    .some((port) => state.components.get(port.serviceId)?.teamId === team.id);
  return isTaken ? `${wanted}-${context.newId().slice(0, 4)}` : wanted;
}

/**
 * Extended: what is installed. Two copies of one model are two equal entries, and an upgrade changes none of them. The
 * server asks the store of each, so a store that refuses or cannot be reached fails the whole listing. An install that has no
 * component here any more is not listed.
 */
export function listInstalled({ state, application }: ApplicationCall): Answer {
  const entries: object[] = [];
  const components = state.components.in('application', String(application.id));
  for (const group of state.installs.in('application', String(application.id))) {
    if (!components.some((component) => component.groupId === group.id)) continue;
    const market = state.markets.get(storeKey(group.storeUrl, group.storeDomain));
    if (market === undefined) continue;
    const found = findModel(state, market, group.modelId);
    if ('answer' in found) return found.answer;
    const { versions, name } = found.model;
    const newer = versions.slice(versions.findIndex((item) => item.version === group.version) + 1);
    entries.push({
      market_name: market.name,
      app_model_id: group.modelId,
      app_model_name: name,
      current_version: group.version,
      enterprise_id: state.facts.enterpriseId,
      can_upgrade: newer.length > 0,
      upgrade_versions: newer.map((item) => item.version),
      source: 'market',
    });
  }
  return bare(entries);
}

const upgradeRules: Record<string, FieldRule> = {
  update_versions: {
    type: 'list',
    required: true,
    fields: {
      market_name: { type: 'text', required: true, nullable: true, maxLength: 64 },
      app_model_id: { type: 'text', required: true, maxLength: 32 },
      app_model_version: { type: 'text', required: true, maxLength: 64 },
    },
  },
};

/**
 * Extended: moves every copy of the named models to a version. A model that is not installed is passed over in
 * silence, as on the real server; the answer is the listing, with the old versions in it.
 */
export function upgrade(call: ApplicationCall): Answer {
  const { state, application, region } = call;
  const checked = checkFields(call.body, upgradeRules);
  if ('answer' in checked) return checked.answer;
  const groups = state.installs.in('application', String(application.id));
  const moves: { group: InstallRow; version: ModelVersion }[] = [];
  for (const item of (checked.fields.list('update_versions') ?? []).filter(isRecord)) {
    for (const group of groups.filter((row) => row.modelId === item['app_model_id'])) {
      const market = state.markets.get(storeKey(group.storeUrl, group.storeDomain));
      if (market === undefined) continue;
      const found = findModel(state, market, group.modelId);
      if ('answer' in found) return found.answer;
      const version = found.model.versions.find((candidate) => candidate.version === item['app_model_version']);
      if (version === undefined) return refused(404, 'not found', '云端应用版本不存在');
      moves.push({ group, version });
    }
  }
  if (moves.length > 0 && !region.reachable) return clusterFailed();
  for (const { group, version } of moves) moveGroup(call, group, version);
  return listInstalled(call);
}

/** Changes only the image of an existing component and builds it; a running component keeps running. */
function moveGroup(call: ApplicationCall, group: InstallRow, version: ModelVersion): void {
  const { state, application, context } = call;
  const members = state.components
    .in('application', String(application.id))
    .filter((component) => component.groupId === group.id);
  for (const from of version.components) {
    const component = members.find((member) => member.key === from.key);
    if (component === undefined) addComponent(call, group, from, true);
    else {
      const moved = { ...component, image: from.image };
      state.components.put(moved);
      startBuild(state, context, moved, from.buildFailure);
    }
  }
}
