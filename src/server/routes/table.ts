import { openApiDocument } from '../openapi.ts';
import { json, type Route, routesOf } from '../route.ts';
import { applicationRoutes } from './applications.ts';
import { attentionRoutes } from './attention.ts';
import { commandRoutes } from './commands.ts';
import { commitRoutes } from './commits.ts';
import { eventRoutes } from './events.ts';
import { manualRoutes, orphanRoutes } from './manual.ts';
import { planRoutes } from './plans.ts';
import { processRoutes } from './process.ts';
import { recordRoutes } from './records.ts';
import { signalRoutes } from './signals.ts';
import { sessionRoutes } from './session.ts';
import { whoamiRoutes } from './whoami.ts';

/** All routes of the API, each with its access rule. */
export const routes: readonly Route[] = [
  ...processRoutes,
  ...applicationRoutes,
  ...attentionRoutes,
  ...commitRoutes,
  ...planRoutes,
  ...commandRoutes,
  ...manualRoutes,
  ...orphanRoutes,
  ...eventRoutes,
  ...recordRoutes,
  ...signalRoutes,
  ...sessionRoutes,
  ...whoamiRoutes,
  ...routesOf({
    'GET /api/v1/openapi.json': {
      operationId: 'getDocument',
      summary: 'Returns this document.',
      access: 'viewer',
      answers: { 200: { description: 'OpenAPI 3.1.', schema: { type: 'object' } } },
      handle: () => json(openApiDocument(routes)),
    },
  }),
];
