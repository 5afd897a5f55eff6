import { arrayOf, boolean, choice, integer, number, objectOf, type TypeOf } from '../../model/schema-words.ts';
import { duration } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';
import { controllerSettingsSchema } from './controller-spec.ts';
import { notificationsSchema } from './notifications-spec.ts';
import { serverSchema } from './server-spec.ts';
import { sourceSchema } from './source-spec.ts';
import { telemetrySchema } from './telemetry-spec.ts';
import { scopePattern, windowsSchema } from './windows-spec.ts';

/** JSON Schema of `spec:` of the operator's `kind: Settings`; at most one document. */
export const settingsSchema = objectOf(
  'What a source may touch, and the guards. Nothing of it is sent to the platform.',
  {
    scopes: objectOf(
      'Which applications the source may touch.',
      {
        allow: arrayOf(scopePattern, {
          minItems: 1,
          maxItems: 10_000,
          default: ['*/*/*'],
          description: 'Patterns team/region/app, * for any. An application that none of them matches is refused.',
        }),
      },
      { default: {} },
    ),
    prune: objectOf(
      'Removal of what git no longer names.',
      {
        enabled: boolean('Whether the daemon prunes. Commands prune only with --prune.', { default: true }),
        'maxShare?': number(
          'Largest share of the objects on record, of an application or of the source, that may be pruned or changed at once; 0.3 is 30 %. A given share applies however few objects there are. Without one it is 0.3 and applies from ten objects on.',
          { minimum: 0, maximum: 1 },
        ),
        maxObjects: integer('Most objects that one round may prune.', { minimum: 0, maximum: 100_000, default: 10 }),
        dailyObjects: integer(
          'Most objects that a source may remove, or close to the outside, on one platform in 24 h in which the machine was up, however many commits it takes. Rules and outer ports are counted apart from everything else. A plan that was approved or saved is exempt.',
          { minimum: 0, maximum: 100_000, default: 10 },
        ),
        dailyShare: number('The same as a share of the objects on record, where that is more than dailyObjects.', {
          minimum: 0,
          maximum: 1,
          default: 0.01,
        }),
      },
      { default: {} },
    ),
    settle: objectOf(
      'How long after an ambiguous write nothing is concluded or sent again.',
      {
        targetState: duration('After changes and deletions of ports and rules.', { default: '90s' }),
        creation: duration('After creations of ports and rules.', { default: '5m' }),
        install: duration('After installs and upgrades.', { default: '20m' }),
      },
      { default: {} },
    ),
    installs: objectOf(
      'Installs whose outcome is unknown, on a server of the documented dialect.',
      {
        ambiguous: choice('hold: ask a person. evidence: let the number of components decide.', ['hold', 'evidence'], {
          default: 'hold',
        }),
      },
      { default: {} },
    ),
    source: sourceSchema,
    server: serverSchema,
    notifications: notificationsSchema,
    telemetry: telemetrySchema,
    controller: controllerSettingsSchema,
    windows: windowsSchema,
  },
);

/** The spec with its defaults. */
export type SettingsSpec = TypeOf<typeof settingsSchema>;

/** The spec as the rest of the program uses it: durations are in milliseconds. */
export type Settings = Loaded<SettingsSpec>;
