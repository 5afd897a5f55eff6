import type { DurationText } from '../../model/duration.ts';
import { type NotificationsSpec, notificationsSchema } from './notifications-spec.ts';
import { type WindowSpec, windowsSchema } from './windows-spec.ts';
import { type TelemetrySpec, telemetrySchema } from './telemetry-spec.ts';
import type { Loaded } from '../loaded.ts';
import { durationOr, type PropertiesOf } from '../../kinds/schema.ts';
import { controllerSettingsSchema, type ControllerSettings } from './controller-spec.ts';
import { type ServerSettings, serverSchema } from './server-spec.ts';
import { type SourceSpec, sourceSchema } from './source-spec.ts';

/** `spec:` of the operator's `kind: Settings`, defaults filled in; at most one document. */
export interface SettingsSpec {
  /** `team/region/app` patterns of resolved values, `*` for any; nothing else may be touched. */
  readonly scopes: { readonly allow: readonly string[] };
  readonly prune: {
    readonly enabled: boolean;
    readonly maxShare?: number;
    readonly maxObjects: number;
    /** Removals, and closings to the outside, of one source on one platform in 24 h; the larger of the two. */
    readonly dailyObjects: number;
    readonly dailyShare: number;
  };
  /** How long after an ambiguous write nothing is concluded or sent again. */
  readonly settle: {
    /** Port PUT, rule PUT, deletes. Default 90s. */
    readonly targetState: DurationText;
    /** Port and rule POST. Default 5m. */
    readonly creation: DurationText;
    /** Installs and upgrades. Default 20m. */
    readonly install: DurationText;
  };
  /** Documented dialect: may the component count settle an install in doubt? `hold` (default) asks a person. */
  readonly installs: { readonly ambiguous: 'hold' | 'evidence' };
  readonly source: SourceSpec;
  readonly server: ServerSettings;
  readonly notifications: NotificationsSpec;
  readonly telemetry: TelemetrySpec;
  readonly controller: ControllerSettings;
  readonly windows: readonly WindowSpec[];
}

/** As the rest of the program sees it: durations are in milliseconds. */
export type Settings = Loaded<SettingsSpec>;

/** JSON Schema of `SettingsSpec`. */
export const settingsSchema = {
  type: 'object',
  additionalProperties: false,
  description: 'What a source may touch, and the guards. Nothing of it is sent to the platform.',
  properties: {
    scopes: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'Which applications the source may touch.',
      properties: {
        allow: {
          type: 'array',
          minItems: 1,
          maxItems: 10_000,
          default: ['*/*/*'],
          description: 'Patterns team/region/app, * for any. An application that none of them matches is refused.',
          items: {
            type: 'string',
            pattern: '^[^/\\s]+/[^/\\s]+/[^/\\s]+$',
            maxLength: 256,
            description: 'team/region/app, * for any part.',
            'x-expected': 'team/region/app, with * for any, such as team-a/*/*',
          },
        },
      },
    },
    prune: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'Removal of what git no longer names.',
      properties: {
        enabled: {
          type: 'boolean',
          default: true,
          description: 'Whether the daemon prunes. Commands prune only with --prune.',
        },
        maxShare: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          description:
            'Largest share of the objects on record, of an application or of the source, that may be pruned or changed at once; 0.3 is 30 %. A given share applies however few objects there are. Without one it is 0.3 and applies from ten objects on.',
        },
        maxObjects: {
          type: 'integer',
          minimum: 0,
          maximum: 100_000,
          default: 10,
          description: 'Most objects that one round may prune.',
        },
        dailyObjects: {
          type: 'integer',
          minimum: 0,
          maximum: 100_000,
          default: 10,
          description:
            'Most objects that a source may remove, or close to the outside, on one platform in 24 h in which the machine was up, however many commits it takes. Rules and outer ports are counted apart from everything else. A plan that was approved or saved is exempt.',
        },
        dailyShare: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          default: 0.01,
          description: 'The same as a share of the objects on record, where that is more than dailyObjects.',
        },
      },
    },
    settle: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'How long after an ambiguous write nothing is concluded or sent again.',
      properties: {
        targetState: durationOr('90s', 'After changes and deletions of ports and rules.'),
        creation: durationOr('5m', 'After creations of ports and rules.'),
        install: durationOr('20m', 'After installs and upgrades.'),
      },
    },
    installs: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'Installs whose outcome is unknown, on a server of the documented dialect.',
      properties: {
        ambiguous: {
          type: 'string',
          enum: ['hold', 'evidence'],
          default: 'hold',
          description: 'hold: ask a person. evidence: let the number of components decide.',
        },
      },
    },
    source: sourceSchema,
    server: serverSchema,
    notifications: notificationsSchema,
    telemetry: telemetrySchema,
    controller: controllerSettingsSchema,
    windows: windowsSchema,
  } satisfies PropertiesOf<SettingsSpec>,
} as const;
