import type { KindDeclaration, OtherResources, SpecProblem } from '../../kinds/kind.ts';
import { documentOf } from '../../kinds/schema.ts';
import { settingsSchema, type SettingsSpec } from './spec.ts';
import { forbiddenHost } from '../forbidden-hosts.ts';
import type { Resource } from '../../model/resource.ts';
import { durationProblems } from '../../kinds/problems.ts';
import { serverProblems } from './server-spec.ts';
import { notificationProblems, plainHttp } from './notifications-spec.ts';
import { sourceProblems } from './source-spec.ts';
import { policyProblems } from '../../policies/problems.ts';
import { windowProblems } from './windows-spec.ts';

export const settingsDeclaration: KindDeclaration<SettingsSpec> = {
  kind: 'Settings',
  trust: 'operator',
  defaultName: 'default',
  effects: [],
  specSchema: settingsSchema,
  examples: [
    documentOf('Settings', undefined, {
      scopes: { allow: ['team-a/*/*'] },
      prune: { enabled: true, maxShare: 0.3, maxObjects: 10, dailyObjects: 10, dailyShare: 0.01 },
    }),
    documentOf('Settings', undefined, {
      settle: { targetState: '90s', creation: '5m', install: '20m' },
      installs: { ambiguous: 'hold' },
      source: {
        url: 'https://git.example.com/team/platform.git',
        ref: 'main',
        paths: ['manifests/prod'],
        interval: '60s',
        debounce: '100ms',
        credentials: { username: 'portolan', password: { env: 'GIT_TOKEN' } },
        tls: { caFile: '/etc/portolan/git-ca.pem' },
        signatures: { by: 'ssh', keys: '/etc/portolan/allowed-signers' },
        limits: {
          folders: 20_000,
          entries: 200_000,
          depth: 100,
          sizeMib: 64,
          documents: 40_000,
          heapMib: 192,
          timeout: '2m',
        },
      },
      server: {
        listen: '0.0.0.0:7780',
        hosts: ['portolan.example.com'],
        publicUrl: 'https://portolan.example.com',
        tls: { certFile: '/etc/tls/tls.crt', keyFile: '/etc/tls/tls.key' },
        sessions: { idle: '2h', lifetime: '12h', max: 1_000 },
        oidc: {
          name: 'Example',
          issuer: 'https://login.example.com',
          clientId: 'portolan',
          clientSecret: { env: 'OIDC_SECRET' },
          scopes: ['profile', 'email'],
          userClaim: 'email',
          groupsClaim: 'groups',
          tls: { caFile: '/etc/portolan/login-ca.pem' },
        },
        tokens: [
          { name: 'ci', role: 'viewer', value: { env: 'CI_TOKEN' } },
          { name: 'team-a', value: { file: '/run/secrets/team-a' } },
        ],
        roles: [
          { role: 'operator', tokens: ['team-a'], groups: ['team-a'], applications: ['*/team-a/*/*'] },
          { role: 'admin', users: ['alice@example.com'] },
        ],
        webhooks: [{ name: 'forge', type: 'github', secret: { env: 'WEBHOOK_SECRET' } }],
        metrics: { public: false },
        dashboard: true,
        maxStreams: 128,
        connectionsPerAddress: 256,
        planRequests: 6_000,
        trustedProxies: ['10.0.0.0/8'],
      },
      notifications: {
        receivers: [
          {
            name: 'team',
            type: 'slack',
            urlFrom: { env: 'SLACK_URL' },
            ratePerMinute: 30,
            timeout: '10s',
            repeatAfter: '1h',
          },
          {
            name: 'audit',
            type: 'webhook',
            url: 'https://hooks.example.com/portolan',
            secret: { file: '/run/secrets/hook-key' },
          },
          {
            name: 'forge',
            type: 'github',
            repository: 'team/platform',
            token: { env: 'FORGE_TOKEN' },
            context: 'portolan',
            link: 'https://portolan.example.com',
          },
        ],
        rules: [{ events: ['drift.*'], severity: 'warning', labels: { env: 'prod' }, receivers: ['team', 'audit'] }],
      },
      telemetry: {
        traces: {
          endpoint: 'https://otel.example.com:4318',
          headers: [{ name: 'x-api-key', value: { env: 'OTEL_KEY' } }],
          sampleShare: 0.1,
        },
      },
      windows: [
        {
          name: 'nights',
          kind: 'allow',
          schedule: '0 22 * * 1-5',
          duration: '8h',
          timeZone: 'Europe/Berlin',
          platforms: ['default'],
          scopes: ['team-a/region-1/*'],
          labels: { env: 'prod' },
        },
      ],
      policies: [
        {
          name: 'outer-ports-have-owners',
          subject: 'manifest',
          expression:
            'manifest.kind != "Component" || "owner" in manifest.metadata.labels || manifest.spec.ports.all(p, !p.?outer.orValue(false))',
          message: 'add the label owner, because a port is open to the outside',
          action: 'deny',
        },
        {
          name: 'few-removals',
          subject: 'plan',
          expression: 'plan.summary.delete <= 3',
          message: 'remove at most 3 objects with one commit',
          action: 'warn',
        },
      ],
    }),
    documentOf('Settings', undefined, {
      source: {
        url: 'ssh://git@git.example.com/team/platform.git',
        credentials: { sshKey: { file: '/run/secrets/deploy-key' }, knownHosts: '/etc/portolan/known_hosts' },
      },
    }),
  ],
  check: checkSettings,
  // A constant, because there is only one document of settings, with any name.
  identities: () => [{ key: 'settings', path: '' }],
};

function checkSettings({ spec }: Resource<SettingsSpec>, set: OtherResources): readonly SpecProblem[] {
  return [
    ...Object.entries(spec.settle).flatMap(([name, window]) => durationProblems(window, `spec.settle.${name}`)),
    ...sourceProblems(spec.source),
    ...serverProblems(spec.server, set),
    ...notificationProblems(spec.notifications),
    ...windowProblems(spec.windows, set),
    ...policyProblems(spec.policies),
    ...plainHttp(spec.telemetry.traces.endpoint, 'spec.telemetry.traces.endpoint'),
    ...forbiddenHost(spec.telemetry.traces.endpoint, 'spec.telemetry.traces.endpoint'),
  ];
}
