import { isLoopback } from '../addresses.ts';
import { forbiddenHost } from '../forbidden-hosts.ts';
import { durationProblems, problemAt, repeats } from '../../kinds/problems.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import type { EventSeverity } from '../../model/status.ts';
import { arrayOf, choice, integer, mapOf, objectOf, section, string, type TypeOf } from '../../model/schema-words.ts';
import { duration, NAME, ONE_LINE, URL_RULES } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';
import { secretReference } from '../platform/spec.ts';

/** `receiverProblems` checks which fields a type requires and accepts. */
const receiverSchema = objectOf('A receiver of notifications.', {
  name: string('Name in rules, logs and metrics.', NAME),
  type: choice(
    'webhook: CloudEvents 1.0 as JSON. slack: a message. alertmanager: alerts. github, gitlab, gitea: the status of a commit.',
    ['webhook', 'slack', 'alertmanager', 'github', 'gitlab', 'gitea'],
  ),
  'url?': string(
    'Address to post to, or base address of the API of a forge. Use urlFrom if the address is a credential.',
    URL_RULES,
  ),
  'urlFrom?': secretReference('The whole address, by reference, because anyone who knows it can post.'),
  'secret?': secretReference('Key of the HMAC-SHA-256 that signs each message of a webhook.'),
  'token?': secretReference('Token of the forge, or bearer token of a webhook, by reference.'),
  'repository?': string('owner/name on the forge. On GitLab the full path of the project, or its number.', {
    pattern: '^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$',
    maxLength: 512,
    'x-expected': 'owner/name',
  }),
  context: string('Name of the status of a commit. Two controllers of one repository need different names.', {
    minLength: 1,
    maxLength: 100,
    ...ONE_LINE,
    default: 'portolan',
  }),
  'link?': string(
    'Page to which a message, an alert or the status of a commit links, such as the dashboard.',
    URL_RULES,
  ),
  'commitUrl?': string('Address of commits on the forge, to which the id of a commit is appended.', {
    ...URL_RULES,
    examples: ['https://git.example.com/acme/shop/commit/'],
  }),
  ratePerMinute: integer(
    'Maximum number of messages per minute. Further messages wait; if too many wait, the oldest are dropped and counted.',
    {
      minimum: 1,
      maximum: 6000,
      default: 30,
    },
  ),
  timeout: duration('Time limit of one attempt, including the answer.', { default: '10s' }),
  repeatAfter: duration('An event with the same text as an earlier one is sent again only after this time.', {
    default: '1h',
  }),
});

/** A receiver of notifications. */
export type ReceiverSpec = TypeOf<typeof receiverSchema>;
export type ReceiverSettings = Loaded<ReceiverSpec>;

