import { arrayOf, boolean, choice, integer, number, objectOf, section, type TypeOf } from '../../model/schema-words.ts';
import { duration } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';
import { controllerSettingsSchema } from './controller-spec.ts';
import { policiesSchema } from '../../policies/spec.ts';
import { notificationsSchema } from './notifications-spec.ts';
import { serverSchema } from './server-spec.ts';
import { sourceSchema } from './source-spec.ts';
import { telemetrySchema } from './telemetry-spec.ts';
import { scopePattern, windowsSchema } from './windows-spec.ts';

/** JSON Schema of `spec:` of the operator's `kind: Settings`; at most one document. */
export const settingsSchema = objectOf(
  'The settings of Portolan: scopes, guards, source, server and notifications. They are not sent to the platform.',
  {
    scopes: section('The applications that the source may change.', {
      allow: arrayOf(scopePattern, {
        minItems: 1,
        maxItems: 10_000,
        default: ['*/*/*'],
        description: 'Patterns team/region/app, * for any. An application that matches no pattern is refused.',
      }),
    }),
    prune: section('Removal of resources that were removed from git.', {
      enabled: boolean(
        'Whether the daemon removes resources that were removed from git. Commands do so only with --prune.',
        { default: true },
      ),
      'maxShare?': number(
        'Maximum share of the objects in the ledger, of an application or of the source, that may be pruned or changed at once; 0.3 is 30 %. A share that is set applies to any number of objects. The default is 0.3 from ten objects on.',
        { minimum: 0, maximum: 1 },
      ),
      maxObjects: integer('Maximum number of objects that one round may prune.', {
        minimum: 0,
        maximum: 100_000,
        default: 10,
      }),
      dailyObjects: integer(
        'Maximum number of objects that a source may remove, or close to the outside, on one platform in 24 h of uptime, over all commits. Rules and outer ports are counted separately. Approved and saved plans are exempt.',
        { minimum: 0, maximum: 100_000, default: 10 },
      ),
      dailyShare: number('The same limit as a share of the objects in the ledger. The larger one of both applies.', {
        minimum: 0,
        maximum: 1,
        default: 0.01,
      }),
    }),
    settle: section(
      'The settle window: how long after a write in doubt Portolan neither decides its outcome nor repeats it.',
      {
        targetState: duration('The settle window of changes and deletions of ports and rules.', { default: '90s' }),
        creation: duration('The settle window of creations of ports and rules.', { default: '5m' }),
        install: duration('The settle window of installs and upgrades.', { default: '20m' }),
      },
    ),
    installs: section('Installs with an unknown outcome, on a server with the documented dialect.', {
      ambiguous: choice(
        'hold: a person decides. evidence is still accepted, but has no effect: a number of components does not prove whose they are.',
        ['hold', 'evidence'],
        {
          default: 'hold',
        },
      ),
    }),
    source: sourceSchema,
    server: serverSchema,
    notifications: notificationsSchema,
    telemetry: telemetrySchema,
    controller: controllerSettingsSchema,
    windows: windowsSchema,
    policies: policiesSchema,
  },
);

/** The spec with its defaults. */
export type SettingsSpec = TypeOf<typeof settingsSchema>;

/** The spec as the rest of the program uses it: durations are in milliseconds. */
export type Settings = Loaded<SettingsSpec>;
