import { PortolanError } from '../model/errors.ts';
import { schemaCheck } from './schema-check.ts';
import type { Seed } from './seed.ts';
import { storeAnswers } from './state.ts';

const text = { type: 'string', minLength: 1 };
const flag = { type: 'boolean' };
const hexId = { type: 'string', pattern: '^[0-9a-f]{32}$' };
const portNumber = { type: 'integer', minimum: 1, maximum: 65_535 };
const moment = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$' };
const size = { type: 'integer', minimum: 0 };

function record(required: readonly string[], properties: object): object {
  return { type: 'object', additionalProperties: false, required, properties };
}

function list(items: object): object {
  return { type: 'array', items };
}

const port = record(['port'], {
  port: portNumber,
  protocol: { enum: ['tcp', 'http', 'mysql', 'grpc', 'udp'] },
  alias: { type: 'string', pattern: '^[A-Z][A-Z0-9_]*$', maxLength: 64 },
  inner: flag,
  outer: flag,
});

const region = record(['id', 'name'], {
  id: text,
  name: text,
  alias: text,
  url: text,
  websocketUrl: text,
  httpDomain: text,
  tcpDomain: text,
  ruleDomain: text,
  status: { type: 'string', description: '0 editing, 1 enabled, 2 disabled, 3 under maintenance' },
  description: { type: 'string' },
  token: { type: 'string' },
  reachable: flag,
});

const component = record(['id', 'name'], {
  id: hexId,
  alias: text,
  name: text,
  k8sName: text,
  key: text,
  image: text,
  version: text,
  status: text,
  memoryMib: size,
  cpuMillis: size,
  monitored: flag,
  serviceName: { type: 'string', pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 },
  details: { type: 'object' },
  ports: list(port),
});

const rule = record(['component', 'port', 'domain'], {
  id: hexId,
  component: hexId,
  port: portNumber,
  domain: { type: 'string', minLength: 1, maxLength: 128 },
  path: { type: 'string' },
  weight: { type: 'integer' },
  cookie: { type: 'string' },
  header: { type: 'string' },
  certificateId: { type: 'integer', minimum: 0 },
  autoSsl: flag,
  extensions: { type: 'array' },
});

const application = record(['id', 'team', 'region', 'name'], {
  id: { type: 'integer', minimum: 1 },
  team: text,
  region: text,
  name: text,
  k8sApp: text,
  note: { type: 'string' },
  createdAt: moment,
  components: list(component),
  rules: list(rule),
});

const certificate = record(['id', 'team', 'alias'], {
  id: { type: 'integer', minimum: 1 },
  team: text,
  alias: text,
  issuedTo: list(text),
  expiresAt: moment,
});

const modelComponent = record(['key', 'name', 'image'], {
  key: text,
  name: text,
  k8sName: text,
  image: text,
  memoryMib: size,
  cpuMillis: size,
  ports: list(port),
  buildFailure: text,
});

const model = record(['id', 'name', 'versions'], {
  id: { type: 'string', minLength: 1, maxLength: 32 },
  name: text,
  versions: list(record(['version', 'components'], { version: text, components: list(modelComponent) })),
});

/** JSON Schema 2020-12 of a seed file. */
export const seedSchema: object = record(['enterprise', 'regions', 'teams'], {
  enterprise: record(['id'], { id: text, principal: text }),
  monitoring: { enum: ['traffic', 'lossy'] },
  startAfterMs: size,
  regions: { ...list(region), minItems: 1 },
  teams: { ...list(record(['id', 'name'], { id: text, name: text, regions: list(text) })), minItems: 1 },
  applications: list(application),
  certificates: list(certificate),
  stores: list(
    record(['url', 'domain', 'models'], {
      url: text,
      domain: text,
      marketName: text,
      accessKeys: list(text),
      answers: { enum: storeAnswers },
      models: list(model),
    }),
  ),
});

const check = schemaCheck(seedSchema);

/** Everything that is wrong with a seed, a sentence each with its path; empty when it can be used. */
export function seedProblems(value: unknown): readonly string[] {
  const wrong = check(value);
  return wrong.length > 0 ? wrong : crossProblems(value as Seed);
}

/**
 * The seed, checked.
 * @throws PortolanError `invalid` that names every fault.
 */
export function checkSeed(value: unknown): Seed {
  const problems = seedProblems(value);
  if (problems.length === 0) return value as Seed;
  throw new PortolanError({
    code: 'sandbox/seed-invalid',
    disposition: 'invalid',
    message: `the seed of the sandbox has ${problems.length} fault(s), so it was not started:\n- ${problems.join('\n- ')}`,
    remedy: 'Correct the seed file; start without one to get the demo.',
  });
}

function crossProblems(seed: Seed): readonly string[] {
  const problems: string[] = [];
  const regions = new Set(seed.regions.map((item) => item.name));
  const teams = new Set(seed.teams.map((item) => item.name));
  once(
    problems,
    'regions',
    'name',
    seed.regions.map((item) => item.name),
  );
  once(
    problems,
    'teams',
    'name',
    seed.teams.map((item) => item.name),
  );
  once(
    problems,
    'teams',
    'id',
    seed.teams.map((item) => item.id),
  );
  for (const [index, team] of seed.teams.entries()) {
    for (const name of team.regions ?? []) {
      if (!regions.has(name)) problems.push(`teams[${index}].regions: there is no region "${name}"`);
    }
  }
  const applications = seed.applications ?? [];
  once(
    problems,
    'applications',
    'id',
    applications.map((item) => item.id),
  );
  const components = applications.flatMap((item) => item.components ?? []);
  once(
    problems,
    'components',
    'id',
    components.map((item) => item.id),
  );
  for (const [index, item] of applications.entries()) {
    const place = `applications[${index}]`;
    if (!teams.has(item.team)) problems.push(`${place}.team: there is no team "${item.team}"`);
    if (!regions.has(item.region)) problems.push(`${place}.region: there is no region "${item.region}"`);
    problems.push(...insideApplication(place, item));
  }
  const stores = (seed.stores ?? []).map((store) => `${store.url} ${store.domain}`);
  once(problems, 'stores', 'url and domain', stores);
  return problems;
}

function insideApplication(place: string, application: NonNullable<Seed['applications']>[number]): readonly string[] {
  const problems: string[] = [];
  const ports = new Set<string>();
  for (const [index, item] of (application.components ?? []).entries()) {
    const numbers = (item.ports ?? []).map((each) => each.port);
    once(problems, `${place}.components[${index}].ports`, 'port', numbers);
    for (const number of numbers) ports.add(`${item.id}/${number}`);
  }
  for (const [index, item] of (application.rules ?? []).entries()) {
    if (ports.has(`${item.component}/${item.port}`)) continue;
    problems.push(
      `${place}.rules[${index}]: the application has no component ${item.component} with port ${item.port}`,
    );
  }
  return problems;
}

function once(problems: string[], place: string, field: string, values: readonly (string | number)[]): void {
  const seen = new Set<string | number>();
  for (const value of values) {
    if (seen.has(value)) problems.push(`${place}: ${field} "${value}" is there twice`);
    seen.add(value);
  }
}
