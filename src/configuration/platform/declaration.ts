import type { KindDeclaration } from '../../kinds/kind.ts';
import { checkPlatform } from './check.ts';
import { documentOf } from '../../kinds/schema.ts';
import { type PlatformSpec, platformSchema } from './spec.ts';

export const platformDeclaration: KindDeclaration<PlatformSpec> = {
  kind: 'Platform',
  trust: 'operator',
  description: platformSchema.description,
  defaultName: 'default',
  effects: [],
  specSchema: platformSchema,
  examples: [
    documentOf(
      'Platform',
      { name: 'default' },
      {
        url: 'https://console.example.com',
        auth: { header: 'Authorization', value: { env: 'PORTOLAN_TOKEN' } },
      },
    ),
    documentOf(
      'Platform',
      { name: 'lab' },
      {
        url: 'http://console.lab.example.com',
        auth: { header: 'Authorization', value: { file: '/run/secrets/platform-token' } },
        dialect: 'documented',
        tls: { caFile: '/etc/portolan/ca.pem' },
        limits: { concurrency: 16, requestsPerSecond: 50, timeout: '30s' },
        allowPlainHttp: true,
      },
    ),
  ],
  references: () => [],
  check: checkPlatform,
  identities: () => [],
};
