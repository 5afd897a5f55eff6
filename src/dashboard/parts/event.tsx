import type { ControllerEvent, EventSeverity } from '../../model/status.ts';
import { Badge, type Tone } from './badge.tsx';
import { Copyable } from './copy.tsx';
import { Icon, type IconName } from './icon.tsx';
import { applicationAddress, Link } from './link.tsx';
import { Message, Revision } from './revision.tsx';
import { exactTime, Time } from './time.tsx';
import { Remedy } from './words.tsx';

const TONES: Readonly<Record<EventSeverity, { readonly tone: Tone; readonly icon: IconName }>> = {
  info: { tone: 'quiet', icon: 'info' },
  warning: { tone: 'warn', icon: 'alert' },
  error: { tone: 'bad', icon: 'cross' },
};

/** Returns the name after the slash: `Application/shop` → `shop`. */
function nameOf(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}

/** One event in a list. Its time leads to its own address. */
export function EventRow({ event }: { readonly event: ControllerEvent }) {
  const { id, atMs, severity, type, application, message } = event;
  const { tone, icon } = TONES[severity];
  return (
    <li class={`event ${tone}`}>
      <span class="event-severity">
        <Icon name={icon} />
        <span class="hidden">{severity}</span>
      </span>
      <span class="event-type">{type}</span>
      <span class="event-text">
        {application === null ? null : (
          <>
            <Link to={applicationAddress(application)} class="event-application">
              {nameOf(application)}
            </Link>{' '}
          </>
        )}
        <Message text={withoutSubject(message, application)} />
      </span>
      <Link to={`/activity?${new URLSearchParams({ event: id })}`} class="event-time">
        <Time at={atMs} />
      </Link>
    </li>
  );
}

/** Returns the message without the application at its beginning, which is beside it as a link. */
function withoutSubject(message: string, application: string | null): string {
  return application !== null && message.startsWith(`${application}: `)
    ? message.slice(application.length + 2)
    : message;
}

/** All of one event. */
export function EventDetails({ event }: { readonly event: ControllerEvent }) {
  const { id, atMs, severity, type, application, resource, revision, message, detail } = event;
  const { tone, icon } = TONES[severity];
  const remedy = typeof detail === 'object' && detail !== null && 'remedy' in detail ? detail['remedy'] : undefined;
  return (
    <div class="event-details">
      <p class="event-message">
        <Badge tone={tone} icon={icon}>
          {severity}
        </Badge>
        <Message text={message} />
      </p>
      {typeof remedy === 'string' ? <Remedy text={remedy} /> : null}
      <dl class="facts">
        <dt>Time</dt>
        <dd>
          {exactTime(atMs)} (<Time at={atMs} />)
        </dd>
        <dt>Type</dt>
        <dd>
          <code>{type}</code>
        </dd>
        {application === null ? null : (
          <>
            <dt>Application</dt>
            <dd>
              <Link to={applicationAddress(application)}>{nameOf(application)}</Link>
            </dd>
          </>
        )}
        {resource === null ? null : (
          <>
            <dt>Resource</dt>
            <dd>{resource}</dd>
          </>
        )}
        {revision === null ? null : (
          <>
            <dt>Revision</dt>
            <dd>
              <Revision revision={revision} />
            </dd>
          </>
        )}
        <dt>Id</dt>
        <dd>
          <Copyable text={id} what="the id of the event" />
        </dd>
      </dl>
      {detail === null ? null : (
        <details>
          <summary>Details</summary>
          <pre tabIndex={0}>{JSON.stringify(detail, null, 2)}</pre>
        </details>
      )}
    </div>
  );
}
