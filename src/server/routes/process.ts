import { refusal } from '../problem.ts';
import { json, routesOf } from '../route.ts';
import { ref } from '../../model/schema-words.ts';

/** Routes of the process itself, and of webhooks. */
export const processRoutes = routesOf({
  'GET /api/v1/status': {
    operationId: 'getStatus',
    summary: 'Returns the status of the controller.',
    access: 'viewer',
    answers: { 200: { description: 'The controller.', schema: ref('Controller') } },
    handle: (_, { api }) => json(api.status()),
  },
  'GET /healthz': {
    operationId: 'getHealth',
    summary: 'Reports whether the process is alive. If not, restart it.',
    access: 'anyone',
    answers: { 200: { description: 'The process is alive.', schema: ref('Healthy') } },
    handle: (_, { health }) => {
      const { lagMs, isAlive } = health.lag();
      if (isAlive) return json({ status: 'ok', lagMs });
      throw refusal(503, 'server/stuck', {
        detail: `The event loop of the process was blocked for ${lagMs} ms.`,
        remedy: 'Restart the process. Writes in flight are recorded in the ledger.',
      });
    },
  },
  'GET /readyz': {
    operationId: 'getReadiness',
    summary:
      'Reports whether the controller is ready: the source was read, the ledger answers, and it is not draining. A replica that has started stays ready while its database is away, and serves its last state.',
    access: 'anyone',
    answers: {
      200: { description: 'The controller is ready.', schema: ref('Readiness') },
      503: { description: 'The controller is not ready.', contentType: 'application/json', schema: ref('Readiness') },
    },
    handle: async (_, { health }) => {
      const reasons = await health.obstacles();
      return json({ ready: reasons.length === 0, reasons }, reasons.length === 0 ? 200 : 503);
    },
  },
  'GET /metrics': {
    operationId: 'getMetrics',
    summary: 'Returns the metrics for Prometheus.',
    access: 'metrics',
    waits: true,
    answers: { 200: { description: 'The metrics.', contentType: 'text/plain' } },
    handle: async (_, { metrics }) => ({ type: 'bytes', status: 200, ...(await metrics()) }),
  },
  'POST /webhooks/{name}': {
    operationId: 'receiveWebhook',
    summary:
      'Reports that the source may have changed, so that Portolan reads it. Only the signature of the body is used.',
    access: 'signature',
    body: { type: 'bytes' },
    bodyBytes: 'webhookBodyBytes',
    answers: { 202: { description: 'Accepted. Portolan reads the source.' } },
    handle: ({ params, headers, body }, { webhooks }) => {
      webhooks.deliver(params['name'] ?? '', headers, body as Uint8Array);
      return { type: 'text', status: 202, contentType: 'text/plain; charset=utf-8', text: '' };
    },
  },
});
