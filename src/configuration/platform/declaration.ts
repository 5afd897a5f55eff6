import type { KindDeclaration, SpecProblem } from '../../kinds/kind.ts';
import { documentOf } from '../../kinds/schema.ts';
import { platformSchema, type PlatformSpec } from './spec.ts';
import type { Resource } from '../../model/resource.ts';
import { addressProblems } from '../addresses.ts';
import { durationProblems } from '../../kinds/problems.ts';

export const platformDeclaration: KindDeclaration<PlatformSpec> = {
  kind: 'Platform',
  trust: 'operator',
  defaultName: 'default',
  effects: [],
  specSchema: platformSchema,
  examples: [
    documentOf('Platform', 'default', {
      url: 'https://console.example.com',
      auth: { header: 'Authorization', value: { env: 'PORTOLAN_TOKEN' } },
    }),
    documentOf('Platform', 'lab', {
      url: 'http://console.lab.example.com',
      auth: { header: 'Authorization', value: { file: '/run/secrets/platform-token' } },
      dialect: 'documented',
      tls: { caFile: '/etc/portolan/ca.pem' },
      limits: { concurrency: 16, requestsPerSecond: 50, timeout: '30s' },
      allowPlainHttp: true,
    }),
  ],
  check: checkPlatform,
};

function checkPlatform({ spec }: Resource<PlatformSpec>): readonly SpecProblem[] {
  const problems = [
    ...addressProblems(spec.url, spec.allowPlainHttp, 'spec.url'),
    ...durationProblems(spec.limits.timeout, 'spec.limits.timeout'),
  ];
  if (/\/openapi(\/v1)?\/?$/.test(spec.url)) {
    problems.push({
      code: 'platform/url-path',
      path: 'spec.url',
      message: 'the address ends in /openapi/v1, which Portolan adds to every request',
      expected: 'the address without it',
      hint: `write ${spec.url.replace(/\/openapi(\/v1)?\/?$/, '')}`,
    });
  }
  return problems;
}
