import type { EventSeverity } from '../../model/status.ts';
import { arrayOf, choice, integer, mapOf, objectOf, string, type TypeOf } from '../../model/schema-words.ts';
import { duration, NAME, ONE_LINE, URL_RULES } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';
import { secretReference } from '../platform/spec.ts';

/** Which fields a type needs and takes: `receiverProblems` in notifications-check.ts. */
const receiverSchema = objectOf('A place that notifications are sent to.', {
  name: string('What rules, logs and metrics call it.', NAME),
  type: choice('webhook: CloudEvents 1.0 as JSON. slack: text. github, gitlab, gitea: the status of a commit.', [
    'webhook',
    'slack',
    'github',
    'gitlab',
    'gitea',
  ]),
  'url?': string(
    'Where to post; of a forge, the base of its API. Use urlFrom where the address is a credential.',
    URL_RULES,
  ),
  'urlFrom?': secretReference('The whole address, by reference: whoever knows it may post.'),
  'secret?': secretReference('Key of the HMAC-SHA-256 that signs each message of a webhook.'),
  'token?': secretReference('Token of the forge, or bearer token of a webhook, by reference.'),
  'repository?': string('owner/name on the forge; on GitLab the whole path of the project, or its number.', {
    pattern: '^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$',
    maxLength: 512,
    'x-expected': 'owner/name',
  }),
  context: string('Name of the status beside the commit; two controllers on one repository need two.', {
    minLength: 1,
    maxLength: 100,
    ...ONE_LINE,
    default: 'portolan',
  }),
  'link?': string('Where the status of a commit leads to, such as the dashboard.', URL_RULES),
  ratePerMinute: integer('Messages a minute, at most; what comes faster waits, and the oldest are dropped, counted.', {
    minimum: 1,
    maximum: 6000,
    default: 30,
  }),
  timeout: duration('How long one attempt may take, the answer included.', { default: '10s' }),
  repeatAfter: duration('An event that repeats an earlier one word for word is sent again only after this.', {
    default: '1h',
  }),
});

/** Where notifications go. */
export type ReceiverSpec = TypeOf<typeof receiverSchema>;
export type ReceiverSettings = Loaded<ReceiverSpec>;

const ruleSchema = objectOf('Which events go where.', {
  events: arrayOf(
    string('A type, or all of an area, or all.', {
      pattern: '^(\\*|[a-z][a-z-]*\\.(\\*|[a-z][a-z-]*))$',
      maxLength: 64,
      'x-expected': 'a type of event such as drift.detected, an area such as drift.*, or *',
    }),
    {
      minItems: 1,
      maxItems: 100,
      default: ['*'],
      description: 'Types of events. The status of a commit is told whatever stands here.',
    },
  ),
  severity: choice<EventSeverity>('At least this severe.', ['info', 'warning', 'error'], { default: 'info' }),
  labels: mapOf('Labels that the Application must have, with these values.', {
    default: {},
    maxProperties: 50,
    additionalProperties: string('The value that the label must have.', { maxLength: 1024 }),
  }),
  receivers: arrayOf(
    string('Name of a receiver.', {
      ...NAME,
      'x-expected': 'the name of a receiver in spec.notifications.receivers',
    }),
    { minItems: 1, maxItems: 100, description: 'Names of receivers.' },
  ),
});

/** A rule names its receivers; an event goes to each receiver once, however many rules name it. */
export type NotificationRule = TypeOf<typeof ruleSchema>;

/** JSON Schema of `spec.notifications` of Settings. */
export const notificationsSchema = objectOf(
  'Who is told what. A receiver that does not answer delays nothing.',
  {
    receivers: arrayOf(receiverSchema, {
      maxItems: 100,
      default: [],
      description: 'Places that notifications are sent to.',
    }),
    rules: arrayOf(ruleSchema, {
      maxItems: 1000,
      default: [],
      description: 'What goes where; a receiver that no rule names is told nothing.',
    }),
  },
  { default: {} },
);

export type NotificationsSpec = TypeOf<typeof notificationsSchema>;
export type NotificationsSettings = Loaded<NotificationsSpec>;
