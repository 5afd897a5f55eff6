import type { Hold } from '../../src/model/plan.ts';
import type { Causes } from './causes/cause.ts';
import { causesOfComponents } from './causes/components.ts';
import { causesOfDoubts } from './causes/doubts.ts';
import { causesOfInstalls } from './causes/installs.ts';
import { causesOfRules } from './causes/rules.ts';
import type { World } from './world.ts';

/** By code: what can explain a hold. One that has no line here is never right. */
export const causes: Causes = { ...causesOfDoubts, ...causesOfComponents, ...causesOfRules, ...causesOfInstalls };

/**
 * Why a hold is right, from what the simulator knows and the controller does not; undefined: nothing explains it, and
 * it is a bug to hold there.
 * @param holds all of its plan: one may be held because another one is.
 */
export function explanationOf(world: World, hold: Hold, holds: readonly Hold[]): string | undefined {
  // Two that only wait for each other have no cause.
  const others = holds.filter((other) => other !== hold);
  const isHeld = (resource: string): boolean =>
    others.some((other) => other.resource === resource && explanationOf(world, other, others) !== undefined);
  return causes[hold.code]?.(world, hold, isHeld);
}
