/** The words of the fleet. The dashboard uses them without the schemas. */

/** The states of an application, the most urgent first. */
export const FLEET_STATES = [
  'failing',
  'held',
  'drifted',
  'pending',
  'unhealthy',
  'unknown',
  'suspended',
  'in-sync',
] as const;
export type FleetState = (typeof FLEET_STATES)[number];

/** The kinds of items that require manual action. */
export const ATTENTION_KINDS = [
  'source',
  'platform',
  'approval',
  'doubt',
  'hold',
  'policy',
  'failure',
  'orphan',
  'suspended',
  'unhealthy',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];
