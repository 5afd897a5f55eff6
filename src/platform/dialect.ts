import type { Reading } from '../model/reading.ts';
import type { Answer } from './answer.ts';
import type { Capabilities, CapabilityState } from './client.ts';

export type DialectSetting = 'auto' | 'documented' | 'extended';

/** What one server can do, as far as it is known. */
export type DialectKnowledge = ReturnType<typeof createDialect>;

/** @param remembered what an earlier process found out; of no use where the setting decides. */
export function createDialect(setting: DialectSetting, remembered: Capabilities = {}) {
  const known = new Map(Object.entries(setting === 'auto' ? remembered : {}));
  return {
    /** What every server has is `yes`. */
    state({ operation, isExtended }: Reading<unknown>): CapabilityState {
      if (isExtended !== true) return 'yes';
      if (setting !== 'auto') return setting === 'extended' ? 'yes' : 'no';
      return known.get(operation) ?? 'unknown';
    },
    known: (): Capabilities => Object.fromEntries(known),
    /** Notes what an answer to a listing of the extended dialect has proved. */
    found({ operation, isExtended }: Reading<unknown>, state: 'yes' | 'no'): void {
      if (setting === 'auto' && isExtended === true) known.set(operation, state);
    },
  };
}

/** Words of the business logic about something else than the endpoint. */
const BUSINESS_404 = /no found|not belong|not found this|does not exist|is not found|is not open|不存在/i;

/**
 * Does the answer say that there is no such endpoint? Only a JSON 404 or 405 that is not about a team, a region, an
 * application or a component. A page of a proxy, a failure, a refusal of the token: all of them prove nothing.
 */
export function deniesEndpoint(answer: Answer): boolean {
  if (!answer.isJson || typeof answer.json !== 'object' || answer.json === null) return false;
  if (answer.status === 405) return true;
  if (answer.status !== 404) return false;
  const isBusinessCode = answer.code !== undefined && answer.code !== 404;
  return !isBusinessCode && !BUSINESS_404.test(answer.msg) && !BUSINESS_404.test(answer.shown);
}
