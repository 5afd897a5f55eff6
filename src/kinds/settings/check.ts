import type { Resource } from '../../model/resource.ts';
import { durationProblems } from '../durations.ts';
import type { SpecProblem } from '../kind.ts';
import type { SettingsSpec } from './spec.ts';

export function checkSettings({ spec }: Resource<SettingsSpec>): readonly SpecProblem[] {
  return [
    ...durationProblems(spec.settle.targetState, 'spec.settle.targetState'),
    ...durationProblems(spec.settle.creation, 'spec.settle.creation'),
    ...durationProblems(spec.settle.install, 'spec.settle.install'),
  ];
}
