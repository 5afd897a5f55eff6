import { type EventFilter, eventFilter, SEVERITIES } from '../../model/event-filter.ts';
import { numberOfCursor, pageBack, positionAt, streamStart } from '../paging.ts';
import { json, routesOf } from '../route.ts';
import type { StreamRequest } from '../streams.ts';
import { pageSchema, text } from '../../model/schema-words.ts';
import { applicationQuery, type ListQuery, pageQuery } from './queries.ts';

const ALL = Number.MAX_SAFE_INTEGER;

/** Query parameters of lists and streams of events. */
const filterQuery = {
  application: applicationQuery,
  severity: {
    type: 'string',
    enum: SEVERITIES,
    default: 'info',
    description: 'Only events of this severity or a higher one.',
  },
  type: {
    type: 'array',
    maxItems: 32,
    items: { type: 'string', maxLength: 64, pattern: '^[a-z]+([.][a-z-]+)?$' },
    description: 'Only events of this type (drift.detected) or group of types (drift). Several: any of them.',
  },
} as const;

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // A proxy that collects or compresses the stream would delay events.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const;

export const eventRoutes = routesOf({
  'GET /api/v1/events': {
    operationId: 'listEvents',
    summary: 'Lists the events that are still available, newest first.',
    access: 'viewer',
    query: {
      ...pageQuery,
      ...filterQuery,
      id: { type: 'string', maxLength: 128, description: 'Only the event of this id.' },
    },
    answers: {
      200: {
        description: 'A page of the list.',
        schema: pageSchema('Event', {
          position: { ...text, description: 'Pass it to the stream as after to continue from here.' },
        }),
      },
    },
    handle: async ({ query }, { api }) => {
      await api.events.refresh?.();
      const { limit, cursor, ...filter } = query as ListQuery & EventFilter;
      const before = numberOfCursor('events', cursor) ?? ALL;
      const wants = eventFilter(filter);
      const found = api.events
        .since(0, ALL)
        .events.filter((event) => event.sequence < before && wants(event))
        .toReversed();
      const position = positionAt(api, api.events.newest);
      return json({ ...pageBack('events', found, ({ sequence }) => sequence, limit), position });
    },
  },
  'GET /api/v1/events/stream': {
    operationId: 'streamEvents',
    summary:
      'Streams events as they happen (server-sent events). Each id is a position: pass the last one as Last-Event-ID, or as after, to continue there. An event named gap reports that events are missing.',
    access: 'viewer',
    query: {
      ...filterQuery,
      after: {
        type: 'string',
        maxLength: 64,
        description: 'Return events after this position. Default: only new events.',
      },
    },
    answers: {
      200: { description: 'The stream. The data of each event is an Event.', contentType: 'text/event-stream' },
    },
    handle: async ({ query, headers, by }, { api, streams }) => {
      const isCurrent = (await api.events.refresh?.()) ?? true;
      const { after, ...filter } = query as EventFilter & { readonly after?: string };
      const last = headers['last-event-id'];
      const position = typeof last === 'string' ? last : after;
      const start = position === undefined ? undefined : streamStart(api, position, isCurrent);
      const wants = eventFilter(filter);
      const request: StreamRequest = {
        api,
        sequence: start?.sequence ?? api.events.newest,
        hasGap: start?.isOfThisProcess === false,
        wants: (event) => event.sequence > (start?.seen ?? 0) && wants(event),
        by,
      };
      const leave = streams.enter();
      return {
        type: 'stream',
        open: (response, common) => streams.serve(response, { ...common, ...STREAM_HEADERS }, request).finally(leave),
      };
    },
  },
});
