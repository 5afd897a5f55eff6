import type { Reading } from '../model/reading.ts';
import type { Answer } from './answer.ts';
import type { Capabilities, CapabilityState } from './client.ts';

export type DialectSetting = 'auto' | 'documented' | 'extended';

/** The known capabilities of one server. */
export type DialectKnowledge = ReturnType<typeof createDialect>;

/** Returns the capabilities of a server. @param remembered stored capabilities; used only with `auto`. */
export function createDialect(setting: DialectSetting, remembered: Capabilities = {}) {
  const known = new Map(Object.entries(setting === 'auto' ? remembered : {}));
  return {
    /** Returns the state of a listing; `yes` for one of the documented dialect. */
    state({ operation, isExtended }: Reading<unknown>): CapabilityState {
      if (isExtended !== true) return 'yes';
      if (setting !== 'auto') return setting === 'extended' ? 'yes' : 'no';
      return known.get(operation) ?? 'unknown';
    },
    known: (): Capabilities => Object.fromEntries(known),
    /** Stores the state that an answer proved, for a listing of the extended dialect. */
    found({ operation, isExtended }: Reading<unknown>, state: 'yes' | 'no'): void {
      if (setting === 'auto' && isExtended === true) known.set(operation, state);
    },
  };
}

/** Messages about a missing record, not about a missing endpoint. */
const BUSINESS_404 = /no found|not belong|not found this|does not exist|is not found|is not open|不存在/i;

/**
 * Returns whether an answer proves that the endpoint does not exist: a JSON 404 or 405 that is not about a team, region,
 * application or component. Pages of proxies, failures and refused tokens do not prove that.
 */
export function deniesEndpoint(answer: Answer): boolean {
  if (!answer.isJson || typeof answer.json !== 'object' || answer.json === null) return false;
  if (answer.status === 405) return true;
  if (answer.status !== 404) return false;
  const isBusinessCode = answer.code !== undefined && answer.code !== 404;
  return !isBusinessCode && !BUSINESS_404.test(answer.msg) && !BUSINESS_404.test(answer.shown);
}
