import type { Resource } from '../../model/resource.ts';
import { addressProblems } from '../addresses.ts';
import { durationProblems } from '../../kinds/durations.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import type { PlatformSpec } from './spec.ts';

export function checkPlatform({ spec }: Resource<PlatformSpec>): readonly SpecProblem[] {
  const problems = [
    ...addressProblems(spec.url, spec.allowPlainHttp, 'spec.url'),
    ...durationProblems(spec.limits.timeout, 'spec.limits.timeout'),
  ];
  if (/\/openapi(\/v1)?\/?$/.test(spec.url)) {
    problems.push({
      code: 'platform/url-path',
      path: 'spec.url',
      message: 'the address ends in /openapi/v1, which is added to every request anyway',
      expected: 'the address without it',
      hint: `write ${spec.url.replace(/\/openapi(\/v1)?\/?$/, '')}`,
    });
  }
  return problems;
}
