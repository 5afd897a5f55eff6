import type { ComponentRecord } from '../model/observed.ts';
import { recordsOf } from './envelope.ts';
import type { Fields } from './fields.ts';

/** The components of an application (extended dialect), in the server's order, which means nothing. */
export function decodeComponents(json: unknown, where: string): readonly ComponentRecord[] {
  return recordsOf(json, where).map(decodeComponent);
}

/** One `ServiceBaseInfo`. What is only shown may be missing; what tells one component from another may not. */
export function decodeComponent(fields: Fields): ComponentRecord {
  return {
    ...identityOf(fields),
    ...sizeOf(fields),
    ...originOf(fields),
    status: fields.textOrNull('status'),
    createStatus: fields.textOrNull('create_status'),
    accessInfos: fields.texts('access_infos'),
    description: fields.textOrNull('desc'),
    category: fields.textOrEmpty('category'),
    version: fields.textOrEmpty('version'),
    updateVersion: fields.integerOrNull('update_version'),
    serviceType: fields.textOrNull('service_type'),
    isInner: fields.flagOrNull('is_service'),
    upgradable: fields.flagOrNull('is_upgrate'),
    upgradeOnBuild: fields.flagOrNull('build_upgrade'),
  };
}

function identityOf(fields: Fields) {
  return {
    serviceId: fields.id('service_id'),
    serviceKey: fields.text('service_key'),
    alias: fields.text('service_alias'),
    displayName: fields.textOrNull('service_cname'),
    installGroupId: fields.integerOrNull('tenant_service_group_id'),
    k8sComponentName: fields.textOrEmpty('k8s_component_name'),
    tenantId: fields.idOrNull('tenant_id') ?? '',
    region: fields.textOrEmpty('service_region'),
  };
}

function sizeOf(fields: Fields) {
  return {
    minNodes: fields.integerOrNull('min_node'),
    minCpuMillis: fields.integerOrNull('min_cpu'),
    gpu: fields.integerOrNull('container_gpu'),
    minMemoryMib: fields.integerOrNull('min_memory'),
    totalMemoryMib: fields.integerOrNull('total_memory'),
    extendMethod: fields.textOrNull('extend_method'),
  };
}

function originOf(fields: Fields) {
  return {
    image: fields.textOrEmpty('image'),
    command: fields.textOrNull('cmd'),
    codeFrom: fields.textOrNull('code_from'),
    gitUrl: fields.textOrNull('git_url'),
    gitProjectId: fields.integerOrNull('git_project_id'),
    codeVersion: fields.textOrNull('code_version'),
    creatorId: fields.integerOrNull('creater'),
    language: fields.textOrNull('language'),
    origin: fields.textOrNull('service_origin'),
    source: fields.textOrNull('service_source'),
    autoDeploy: fields.flagOrNull('open_webhooks'),
    checkUuid: fields.textOrNull('check_uuid'),
    checkEventId: fields.textOrNull('check_event_id'),
    dockerCommand: fields.textOrNull('docker_cmd'),
    repositoryType: fields.textOrNull('server_type'),
    oauthServiceId: fields.integerOrNull('oauth_service_id'),
  };
}
