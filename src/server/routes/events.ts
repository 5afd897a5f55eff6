import type { ControllerEvent } from '../../model/status.ts';
import { numberOfCursor, pageBack, positionAt, sequenceAt } from '../paging.ts';
import { json, routesOf } from '../route.ts';
import { pageSchema, text } from '../../model/schema-words.ts';
import { applicationQuery, type ListQuery, pageQuery } from './queries.ts';

const ALL = Number.MAX_SAFE_INTEGER;

function isOf(application: string | undefined): (event: ControllerEvent) => boolean {
  if (application === undefined) return () => true;
  return (event) => event.application === `Application/${application}`;
}

export const eventRoutes = routesOf({
  'GET /api/v1/events': {
    operationId: 'listEvents',
    summary: 'Events still at hand, newest first.',
    access: 'viewer',
    query: { ...pageQuery, application: applicationQuery },
    answers: {
      200: {
        description: 'A part of the list.',
        schema: pageSchema('Event', {
          position: { ...text, description: 'Pass it as after to the stream, which then goes on from here.' },
        }),
      },
    },
    handle: ({ query }, { api }) => {
      const { limit, cursor, application } = query as ListQuery;
      const before = numberOfCursor('events', cursor) ?? ALL;
      const wants = isOf(application);
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
      'Events as they happen (server-sent). Each id is a position: pass the last one as Last-Event-ID, or after, to go on there. An event named gap says that some were missed.',
    access: 'viewer',
    query: {
      application: applicationQuery,
      after: { type: 'string', maxLength: 64, description: 'Events after this position; absent: from now on.' },
    },
    answers: { 200: { description: 'The stream; data of each event is an Event.', contentType: 'text/event-stream' } },
    handle: ({ query, headers, by }, { api, streams }) => {
      const { application, after } = query as Pick<ListQuery, 'application'> & { readonly after?: string };
      const last = headers['last-event-id'];
      const position = typeof last === 'string' ? last : after;
      const start = position === undefined ? undefined : sequenceAt(api, position);
      const request = {
        sequence: start?.sequence ?? api.events.newest,
        hasGap: start?.isOfThisProcess === false,
        wants: isOf(application),
        by,
      };
      const leave = streams.enter();
      return {
        type: 'stream',
        open: (response, common) =>
          streams
            .serve(response, { ...common, 'content-type': 'text/event-stream; charset=utf-8' }, request)
            .finally(leave),
      };
    },
  },
});
