import type { Listing } from '../model/reading.ts';
import type { Answer } from './answer.ts';
import type { Capability, CapabilityState } from './client.ts';

export type DialectSetting = 'auto' | 'documented' | 'extended';
/** The read that proves each capability. A write is never sent to find out whether there is one. */
const PROVED_BY: Readonly<Record<Capability, Listing>> = {
  listApplications: 'listApplications',
  listComponents: 'listComponents',
  listRules: 'listRules',
  listAllRules: 'listAllRules',
  listInstalled: 'listInstalled',
  listCertificates: 'listCertificates',
  updateRule: 'listRules',
  deleteRule: 'listRules',
  deletePort: 'listComponents',
  upgrade: 'listInstalled',
};

export const capabilityNames = Object.keys(PROVED_BY) as readonly Capability[];

/** The read that proves a capability. */
export function provedBy(capability: Capability): Listing {
  return PROVED_BY[capability];
}

/** What one server can do, as far as it is known. */
export interface DialectKnowledge {
  state(capability: Capability): CapabilityState;
  known(): Readonly<Partial<Record<Capability, 'yes' | 'no'>>>;
  /** That read gave a record or list that decodes. */
  confirm(capability: Listing): void;
  /** An answer to that read denied the endpoint. */
  deny(capability: Listing): void;
}

export function createDialect(
  setting: DialectSetting,
  remembered: Readonly<Partial<Record<Capability, 'yes' | 'no'>>> = {},
): DialectKnowledge {
  const found = new Map<Listing, 'yes' | 'no'>();
  for (const capability of capabilityNames) {
    const state = remembered[capability];
    // What a write can do is always derived, so that an old note of it cannot contradict the read that proves it.
    if (state !== undefined && provedBy(capability) === capability) found.set(provedBy(capability), state);
  }
  const state = (capability: Capability): CapabilityState => {
    if (setting !== 'auto') return setting === 'extended' ? 'yes' : 'no';
    return found.get(provedBy(capability)) ?? 'unknown';
  };
  return {
    state,
    known: () =>
      Object.fromEntries(capabilityNames.flatMap((name) => (state(name) === 'unknown' ? [] : [[name, state(name)]]))),
    confirm: (capability) => {
      if (setting === 'auto') found.set(capability, 'yes');
    },
    deny: (capability) => {
      if (setting === 'auto') found.set(capability, 'no');
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
