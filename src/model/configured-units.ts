import type { Json } from './json.ts';

/**
 * Returns whether a live replica can lead a unit. A ledger keeps the leases of units that no configuration has any more.
 * @param facts what the heartbeat of each live replica reports. An earlier version does not report units, and may lead any.
 */
export function configuredBy(facts: readonly Json[]): (unit: string) => boolean {
  const reported = facts.map(unitsIn);
  if (reported.length === 0 || reported.includes(undefined)) return () => true;
  const units = new Set(reported.flat());
  return (unit) => units.has(unit);
}

function unitsIn(facts: Json): readonly Json[] | undefined {
  const units = (facts as { readonly units?: Json } | null)?.units;
  return Array.isArray(units) ? units : undefined;
}
