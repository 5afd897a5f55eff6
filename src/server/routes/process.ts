import { refusal } from '../problem.ts';
import { json, routesOf } from '../route.ts';
import { ref } from '../../model/schema-words.ts';

/** Routes of the process itself, and of webhooks. */
export const processRoutes = routesOf({
  'GET /api/v1/status': {
    operationId: 'getStatus',
    summary: 'The controller as a whole.',
    access: 'viewer',
    answers: { 200: { description: 'The controller.', schema: ref('Controller') } },
    handle: (_, { api }) => json(api.status()),
  },
  'GET /healthz': {
    operationId: 'getHealth',
    summary: 'Whether the process lives; if not, restart it.',
    access: 'anyone',
    answers: { 200: { description: 'It lives.', schema: ref('Healthy') } },
    handle: (_, { health }) => {
      const { lagMs, isAlive } = health.lag();
      if (isAlive) return json({ status: 'ok', lagMs });
      throw refusal(503, 'server/stuck', {
        detail: `The process did nothing for ${lagMs} ms.`,
        remedy: 'Restart it: what was in flight is recorded.',
      });
    },
  },
  'GET /readyz': {
    operationId: 'getReadiness',
    summary: 'Whether it does its work: the source was read, the ledger answers, it is not draining.',
    access: 'anyone',
    answers: {
      200: { description: 'It does.', schema: ref('Readiness') },
      503: { description: 'It does not.', contentType: 'application/json', schema: ref('Readiness') },
    },
    handle: async (_, { health }) => {
      const reasons = await health.obstacles();
      return json({ ready: reasons.length === 0, reasons }, reasons.length === 0 ? 200 : 503);
    },
  },
  'GET /metrics': {
    operationId: 'getMetrics',
    summary: 'Metrics for Prometheus.',
    access: 'metrics',
    waits: true,
    answers: { 200: { description: 'The metrics.', contentType: 'text/plain' } },
    handle: async (_, { metrics }) => ({ type: 'bytes', status: 200, ...(await metrics()) }),
  },
  'POST /webhooks/{name}': {
    operationId: 'receiveWebhook',
    summary: 'The source may have changed. The body is only checked, not read: it is a hint to look.',
    access: 'signature',
    body: { type: 'bytes' },
    bodyBytes: 'webhookBodyBytes',
    answers: { 202: { description: 'Understood; the source is looked at.' } },
    handle: ({ params, headers, body }, { webhooks }) => {
      webhooks.deliver(params['name'] ?? '', headers, body as Uint8Array);
      return { type: 'text', status: 202, contentType: 'text/plain; charset=utf-8', text: '' };
    },
  },
});
