/** Pages about the controller: its API, metrics and events, from the code that serves them. */
import { EVENT_MEANINGS } from '../src/model/event-types.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { createMetrics } from '../src/server/metrics.ts';
import type { Route } from '../src/server/route.ts';
import { routes } from '../src/server/routes/table.ts';
import { code, GENERATED, type Page, prose, table } from './markdown.ts';

export async function daemonPages(): Promise<readonly Page[]> {
  return [
    { file: 'docs/reference/api.md', text: apiPage() },
    { file: 'docs/reference/metrics.md', text: await metricsPage() },
    { file: 'docs/reference/events.md', text: eventsPage() },
  ];
}

/** Access rules, in words; a permission stands for itself. */
const ACCESS: Readonly<Record<Route['access'], string>> = {
  viewer: '`viewer`',
  operate: '`operate`',
  approve: '`approve`',
  admin: '`admin`',
  'viewer-of-all': '`viewer` of everything',
  'admin-of-all': '`admin` of everything',
  caller: 'any caller',
  metrics: '`viewer` of everything, or none with `metrics.public: true`',
  anyone: 'none',
  signature: 'none: the body is signed',
  browser: 'none: a page of the same origin',
  callback: 'none: the redirect of the provider',
};

function apiPage(): string {
  const rows = routes.map((route) => [
    code(`${route.method} ${route.path}`),
    ACCESS[route.access],
    prose(route.summary),
    queryOf(route),
  ]);
  return `${GENERATED}
# API of the controller

\`portolan run\` serves these routes on the address of \`spec.server.listen\` ([Settings](kinds/settings.md)), by default
\`127.0.0.1:7780\`. Send a token as \`Authorization: Bearer TOKEN\`. \`GET /api/v1/openapi.json\` has the schemas of all requests and
answers. An error is a problem document (RFC 9457) with a \`code\` and a \`remedy\`: [all codes](errors/README.md).

The column *permission* names the permission that a caller needs; [roles](../concepts/roles.md) lists which role has which.

${table(['route', 'permission', 'description', 'parameters'], rows)}`;
}

function queryOf({ query }: Route): string {
  return Object.keys(query ?? {})
    .map((name) => code(name))
    .join(', ');
}

async function metricsPage(): Promise<string> {
  const metrics = createMetrics({ clock: systemClock, concurrency: () => 1, version: '', node: '', process: true });
  const { text } = await metrics.render();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .map(([, name = '', help = '']) => [code(name), types.get(name) ?? '', prose(help)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (rows.length < 20) throw new Error('the metrics cannot be read');
  const own = rows.filter(([name]) => /^`(?:portolan|controller_runtime|workqueue)_/.test(name));
  const ofProcess = rows.filter((row) => !own.includes(row));
  return `${GENERATED}
# Metrics

\`GET /metrics\` answers in the text format of Prometheus, to a caller with the role \`viewer\` for everything, or to
anyone with \`spec.server.metrics.public: true\`. The
names of the queue and of reconciles are those of Kubernetes controllers, so their dashboards work. A ready dashboard for Grafana and
rules for Prometheus are in [\`examples/deploy/monitoring\`](../../examples/deploy/monitoring).

${table(['metric', 'type', 'description'], own)}
## Process

${table(['metric', 'type', 'description'], ofProcess)}`;
}

function eventsPage(): string {
  return `${GENERATED}
# Events

\`portolan events\` and \`GET /api/v1/events\` list the events of a running controller; \`/api/v1/events/stream\` streams them, and
\`spec.notifications\` of [Settings](settings.md) sends them to receivers. An event has a type, a severity (\`info\`, \`warning\`, \`error\`),
the application, the resource and the commit where there is one, and a message.

${table(
  ['type', 'meaning'],
  Object.entries(EVENT_MEANINGS).map(([type, meaning]) => [code(type), prose(meaning)]),
)}`;
}
