import type { Json, JsonObject } from '../../model/json.ts';
import type { ReceiverSettings } from '../../configuration/settings/notifications-spec.ts';
import { commitOf, SHORT_LENGTH, shortRevision } from '../../model/revision.ts';
import type { ControllerEvent, EventSeverity } from '../../model/status.ts';
import { safeText } from '../../model/text.ts';
import { amount, cut } from '../../plan/words.ts';

/** An event to send, with the number of equal events dropped since the last one. */
export interface Notice {
  readonly event: ControllerEvent;
  readonly repeats: number;
}

/** Many receivers reject longer messages. */
const DETAIL_CHARS_MAX = 32_768;
const SLACK_TEXT_CHARS_MAX = 3_000;
/** The colour of the bar beside a message. */
const SLACK_COLORS: Readonly<Record<EventSeverity, string>> = { info: 'good', warning: 'warning', error: 'danger' };

/** Returns the event with every secret of this process masked. */
export function redacted(event: ControllerEvent, redact: (text: string) => string): ControllerEvent {
  return {
    ...event,
    message: redact(event.message),
    labels: redactedJson(event.labels, redact) as Readonly<Record<string, string>>,
    detail: redactedJson(event.detail, redact),
  };
}

function redactedJson(value: Json, redact: (text: string) => string): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => redactedJson(item, redact));
  const members = Object.entries(value as JsonObject).map(([key, member]): [string, Json | undefined] => [
    redact(key),
    member === undefined ? undefined : redactedJson(member, redact),
  ]);
  return Object.fromEntries(members);
}

/**
 * Returns the event in the JSON format of CloudEvents 1.0, structured mode.
 * @param source name of the source of manifests.
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
 */
export function cloudEvent({ event, repeats }: Notice, source: string): JsonObject {
  const tooLong = JSON.stringify(event.detail).length > DETAIL_CHARS_MAX;
  const subject = event.resource ?? event.application;
  return {
    specversion: '1.0',
    id: event.id,
    source: `/portolan/sources/${encodeURIComponent(source)}`,
    type: `portolan.${event.type}`,
    ...(subject === null ? {} : { subject }),
    time: new Date(event.atMs).toISOString(),
    datacontenttype: 'application/json',
    severity: event.severity,
    data: {
      severity: event.severity,
      message: event.message,
      application: event.application,
      scope: event.scope,
      resource: event.resource,
      revision: event.revision,
      labels: event.labels,
      // Number of equal events that were counted and not sent.
      repeats,
      detail: tooLong ? null : event.detail,
      detailOmitted: tooLong,
    },
  };
}

/** Returns the event as text for Slack, and for Mattermost, Rocket.Chat and Discord's `/slack`. */
export function slackMessage(
  { event, repeats }: Notice,
  { link, commitUrl }: Pick<ReceiverSettings, 'link' | 'commitUrl'> = {},
): JsonObject {
  const { application, resource, severity, revision } = event;
  const subject = resource ?? application;
  const message = safeText(event.message);
  const title = subject ?? event.type;
  // Most messages begin with what they are about, which is the title here.
  const rest =
    /^(?:: | )/.test(message.slice(title.length)) && message.startsWith(title)
      ? message.slice(title.length).replace(/^:? /, '')
      : message;
  const field = (name: string, value: string): JsonObject => ({ title: name, value, short: true });
  return {
    attachments: [
      {
        fallback: cut(escaped(`${severity}: ${title}: ${rest}`), SLACK_TEXT_CHARS_MAX),
        color: SLACK_COLORS[severity],
        title: escaped(title),
        ...(link === undefined ? {} : { title_link: link }),
        text: cut(escaped(rest), SLACK_TEXT_CHARS_MAX),
        fields: [
          ...(application === null || application === subject ? [] : [field('Application', escaped(application))]),
          ...(revision === null ? [] : revisionFields(revision, commitUrl, field)),
          ...(repeats === 0 ? [] : [field('Before', amount(repeats, 'equal event'))]),
        ],
        footer: event.type,
        ts: Math.floor(event.atMs / 1000),
      },
    ],
  };
}

function revisionFields(
  revision: string,
  commitUrl: string | undefined,
  field: (name: string, value: string) => JsonObject,
): readonly JsonObject[] {
  const commit = commitOf(revision);
  if (commit === undefined) return [field('Revision', escaped(shortRevision(revision)))];
  const short = commit.slice(0, SHORT_LENGTH);
  const branch = revision.slice(0, revision.lastIndexOf('@'));
  return [
    field('Commit', commitUrl === undefined ? short : `<${commitUrl.replace(/\/*$/, '/')}${commit}|${short}>`),
    ...(branch === '' ? [] : [field('Branch', escaped(branch))]),
  ];
}

/** Escapes the three characters that start links, mentions and entities, so that a message cannot mention everyone. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