const ruleSchema = objectOf('A rule: the events that its receivers get.', {
  events: arrayOf(
    string('A type of event, an area, or all.', {
      pattern: '^(\\*|[a-z][a-z-]*\\.(\\*|[a-z][a-z-]*))$',
      maxLength: 64,
      'x-expected': 'a type of event such as drift.detected, an area such as drift.*, or *',
    }),
    {
      minItems: 1,
      maxItems: 100,
      default: ['*'],
      description: 'Types of events. The status of a commit is always sent.',
    },
  ),
  severity: choice<EventSeverity>('Minimum severity.', ['info', 'warning', 'error'], { default: 'info' }),
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

/** A rule for notifications. A receiver gets an event once, even if several rules match. */
export type NotificationRule = TypeOf<typeof ruleSchema>;

/** JSON Schema of `spec.notifications` of Settings. */
export const notificationsSchema = section(
  'Receivers of notifications, and the events that they get. A receiver that does not answer delays nothing.',
  {
    receivers: arrayOf(receiverSchema, {
      maxItems: 100,
      default: [],
      description: 'Receivers of notifications.',
    }),
    rules: arrayOf(ruleSchema, {
      maxItems: 1000,
      default: [],
      description: 'Rules. A receiver without a rule gets no events.',
    }),
  },
);

export type NotificationsSpec = TypeOf<typeof notificationsSchema>;
export type NotificationsSettings = Loaded<NotificationsSpec>;

/** Returns the problems that a schema cannot detect: fields by type, duplicate names, and rules with unknown receivers. */
export function notificationProblems({ receivers, rules }: NotificationsSpec): readonly SpecProblem[] {
  const at = 'spec.notifications';
  const names = receivers.map(({ name }) => name);
  return [
    ...receivers.flatMap((receiver, index) => receiverProblems(receiver, `${at}.receivers[${index}]`)),
    ...repeats(names).flatMap(({ value, index }) => {
      const message = `there are two receivers called ${value}`;
      return problemAt(`${at}.receivers[${index}].name`, 'settings/duplicate-receiver', message);
    }),
    ...rules.flatMap((rule, index) =>
      rule.receivers.flatMap((name, place) => {
        if (names.includes(name)) return [];
        const path = `${at}.rules[${index}].receivers[${place}]`;
        const expected = names.length === 0 ? 'spec.notifications.receivers has none' : `one of ${names.join(', ')}`;
        return problemAt(path, 'settings/unknown-receiver', `there is no receiver called ${name}`, expected);
      }),
    ),
  ];
}

const FIELDS = ['url', 'urlFrom', 'secret', 'token', 'repository', 'link', 'commitUrl'] as const;
type Field = (typeof FIELDS)[number];

interface Fields {
  /** One field of each group is required. */
  readonly needs: readonly (readonly Field[])[];
  readonly takes: readonly Field[];
  /** The reason why a required field is required. */
  readonly reason: string;
}

const ofForge = {
  needs: [['token'], ['repository']],
  takes: ['url', 'token', 'repository', 'link'],
  reason: 'to set the status of a commit',
} as const;

/** The fields that a type of receiver requires and accepts. */
const FIELDS_OF: Readonly<Record<ReceiverSpec['type'], Fields>> = {
  webhook: { needs: [['url', 'urlFrom']], takes: ['url', 'urlFrom', 'secret', 'token'], reason: 'where to post' },
  slack: {
    needs: [['urlFrom']],
    takes: ['urlFrom', 'link', 'commitUrl'],
    reason: 'the address of a Slack webhook is its credential',
  },
  alertmanager: { needs: [['url']], takes: ['url', 'token', 'link'], reason: 'the base address of Alertmanager' },
  github: ofForge,
  gitlab: ofForge,
  gitea: { ...ofForge, needs: [['url'], ...ofForge.needs] },
};

const BAD_RECEIVER = 'settings/receiver';

function receiverProblems(receiver: ReceiverSpec, path: string): readonly SpecProblem[] {
  const { needs, takes, reason } = FIELDS_OF[receiver.type];
  const given = FIELDS.filter((field) => receiver[field] !== undefined);
  const missing = needs.filter((group) => !group.some((field) => given.includes(field)));
  const foreign = given.filter((field) => !takes.includes(field));
  const allowed = `of a ${receiver.type} receiver: ${takes.join(', ')}`;
  return [
    ...missing.flatMap((group) =>
      problemAt(
        path,
        BAD_RECEIVER,
        `a field of this ${receiver.type} receiver is missing`,
        `${group.join(' or ')}: ${reason}`,
      ),
    ),
    ...foreign.flatMap((field) =>
      problemAt(`${path}.${field}`, BAD_RECEIVER, `a ${receiver.type} receiver has no field ${field}`, allowed),
    ),
    ...bothAddresses(receiver, path),
    ...plainHttp(receiver.url, `${path}.url`),
    ...forbiddenHost(receiver.url, `${path}.url`),
    ...repositoryProblems(receiver, `${path}.repository`),
    ...durationProblems(receiver.timeout, `${path}.timeout`),
    ...durationProblems(receiver.repeatAfter, `${path}.repeatAfter`),
  ];
}

function bothAddresses({ url, urlFrom }: ReceiverSpec, path: string): readonly SpecProblem[] {
  if (url === undefined || urlFrom === undefined) return [];
  return problemAt(`${path}.urlFrom`, BAD_RECEIVER, 'there are two addresses: url and urlFrom');
}

/** Returns the problem of `http://` to another machine: a signature or token could be read on the way. */
export function plainHttp(text: string | undefined, path: string): readonly SpecProblem[] {
  const url = text === undefined ? null : URL.parse(text);
  if (url?.protocol !== 'http:' || isLoopback(url.href)) return [];
  const message = `${url.origin} is plain http: messages could be read on the way`;
  return problemAt(path, 'settings/plain-http', message, 'an https address; http only to this machine itself');
}

function repositoryProblems({ type, repository }: ReceiverSpec, path: string): readonly SpecProblem[] {
  if (repository === undefined) return [];
  // A segment of dots would address another endpoint of the forge.
  const parts = repository.split('/');
  const isPath = !parts.some((part) => /^\.+$/.test(part));
  const isGood = isPath && (type === 'gitlab' ? parts.length > 1 || /^\d+$/.test(repository) : parts.length === 2);
  if (isGood) return [];
  const expected = type === 'gitlab' ? 'group/project, or the number of the project' : 'owner/name';
  return problemAt(path, BAD_RECEIVER, `repository is "${repository}"`, expected);
}
