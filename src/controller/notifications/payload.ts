import type { Json, JsonObject } from '../../model/json.ts';
import type { ControllerEvent } from '../../model/status.ts';
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
export function slackMessage({ event, repeats }: Notice): JsonObject {
  const subject = event.resource ?? event.application;
  const facts = [event.type, ...(event.revision === null ? [] : [shortRevision(event.revision)])];
  if (repeats > 0) facts.push(`${amount(repeats, 'equal event')} before`);
  const head = `*${event.severity}*${subject === null ? '' : ` ${escaped(subject)}`}`;
  const text = `${head}: ${escaped(safeText(event.message))}`;
  return { text: `${cut(text, SLACK_TEXT_CHARS_MAX)}\n_${escaped(facts.join(', '))}_` };
}

/** Shortens `main@sha1:0123456789…` to `main@0123456789`. */
export function shortRevision(revision: string): string {
  return revision.replace(/@sha(?:1|256):([0-9a-f]{10})[0-9a-f]*$/, '@$1');
}

/** Escapes the three characters that start links, mentions and entities, so that a message cannot mention everyone. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
