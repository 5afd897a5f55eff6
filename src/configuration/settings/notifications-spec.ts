import type { DurationText } from '../../model/duration.ts';
import type { EventSeverity } from '../../model/status.ts';
import type { Loaded } from '../loaded.ts';
import type { SecretReference } from '../platform/spec.ts';
import {
  durationOr,
  NAME_EXPECTED,
  NAME_LENGTH_MAX,
  NAME_PATTERN,
  ONE_LINE_EXPECTED,
  ONE_LINE_PATTERN,
  type PropertiesOf,
  secretReferenceSchema,
  URL_EXPECTED,
  URL_PATTERN,
} from '../../kinds/schema.ts';

/** `spec.notifications` of the operator's `kind: Settings`: who is told what. */
export interface NotificationsSpec {
  readonly receivers: readonly ReceiverSpec[];
  readonly rules: readonly NotificationRule[];
}

/** `webhook`: CloudEvents as JSON. `slack`: text, as Slack and its like take it. The forges: the status of a commit. */
export type ReceiverType = 'webhook' | 'slack' | 'github' | 'gitlab' | 'gitea';

/** Where notifications go. Which fields a type needs and takes: `receiverProblems` in notifications-check.ts. */
export interface ReceiverSpec {
  readonly name: string;
  readonly type: ReceiverType;
  /** In clear. Webhook: where to post. Forges: the base of the API; GitHub's and GitLab's own have defaults. */
  readonly url?: string;
  /** By reference, for an address that is a credential itself, as Slack's is. */
  readonly urlFrom?: SecretReference;
  /** Webhook: signs the body. */
  readonly secret?: SecretReference;
  /** Webhook: sent as bearer. Forges: may set commit statuses. */
  readonly token?: SecretReference;
  /** Forges: `owner/name`; GitLab: the project's whole path, or its number. */
  readonly repository?: string;
  /** Forges: the name of the status beside the commit. */
  readonly context: string;
  /** Forges: where the status leads to. */
  readonly link?: string;
  readonly ratePerMinute: number;
  readonly timeout: DurationText;
  /** An event that repeats one before it, word for word, within this time is counted and not sent. */
  readonly repeatAfter: DurationText;
}

/** A rule names its receivers; an event goes to each receiver once, however many rules name it. */
export interface NotificationRule {
  /** `drift.detected`, `drift.*`, `*`. */
  readonly events: readonly string[];
  /** At least this severe. */
  readonly severity: EventSeverity;
  /** Labels of the application that must have these values; of a forge, the applications that its status is about. */
  readonly labels: Readonly<Record<string, string>>;
  readonly receivers: readonly string[];
}

export type NotificationsSettings = Loaded<NotificationsSpec>;
export type ReceiverSettings = Loaded<ReceiverSpec>;

const EVENT_PATTERN = '^(\\*|[a-z][a-z-]*\\.(\\*|[a-z][a-z-]*))$';
const receiverSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'type'],
  description: 'A place that notifications are sent to.',
  properties: {
    name: {
      type: 'string',
      pattern: NAME_PATTERN,
      maxLength: NAME_LENGTH_MAX,
      description: 'What rules, logs and metrics call it.',
      'x-expected': NAME_EXPECTED,
    },
    type: {
      type: 'string',
      enum: ['webhook', 'slack', 'github', 'gitlab', 'gitea'],
      description: 'webhook: CloudEvents 1.0 as JSON. slack: text. github, gitlab, gitea: the status of a commit.',
    },
    url: {
      type: 'string',
      pattern: URL_PATTERN,
      maxLength: 2048,
      description: 'Where to post; of a forge, the base of its API. Use urlFrom where the address is a credential.',
      'x-expected': URL_EXPECTED,
    },
    urlFrom: { ...secretReferenceSchema, description: 'The whole address, by reference: whoever knows it may post.' },
    secret: { ...secretReferenceSchema, description: 'Key of the HMAC-SHA-256 that signs each message of a webhook.' },
    token: { ...secretReferenceSchema, description: 'Token of the forge, or bearer token of a webhook, by reference.' },
    repository: {
      type: 'string',
      pattern: '^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$',
      maxLength: 512,
      description: 'owner/name on the forge; on GitLab the whole path of the project, or its number.',
      'x-expected': 'owner/name',
    },
    context: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      pattern: ONE_LINE_PATTERN,
      default: 'portolan',
      description: 'Name of the status beside the commit; two controllers on one repository need two.',
      'x-expected': ONE_LINE_EXPECTED,
    },
    link: {
      type: 'string',
      pattern: URL_PATTERN,
      maxLength: 2048,
      description: 'Where the status of a commit leads to, such as the dashboard.',
      'x-expected': URL_EXPECTED,
    },
    ratePerMinute: {
      type: 'integer',
      minimum: 1,
      maximum: 6000,
      default: 30,
      description: 'Messages a minute, at most; what comes faster waits, and the oldest are dropped, counted.',
    },
    timeout: durationOr('10s', 'How long one attempt may take, the answer included.'),
    repeatAfter: durationOr('1h', 'An event that repeats an earlier one word for word is sent again only after this.'),
  } satisfies PropertiesOf<ReceiverSpec>,
} as const;

const ruleSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['receivers'],
  description: 'Which events go where.',
  properties: {
    events: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      default: ['*'],
      description: 'Types of events. The status of a commit is told whatever stands here.',
      items: {
        type: 'string',
        pattern: EVENT_PATTERN,
        maxLength: 64,
        description: 'A type, or all of an area, or all.',
        'x-expected': 'a type of event such as drift.detected, an area such as drift.*, or *',
      },
    },
    severity: {
      type: 'string',
      enum: ['info', 'warning', 'error'],
      default: 'info',
      description: 'At least this severe.',
    },
    labels: {
      type: 'object',
      default: {},
      maxProperties: 50,
      description: 'Labels that the Application must have, with these values.',
      additionalProperties: { type: 'string', maxLength: 1024, description: 'The value that the label must have.' },
    },
    receivers: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      description: 'Names of receivers.',
      items: {
        type: 'string',
        pattern: NAME_PATTERN,
        maxLength: NAME_LENGTH_MAX,
        description: 'Name of a receiver.',
        'x-expected': 'the name of a receiver in spec.notifications.receivers',
      },
    },
  } satisfies PropertiesOf<NotificationRule>,
} as const;

/** JSON Schema of `NotificationsSpec`. */
export const notificationsSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description: 'Who is told what. A receiver that does not answer delays nothing.',
  properties: {
    receivers: {
      type: 'array',
      maxItems: 100,
      default: [],
      description: 'Places that notifications are sent to.',
      items: receiverSchema,
    },
    rules: {
      type: 'array',
      maxItems: 1000,
      default: [],
      description: 'What goes where; a receiver that no rule names is told nothing.',
      items: ruleSchema,
    },
  } satisfies PropertiesOf<NotificationsSpec>,
} as const;
