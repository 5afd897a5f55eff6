import { forbiddenHost } from '../forbidden-hosts.ts';
import type { Resource } from '../../model/resource.ts';
import { durationProblems } from '../../kinds/durations.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import { serverProblems } from './server-check.ts';
import { notificationProblems, plainHttp } from './notifications-check.ts';
import { sourceProblems } from './source-check.ts';
import type { SettingsSpec } from './spec.ts';
import { windowProblems } from './windows-check.ts';

export function checkSettings({ spec }: Resource<SettingsSpec>): readonly SpecProblem[] {
  return [
    ...durationProblems(spec.settle.targetState, 'spec.settle.targetState'),
    ...durationProblems(spec.settle.creation, 'spec.settle.creation'),
    ...durationProblems(spec.settle.install, 'spec.settle.install'),
    ...sourceProblems(spec.source),
    ...serverProblems(spec.server),
    ...notificationProblems(spec.notifications),
    ...windowProblems(spec.windows),
    ...plainHttp(spec.telemetry.traces.endpoint, 'spec.telemetry.traces.endpoint'),
    ...forbiddenHost(spec.telemetry.traces.endpoint, 'spec.telemetry.traces.endpoint'),
  ];
}
