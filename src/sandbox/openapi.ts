import { errorNames, schemasOf } from './openapi-schemas.ts';
import { list, reference, type Schema } from './openapi-terms.ts';
import { routes } from './routes.ts';
import type { Dialect } from './wire.ts';

/** The description of an operation that its route does not contain. */
interface Description {
  readonly summary: string;
  readonly description?: string;
  readonly query?: Readonly<
    Record<string, { readonly required?: boolean; readonly schema: Schema; readonly text: string }>
  >;
  readonly request?: string;
  /** Status and schema of success, by dialect where they differ. */
  readonly success: (dialect: Dialect) => { readonly status: number; readonly schema: Schema };
}

function answers(schema: Schema, status = 200): Description['success'] {
  return () => ({ status, schema });
}

const onePort: Description['success'] = (dialect) => ({
  status: 200,
  schema: reference(dialect === 'extended' ? 'PortEnvelope' : 'Port'),
});

const number: Schema = { type: 'number' };

const paging: Description['query'] = {
  page: { schema: { type: 'integer', default: 1 }, text: 'from 1' },
  page_size: { schema: { type: 'integer', default: 10 }, text: 'items per page' },
};

const descriptions: Readonly<Record<string, Description>> = {
  listRegions: { summary: 'List data centers, whatever their status', success: answers(list(reference('Region'))) },
  getApplication: { summary: 'Read an application', success: answers(reference('Application')) },
  listPorts: {
    summary: 'List the ports of a component',
    success: (dialect) => ({
      status: 200,
      schema: dialect === 'extended' ? reference('PortListEnvelope') : list(reference('Port')),
    }),
  },
  addPort: {
    summary: 'Add a port',
    description: 'An existing port is refused; an alias that another port has is not.',
    request: 'AddPortRequest',
    success: onePort,
  },
  updatePort: {
    summary: 'Do one thing to a port',
    description:
      'Inner must be open before outer opens, and outer closed before inner closes (404 otherwise). Opening outer of an ' +
      'http port without rules makes a default rule. change_port_alias sets the service name of every port of the component.',
    request: 'UpdatePortRequest',
    success: onePort,
  },
  deletePort: {
    summary: 'Delete a port that is closed, and every rule on it',
    success: onePort,
  },
  createRule: {
    summary: 'Bind a domain to a port',
    description: '400 {"msg":"策略已存在"} also when any rule on that domain and path redirects to https.',
    request: 'RuleRequest',
    success: (dialect) => ({ status: dialect === 'extended' ? 201 : 200, schema: reference('Rule') }),
  },
  listDomains: {
    summary: 'List the rules of an application, http and tcp',
    description: 'A tcp rule is a port of the nodes. A change of the protocol of a port leaves it as it is.',
    query: { query: { schema: { type: 'string', enum: ['http', 'tcp'] }, text: 'only rules of this kind' } },
    success: answers(reference('Domains')),
  },
  listRules: { summary: 'List the rules of an application', success: answers(list(reference('Rule'))) },
  listAllRules: {
    summary: 'List every rule of the enterprise',
    query: { auto_ssl: { schema: { type: 'string' }, text: 'true or false: only rules that have it so' } },
    description: 'For every token. Whatever follows the path is ignored.',
    success: answers(list(reference('EnterpriseRule'))),
  },
  getRule: {
    summary: 'Read a rule',
    description: 'An unknown id is answered with 200 and a blank record.',
    success: answers(reference('Rule')),
  },
  updateRule: {
    summary: 'Replace a rule',
    description:
      'An omitted certificate_id becomes 0 (https turns into http), an omitted auto_ssl_config null; other omitted ' +
      'fields stay. A cookie cannot be cleared. configuration is ignored. domain_header or whether_open is a 500.',
    request: 'RuleUpdateRequest',
    success: answers(reference('Rule')),
  },
  deleteRule: { summary: 'Delete a rule', success: answers(reference('Rule')) },
  monitor: {
    summary: 'Monitoring history of the components that have the performance plugin',
    query: {
      start: { required: true, schema: number, text: 'epoch seconds' },
      end: { required: true, schema: number, text: 'epoch seconds' },
      step: { schema: { type: 'number', default: 60 }, text: 'seconds' },
      is_outer: { schema: { type: 'string' }, text: 'given: only components with an outer port' },
    },
    success: answers(list(reference('ComponentMonitor'))),
  },
  install: {
    summary: 'Install an application from a store',
    description:
      'Each call installs another copy. service_list has every component of the application. The first access key for a ' +
      'store, of a failed install too, is used for good.',
    query: { is_deploy: { schema: { type: 'string' }, text: 'any value builds, "false" too; leave it out not to' } },
    request: 'InstallRequest',
    success: answers(reference('InstallResult')),
  },
  listInstalled: {
    summary: 'List what is installed, one entry per copy',
    success: answers(list(reference('InstalledModel'))),
  },
  upgrade: {
    summary: 'Move installed models to a version',
    description:
      'Moves every copy of a model in the application. A model that is not installed is passed over. The answer is ' +
      'the listing, in which current_version stays what was installed; only the image of a component changes.',
    request: 'UpgradeRequest',
    success: answers(list(reference('InstalledModel'))),
  },
  listApplications: {
    summary: 'List the applications of a team in a data center',
    query: { query: { schema: { type: 'string' }, text: 'part of the name' } },
    success: answers(list(reference('ApplicationSummary'))),
  },
  createApplication: {
    summary: 'Create an application',
    request: 'CreateApplicationRequest',
    success: answers(reference('ApplicationSummary'), 201),
  },
  listComponents: {
    summary: 'List the components of an application, in no promised order',
    success: answers(list(reference('Component'))),
  },
  listTeamRegions: {
    summary: 'List the data centers of a team',
    description: 'For every token, and with a secret in `token`. The parameter `query` is a 500.',
    query: paging,
    success: answers(reference('TeamRegions')),
  },
  listCertificates: {
    summary: 'List the certificates of a team, without their keys',
    query: paging,
    success: answers(reference('Certificates')),
  },
  listInnerPorts: {
    summary: 'List the inner ports of a team in a data center',
    success: answers(reference('InnerPortsEnvelope')),
  },
  build: {
    summary: 'Build a component',
    request: 'BuildRequest',
    success: answers(reference('Build')),
  },
  listEvents: {
    summary: 'List the builds of a component, latest first',
    query: paging,
    success: answers(reference('Events')),
  },
  eventLogs: {
    summary: 'Read what a build has printed so far',
    description: 'An unknown event has an empty log.',
    success: answers(reference('Logs')),
  },
  queryRegion: {
    summary: 'Query the metrics of a data center over a range',
    description:
      'The answer of the metrics system as it is, with every sample. For every token. 400 for a range or an expression ' +
      'that it does not take.',
    query: {
      region_name: { required: true, schema: { type: 'string' }, text: 'name of the data center' },
      query: { required: true, schema: { type: 'string' }, text: 'the expression; & ends it, and + is a space' },
      start: { required: true, schema: number, text: 'epoch seconds' },
      end: { required: true, schema: number, text: 'epoch seconds' },
      step: { required: true, schema: number, text: 'seconds' },
    },
    success: answers(reference('Matrix')),
  },
  monitorNow: {
    summary: 'Latest samples of the components that have the performance plugin',
    query: { is_outer: { schema: { type: 'string' }, text: 'given: only components with an outer port' } },
    success: answers(list(reference('ComponentMonitorNow'))),
  },
  getComponent: { summary: 'Read a component, with its addresses', success: answers(reference('Component')) },
};

