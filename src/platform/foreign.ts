import { PortolanError } from '../model/errors.ts';
import type { Answer } from './answer.ts';
import { isRecord } from './fields.ts';
import type { ReadOperation } from './operations.ts';

interface Expected {
  readonly noun: string;
  /** Every record of the API has at least one of them. */
  readonly fields: readonly string[];
}

const APPLICATION = ['app_id', 'ID', 'group_name'];
const RULE = ['http_rule_id', 'domain_name', 'container_port'];

/** What the API answers to each read. */
const EXPECTED: Readonly<Record<ReadOperation, Expected>> = {
  listRegions: { noun: 'a list of regions', fields: ['region_name', 'region_id'] },
  listTeamRegions: { noun: 'a page of regions', fields: ['regions', 'total'] },
  getApplication: { noun: 'an application', fields: APPLICATION },
  listApplications: { noun: 'a list of applications', fields: APPLICATION },
  listComponents: { noun: 'a list of components', fields: ['service_id', 'service_alias'] },
  listPorts: { noun: 'a list of ports', fields: ['container_port', 'port_alias'] },
  listRules: { noun: 'a list of gateway rules', fields: RULE },
  listAllRules: { noun: 'a list of gateway rules', fields: RULE },
  getRule: { noun: 'a gateway rule', fields: RULE },
  listEndpoints: { noun: 'a list of endpoints', fields: ['tcp'] },
  listInstalled: { noun: 'a list of installed models', fields: ['app_model_id', 'app_model_name'] },
  listCertificates: { noun: 'a page of certificates', fields: ['list', 'total', 'id', 'alias'] },
  listEvents: { noun: 'a page of events', fields: ['events', 'total', 'event_id'] },
  eventLog: { noun: 'a log', fields: ['logs', 'message'] },
  queryRegion: { noun: 'samples of a region', fields: ['result', 'resultType'] },
  monitor: { noun: 'a list of monitored components', fields: ['service_id', 'service_alias'] },
};

/** undefined: a kind declares the read. */
function expectedOf(operation: string): Expected | undefined {
  return Object.hasOwn(EXPECTED, operation) ? EXPECTED[operation as ReadOperation] : undefined;
}

/** Whether a good answer has nothing of the API's: another server answers at that address. */
export function isForeignAnswer(operation: string, json: unknown): boolean {
  const expected = expectedOf(operation);
  // Only the kind that declares a read knows what it answers.
  if (expected === undefined) return false;
  const [first] = recordsIn(json);
  // A platform without a region serves nothing, and an empty list is what many servers answer to anything.
  const mayBeEmpty = operation !== 'listRegions' && expected.noun.startsWith('a list of');
  if (first === undefined) return !mayBeEmpty || !Array.isArray(json);
  return !expected.fields.some((name) => Object.hasOwn(first, name));
}

/** The records of an answer, however it is wrapped. */
function recordsIn(json: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(json)) return json.filter(isRecord);
  if (!isRecord(json)) return [];
  const { bean, list, data } = json;
  for (const inner of [bean, list, data]) if (isRecord(inner) || Array.isArray(inner)) return recordsIn(inner);
  return [json];
}

/** Whether a refusal has none of the forms in which the platform refuses: a gateway, or another server, said it. */
export function isForeignRefusal({ isJson, json }: Answer): boolean {
  if (!isJson) return false;
  if (!isRecord(json)) return true;
  return !['msg', 'msg_show', 'error_type', 'detail'].some((name) => Object.hasOwn(json, name));
}

/** The error of a read that another server has answered. `where`: method and URL. */
export function notTheApi(where: string, operation: string, answer: Answer): PortolanError {
  return new PortolanError({
    code: 'platform/not-the-api',
    disposition: 'give-up',
    message: `${where}: HTTP ${answer.status}: ${shapeOf(answer)}; the API answers with ${expectedOf(operation)?.noun ?? 'a record of its own'}, so another server seems to answer at this address`,
    remedy: 'Set spec.url of the Platform to the API’s base URL: what stands before /openapi/v1 in its addresses.',
  });
}

const KEYS_MAX = 8;

/** What kind of JSON it is; of its values only a message. */
function shapeOf(answer: Answer): string {
  const { json } = answer;
  if (Array.isArray(json)) return json.length === 0 ? 'an empty list' : 'a list of something else';
  if (!isRecord(json)) return 'JSON that is neither an object nor a list';
  const keys = Object.keys(json).sort();
  if (keys.length === 0) return 'an empty object';
  const shown = keys.slice(0, KEYS_MAX).join(', ');
  const words = ['message', 'error', 'detail', 'reason']
    .map((name) => json[name])
    .find((word) => typeof word === 'string');
  const saying = typeof words === 'string' ? ` that says ${JSON.stringify(words)}` : '';
  return answer.safe(`an object with ${shown}${keys.length > KEYS_MAX ? ', …' : ''}${saying}`);
}
