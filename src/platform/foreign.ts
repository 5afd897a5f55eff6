import { PortolanError } from '../model/errors.ts';
import type { Expected } from '../model/reading.ts';
import type { Answer } from './answer.ts';
import { isRecord } from './fields.ts';

/** Whether a good answer has nothing of the API's: another server answers at that address. */
export function isForeignAnswer({ noun, fields, isFirst }: Expected, json: unknown): boolean {
  const [first] = recordsIn(json);
  // A platform without a region serves nothing, and an empty list is what many servers answer to anything.
  const mayBeEmpty = isFirst !== true && noun.startsWith('a list of');
  if (first === undefined) return !mayBeEmpty || !Array.isArray(json);
  return !fields.some((name) => Object.hasOwn(first, name));
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
export function notTheApi(where: string, { noun }: Expected, answer: Answer): PortolanError {
  return new PortolanError({
    code: 'platform/not-the-api',
    disposition: 'give-up',
    message: `${where}: HTTP ${answer.status}: ${shapeOf(answer)}; the API answers with ${noun}, so another server seems to answer at this address`,
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
