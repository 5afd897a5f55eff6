import type { Resource } from '../../model/resource.ts';
import { durationProblems } from '../durations.ts';
import type { SpecProblem } from '../kind.ts';
import { serverProblems } from './server-check.ts';
import { notificationProblems, plainHttp } from './notifications-check.ts';
import type { SettingsSpec, SignaturePolicy } from './spec.ts';

export function checkSettings({ spec }: Resource<SettingsSpec>): readonly SpecProblem[] {
  return [
    ...durationProblems(spec.settle.targetState, 'spec.settle.targetState'),
    ...durationProblems(spec.settle.creation, 'spec.settle.creation'),
    ...durationProblems(spec.settle.install, 'spec.settle.install'),
    ...signatureProblems(spec.source.signatures),
    ...serverProblems(spec.server),
    ...notificationProblems(spec.notifications),
    ...plainHttp(spec.telemetry.traces.endpoint, 'spec.telemetry.traces.endpoint'),
  ];
}

function signatureProblems({ by, keys }: SignaturePolicy): readonly SpecProblem[] {
  const path = 'spec.source.signatures';
  const expected = by === 'gpg' ? 'the folder of a keyring' : 'a file of allowed signers';
  if (by !== 'nobody' && keys === undefined)
    return [{ code: 'settings/signers', path, message: 'keys is missing: whose signatures are good?', expected }];
  // From a relative one git would take the checkout's own file.
  if (keys !== undefined && !keys.startsWith('/'))
    return [
      { code: 'settings/signers', path: `${path}.keys`, message: 'the path is relative', expected: 'an absolute path' },
    ];
  return [];
}
