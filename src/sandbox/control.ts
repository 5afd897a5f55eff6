import { PortolanError } from '../model/errors.ts';
import { moveComponent } from './applications.ts';
import { parseBody } from './body.ts';
import { checkFaultRules, type FaultPlan } from './faults.ts';
import { openApiDocument } from './openapi.ts';
import type { RequestLog } from './request-log.ts';
import { type SandboxState, storeAnswers, storeKey } from './state.ts';
import type { Dialect, SandboxRequest, SandboxResponse } from './wire.ts';

const PREFIX = '/_sandbox/';
const OPENAPI_PATH = '/openapi/v1/openapi.json';

/** The parts of the sandbox that the control paths read and change. */
export interface Controlled {
  readonly dialect: Dialect;
  readonly plan: FaultPlan;
  readonly log: RequestLog;
  readonly state: SandboxState;
  alter(change: (state: SandboxState) => void): void;
}

/** Paths that are the sandbox's own: not of the API, not counted, without a token (the server is on loopback only). */
export function isControlPath(path: string): boolean {
  return path.startsWith(PREFIX) || path === OPENAPI_PATH;
}

/**
 * For tests and tools in other processes: `GET health`, `GET|DELETE requests`, `GET|POST|DELETE faults`, `GET state`,
 * `POST regions/<name>`, `POST components/<id>`, `POST stores`, `GET openapi.json`, below `/_sandbox/`.
 */
export function answerControl(sandbox: Controlled, request: SandboxRequest): SandboxResponse {
  const name = request.path === OPENAPI_PATH ? 'openapi.json' : request.path.slice(PREFIX.length);
  const [group = '', id] = name.split(/\/(.*)/s, 2);
  const key = `${request.method} ${id === undefined ? name : group}`;
  switch (key) {
    case 'GET health':
      return json(200, { ok: true, dialect: sandbox.dialect });
    case 'GET openapi.json':
      return json(200, openApiDocument(sandbox.dialect));
    case 'GET state':
      return json(200, stateReport(sandbox.state));
    case 'GET requests':
      return json(200, requestReport(sandbox.log, request.query));
    case 'DELETE requests':
      sandbox.log.clear();
      return json(200, {});
    case 'GET faults':
      return json(200, sandbox.plan.report());
    case 'DELETE faults':
      sandbox.plan.replace([]);
      return json(200, []);
    case 'POST faults':
      return setFaults(sandbox, request);
    case 'POST regions':
      return setRegion(sandbox, request, decodeURIComponent(id ?? ''));
    case 'POST components':
      return setComponent(sandbox, request, decodeURIComponent(id ?? ''));
    case 'POST stores':
      return setStore(sandbox, request);
    default:
      return json(404, { message: `the sandbox has no control path ${request.method} ${request.path}` });
  }
}

/** `?after=<seq>`, `?operation=<name>` and `?writes=true` narrow it. */
function requestReport(log: RequestLog, query: SandboxRequest['query']) {
  const after = Number(query['after'] ?? 0);
  const requests = log
    .entries()
    .filter((entry) => entry.seq > after)
    .filter((entry) => query['operation'] === undefined || entry.operation === query['operation'])
    .filter((entry) => query['writes'] !== 'true' || entry.isWrite);
  return { count: requests.length, writes: requests.filter((entry) => entry.isWrite).length, requests };
}

function setFaults(sandbox: Controlled, request: SandboxRequest): SandboxResponse {
  try {
    sandbox.plan.replace(checkFaultRules(JSON.parse(request.body)));
    return json(200, sandbox.plan.report());
  } catch (error) {
    if (error instanceof PortolanError) return json(400, { message: error.message, remedy: error.remedy });
    if (error instanceof SyntaxError) return json(400, { message: `the rules are not JSON: ${error.message}` });
    throw error;
  }
}

/** `{ "status"?: "3", "reachable"?: false }`: a region goes into maintenance, or its cluster away. */
function setRegion(sandbox: Controlled, request: SandboxRequest, name: string): SandboxResponse {
  const fields = fieldsOf(request);
  const region = sandbox.state.regions.get(name);
  if (region === undefined) return json(404, { message: `the sandbox has no region ${name}` });
  const status = typeof fields['status'] === 'string' ? fields['status'] : region.status;
  const reachable = typeof fields['reachable'] === 'boolean' ? fields['reachable'] : region.reachable;
  sandbox.alter((state) => state.regions.put({ ...region, status, reachable }));
  return json(200, { name, status, reachable });
}

/** `{ "application": 43 }`: the component belongs to another application from now on. */
function setComponent(sandbox: Controlled, request: SandboxRequest, id: string): SandboxResponse {
  const application = Number(fieldsOf(request)['application']);
  if (
    sandbox.state.components.get(id) === undefined ||
    sandbox.state.applications.get(String(application)) === undefined
  ) {
    return json(404, { message: `the sandbox has no component ${id}, or no application ${application}` });
  }
  sandbox.alter((state) => moveComponent(state, id, application));
  return json(200, { id, application });
}

/** `{ "url": …, "domain": …, "answers": "unreachable" }`: how a store answers the server from now on. */
function setStore(sandbox: Controlled, request: SandboxRequest): SandboxResponse {
  const { url, domain, answers } = fieldsOf(request);
  const store = sandbox.state.stores.get(storeKey(String(url), String(domain)));
  if (store === undefined) return json(404, { message: `the sandbox has no store ${url} ${domain}` });
  const answer = storeAnswers.find((known) => known === answers);
  if (answer === undefined) return json(400, { message: `answers must be one of ${storeAnswers.join(', ')}` });
  sandbox.alter((state) => state.stores.put({ ...store, answers: answer }));
  return json(200, { url: store.url, domain: store.domain, answers: answer });
}

function fieldsOf(request: SandboxRequest): Readonly<Record<string, unknown>> {
  const parsed = parseBody(request);
  return 'fields' in parsed ? parsed.fields : {};
}

/** Every table, without the tokens of regions. */
function stateReport(state: SandboxState): Record<string, readonly object[]> {
  const tables = state.dump();
  return { ...tables, regions: [...state.regions.all()].map(({ token: _secret, ...region }) => region) };
}

function json(status: number, body: unknown): SandboxResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
