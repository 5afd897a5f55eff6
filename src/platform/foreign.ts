import { PortolanError } from '../model/errors.ts';
import type { Expected } from '../model/reading.ts';
import type { Answer } from './answer.ts';
import { isRecord } from './fields.ts';

/** Returns whether a successful answer has no field of the API, because another server answers at that address. */
export function isForeignAnswer({ noun, fields, isFirst }: Expected, json: unknown): boolean {
  const [first] = recordsIn(json);
  // The first listing is never empty: a platform needs a region, and many servers answer any request with an empty list.
  const mayBeEmpty = isFirst !== true && noun.startsWith('a list of');
  if (first === undefined) return !mayBeEmpty || !Array.isArray(json);
  return !fields.some((name) => Object.hasOwn(first, name));
}

/** Returns the records of an answer, without its wrappers. */
function recordsIn(json: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(json)) return json.filter(isRecord);
  if (!isRecord(json)) return [];
  const { bean, list, data } = json;
  for (const inner of [bean, list, data]) if (isRecord(inner) || Array.isArray(inner)) return recordsIn(inner);
  return [json];
}

/** Returns whether a refusal has no form of the platform, because a gateway or another server sent it. */
export function isForeignRefusal({ isJson, json }: Answer): boolean {
  if (!isJson) return false;
  if (!isRecord(json)) return true;
  return !['msg', 'msg_show', 'error_type', 'detail'].some((name) => Object.hasOwn(json, name));
}

/** Returns the error of a read that another server answered. `where`: method and URL. */
export function notTheApi(where: string, { noun }: Expected, answer: Answer): PortolanError {
  return new PortolanError({
    code: 'platform/not-the-api',
    disposition: 'give-up',
    message: `${where}: HTTP ${answer.status}: ${shapeOf(answer)}; the API answers with ${noun}, so another server seems to answer at this address`,
    remedy: 'Set spec.url of the Platform to the API’s base URL: the part before /openapi/v1 in its addresses.',
  });
}

const KEYS_MAX = 8;

/** Returns the form of a JSON value in words; the only value in it is a message. */
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