/** The OpenAPI 3.1 document of a dialect: exactly the routes that the sandbox handles in it. */
export function openApiDocument(dialect: Dialect): Readonly<Record<string, unknown>> {
  const byTemplate = Map.groupBy(routes[dialect], (route) => route.template);
  const paths = [...byTemplate].map(([template, members]) => [
    template,
    {
      parameters: pathParameters(template),
      ...Object.fromEntries(members.map((route) => [route.method.toLowerCase(), operation(dialect, route.operation)])),
    },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: `Application Platform Management API, ${dialect} dialect`,
      version: 'v1',
      description: 'The API as the sandbox of Portolan serves it. A trailing slash is not accepted.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: schemasOf(dialect),
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The raw token, no scheme before it',
        },
      },
    },
  };
}

function pathParameters(template: string): readonly object[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: name === 'app_id' || name === 'port' ? 'integer' : 'string' },
  }));
}

function operation(dialect: Dialect, name: string): object {
  const described = descriptions[name];
  if (described === undefined) throw new Error(`operation ${name} has no description in the OpenAPI document`);
  const { summary, description, query = {}, request } = described;
  const success = described.success(dialect);
  const parameters = Object.entries(query).map(([parameter, { required = false, schema, text }]) => ({
    name: parameter,
    in: 'query',
    required,
    schema,
    description: text,
  }));
  return {
    operationId: name,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined ? {} : { requestBody: { content: json(reference(request)) } }),
    responses: {
      [success.status]: { description: 'Done', content: json(success.schema) },
      default: {
        description: 'Refused or failed; the status alone does not show whether something was written',
        content: json({ anyOf: errorNames.map(reference) }),
      },
    },
  };
}

function json(schema: Schema): object {
  return { 'application/json': { schema } };
}
