import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../model/json.ts';
import { Secret } from '../model/secret.ts';
import { unreachable } from '../model/unreachable.ts';
import { operations, paths, WRITE_TIMEOUT_MS } from './operations.ts';
import {
  checkedAlias,
  checkedId,
  checkedInteger,
  checkedPort,
  checkedProtocol,
  checkedServiceName,
  checkedText,
  isWebUrl,
  refuse,
} from './request-values.ts';
import { type ExtensionEncoding, ruleBody } from './rule-wire.ts';
import type { PlatformRequest, WireJson, WireObject } from './transport.ts';
import type { AppAddress, DeclaredWrite, ListedWrite, PortActionFields, WriteRequest } from './writes.ts';

/**
 * The HTTP request of a write.
 * @throws PortolanError `invalid` when a value is not a documented one.
 */
export function writeRequest(write: WriteRequest, extensions: ExtensionEncoding): PlatformRequest {
  if ('declared' in write) return declaredRequest(write);
  const { path, query = {}, body } = contentOf(write, extensions);
  const { method, timeoutMs } = operations[write.operation];
  if (timeoutMs === undefined) throw new TypeError(`${write.operation} has no timeout of its own`);
  return {
    operation: write.operation,
    method,
    path,
    query,
    ...(body === undefined ? {} : { body }),
    isRead: false,
    timeoutMs,
  };
}

function declaredRequest({ operation, app, declared: { method, segments, body } }: DeclaredWrite): PlatformRequest {
  return {
    operation,
    method,
    path: paths.below(checkedApp(app), segments),
    query: {},
    ...(body === undefined ? {} : { body }),
    isRead: false,
    timeoutMs: WRITE_TIMEOUT_MS,
  };
}

/** Hex SHA-256 over the canonical request, every secret left out: equal for equal requests, and safe to store. */
export function hashOf(request: PlatformRequest): string {
  const { method, path, query, body } = request;
  const text = canonicalJson({ method, path, query, ...(body === undefined ? {} : { body: withoutSecrets(body) }) });
  return hash('sha256', text);
}

function withoutSecrets(value: WireJson): Json | undefined {
  if (value instanceof Secret) return undefined;
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((item) => withoutSecrets(item) ?? null);
  const members = Object.entries(value).map(([key, item]) => [
    key,
    item === undefined ? undefined : withoutSecrets(item),
  ]);
  return Object.fromEntries(members) as Json;
}

// Array.isArray does not narrow a readonly array out of a union.
function isList(value: readonly WireJson[] | WireObject): value is readonly WireJson[] {
  return Array.isArray(value);
}

interface Content {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: WireObject;
}

function contentOf(write: ListedWrite, extensions: ExtensionEncoding): Content {
  switch (write.operation) {
    case 'addPort':
      return {
        path: paths.ports(checkedApp(write.app), checkedId(write.serviceId, 'component id')),
        body: portBody(write.port),
      };
    case 'updatePort':
      return {
        path: paths.port(checkedApp(write.app), checkedId(write.serviceId, 'component id'), checkedPort(write.port)),
        body: portActionBody(write.change),
      };
    case 'deletePort':
      return {
        path: paths.port(checkedApp(write.app), checkedId(write.serviceId, 'component id'), checkedPort(write.port)),
      };
    case 'createRule':
      return {
        path: paths.rules(checkedApp(write.app)),
        body: ruleBody(write.rule, 'create', extensions),
      };
    case 'updateRule':
      return {
        path: paths.rule(checkedApp(write.app), checkedId(write.ruleId, 'rule id')),
        body: ruleBody(write.rule, 'update', extensions),
      };
    case 'deleteRule':
      return { path: paths.rule(checkedApp(write.app), checkedId(write.ruleId, 'rule id')) };
    case 'install':
      return {
        path: paths.install(checkedApp(write.app)),
        // Any value builds, "false" too: only leaving it out does not.
        ...(write.build ? { query: { is_deploy: 'true' } } : {}),
        body: installBody(write),
      };
    case 'upgrade':
      return {
        path: paths.upgrade(checkedApp(write.app)),
        body: upgradeBody(write),
      };
    case 'createApplication':
      return {
        path: paths.teamApps(write.team, write.region),
        body: {
          app_name: checkedText(write.name, 'application name', 128),
          k8s_app: checkedServiceName(write.k8sApp, 'application name inside the cluster'),
        },
      };
    default:
      return unreachable(write);
  }
}

function checkedApp(app: AppAddress): AppAddress {
  checkedInteger(app.appId, 'application id', 1);
  return app;
}

function upgradeBody(write: Extract<ListedWrite, { operation: 'upgrade' }>): WireObject {
  return {
    update_versions: [
      {
        app_model_id: checkedText(write.modelId, 'model id', 64),
        app_model_version: checkedText(write.modelVersion, 'model version', 64),
        // Required, and null for a model of the platform's own library.
        market_name: write.marketName === null ? null : checkedText(write.marketName, 'store name', 64),
      },
    ],
  };
}

function portBody(port: Extract<ListedWrite, { operation: 'addPort' }>['port']): WireObject {
  return {
    port: String(checkedPort(port.port)), // documented as a string; a real server takes either
    protocol: checkedProtocol(port.protocol),
    ...(port.alias === undefined ? {} : { port_alias: checkedAlias(port.alias) }),
    is_inner_service: port.inner,
  };
}

function portActionBody(change: PortActionFields): WireObject {
  switch (change.action) {
    case 'open_outer':
    case 'close_outer':
    case 'open_inner':
    case 'close_inner':
      return { action: change.action };
    case 'change_protocol':
      return { action: change.action, protocol: checkedProtocol(change.protocol) };
    case 'change_port_alias':
      return {
        action: change.action,
        port_alias: checkedAlias(change.alias),
        k8s_service_name: checkedServiceName(change.serviceName),
      };
    default: {
      const { action } = change satisfies never as PortActionFields;
      return refuse('action', 'a documented port action', action);
    }
  }
}

function installBody(install: Extract<ListedWrite, { operation: 'install' }>): WireObject {
  const { store } = install;
  // The length alone is looked at; the key itself is revealed only where bytes are written.
  const keyLength = store.accessKey?.reveal().length ?? 1;
  if (keyLength < 1 || keyLength > 64) refuse(`access key (${store.accessKey?.origin})`, '1 to 64 characters');
  if (!isWebUrl(store.url) || store.url.length > 255) {
    refuse('store address', 'an http or https URL of 255 characters at most, without a password');
  }
  return {
    market_url: store.url,
    market_domain: checkedText(store.domain, 'store domain', 64),
    market_type: checkedText(store.type, 'store type', 64),
    market_access_key: store.accessKey,
    app_model_id: checkedText(install.modelId, 'model id', 64),
    app_model_version: checkedText(install.modelVersion, 'model version', 64),
  };
}
