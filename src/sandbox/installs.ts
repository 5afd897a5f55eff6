import { hash } from 'node:crypto';
import { bare, clusterFailed, refused } from './answers.ts';
import { componentRecords } from './applications.ts';
import { checkFields, type FieldRule, type Fields, isRecord } from './body.ts';
import type { ApplicationCall } from './call.ts';
import { openOuter } from './ports.ts';
import {
  type ComponentLife,
  type ComponentRow,
  type InstallRow,
  type ModelComponent,
  type ModelRow,
  type ModelVersion,
  modelKey,
  type PortRow,
  type SandboxState,
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

/** How a store's access key is kept: never itself. */
export function accessKeyHash(key: string): string {
  return hash('sha256', key);
}

/** 4.9. Each call makes a copy of its own; the answer lists every component of the application. */
export function install(call: ApplicationCall): Answer {
  const { state, application, team, region, request, context } = call;
  const checked = checkFields(call.body, installRules);
  if ('answer' in checked) return checked.answer;
  const found = findModel(state, checked.fields);
  if ('answer' in found) return found.answer;
  if (!region.reachable) return clusterFailed();
  const { model, version } = found;
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
  const life: ComponentLife =
    (request.query['is_deploy'] ?? '') === ''
      ? { type: 'steady', status: 'undeploy' }
      : { type: 'building', readyAtMs: context.nowMs + state.facts.startAfterMs };
  for (const component of version.components) addComponent(call, group, component, version.version, life);
  return bare({
    enterprise_id: state.facts.enterpriseId,
    team_id: team.id,
    note: application.note,
    ID: application.id,
    region_name: region.name,
    service_list: componentRecords(call),
  });
}

type FoundModel = { readonly model: ModelRow; readonly version: ModelVersion } | { readonly answer: Answer };

function findModel(state: SandboxState, fields: Fields): FoundModel {
  const url = fields.text('market_url') ?? '';
  const domain = fields.text('market_domain') ?? '';
  const store = state.stores.get(storeKey(url, domain));
  if (store === undefined) return { answer: refused(400, 'call market api failure', '无法连接应用商店') };
  const key = fields.text('market_access_key');
  if (store.keyHashes.length > 0 && (key === undefined || !store.keyHashes.includes(accessKeyHash(key)))) {
    return { answer: refused(400, 'no store permission', '应用商店令牌无效') };
  }
  const model = state.models.get(modelKey(url, domain, fields.text('app_model_id') ?? ''));
  if (model === undefined) return { answer: refused(404, 'not found', '云端应用不存在') };
  const version = model.versions.find((item) => item.version === fields.text('app_model_version'));
  if (version === undefined) return { answer: refused(404, 'not found', '云端应用版本不存在') };
  return { model, version };
}

function addComponent(
  call: ApplicationCall,
  group: InstallRow,
  from: ModelComponent,
  version: string,
  life: ComponentLife,
): void {
  const { state, application, context } = call;
  const id = context.newId();
  const siblings = state.components.in('application', String(application.id));
  const isNameTaken = siblings.some((row) => row.k8sName === from.k8sName);
  const component: ComponentRow = {
    id,
    appId: application.id,
    teamId: application.teamId,
    region: application.region,
    alias: `gr${id.slice(0, 6)}`,
    name: from.name,
    key: from.key,
    k8sName: isNameTaken ? `${from.k8sName}-${id.slice(0, 4)}` : from.k8sName,
    image: from.image,
    version,
    updateVersion: 1,
    groupId: group.id,
    memoryMib: from.memoryMib,
    cpuMillis: from.cpuMillis,
    nodes: 1,
    source: 'market',
    monitored: true,
    life,
  };
  state.components.put(component);
  for (const port of from.ports) {
    const row: PortRow = {
      serviceId: id,
      port: port.port,
      protocol: port.protocol,
      alias: port.alias ?? `${component.alias.toUpperCase()}${port.port}`,
      inner: port.inner,
      outer: false,
      serviceName: component.alias,
    };
    if (port.outer) openOuter(state, context, component, row);
    else state.ports.put(row);
  }
}

/** Extended: what is installed. Two copies of one model are two equal entries, and an upgrade changes none of them. */
export function listInstalled({ state, application }: ApplicationCall): Answer {
  const groups = state.installs.in('application', String(application.id));
  return bare(
    groups.map((group) => {
      const model = state.models.get(modelKey(group.storeUrl, group.storeDomain, group.modelId));
      const newer = (model?.versions ?? []).slice(
        (model?.versions.findIndex((item) => item.version === group.version) ?? -1) + 1,
      );
      return {
        market_name: state.stores.get(storeKey(group.storeUrl, group.storeDomain))?.marketName ?? '',
        app_model_id: group.modelId,
        app_model_name: model?.name ?? '',
        current_version: group.version,
        enterprise_id: state.facts.enterpriseId,
        can_upgrade: newer.length > 0,
        upgrade_versions: newer.map((item) => item.version),
        source: 'market',
      };
    }),
  );
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
      const model = state.models.get(modelKey(group.storeUrl, group.storeDomain, group.modelId));
      const version = model?.versions.find((candidate) => candidate.version === item['app_model_version']);
      if (version === undefined) return refused(404, 'not found', '云端应用版本不存在');
      moves.push({ group, version });
    }
  }
  if (moves.length > 0 && !region.reachable) return clusterFailed();
  for (const { group, version } of moves) moveGroup(call, group, version);
  return listInstalled(call);
}

function moveGroup(call: ApplicationCall, group: InstallRow, version: ModelVersion): void {
  const { state, application, context } = call;
  const members = state.components
    .in('application', String(application.id))
    .filter((component) => component.groupId === group.id);
  for (const from of version.components) {
    const component = members.find((member) => member.key === from.key);
    if (component === undefined) {
      const readyAtMs = context.nowMs + state.facts.startAfterMs;
      addComponent(call, group, from, version.version, { type: 'building', readyAtMs });
    } else {
      const updateVersion = component.updateVersion + 1;
      state.components.put({ ...component, image: from.image, version: version.version, updateVersion });
    }
  }
}
