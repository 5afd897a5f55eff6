import { listComponents, listPorts } from '../../../kinds/component/readings.ts';
import { listRules } from '../../../kinds/http-gateway-rule/readings.ts';
import { listApplications, listCertificates } from '../../../platform/readings.ts';
import { createApplication as newApplication } from '../../../kinds/application/requests.ts';
import {
  addPort,
  deletePort,
  type PortActionFields,
  type PortRequestFields,
  updatePort,
} from '../../../kinds/component/requests.ts';
import { createRule, deleteRule, updateRule } from '../../../kinds/http-gateway-rule/requests.ts';
import { install, shownInstall } from '../../../kinds/store-install/requests.ts';
import { invalidInput, PortolanError } from '../../../model/errors.ts';
import type { RuleFields, RuleRecord } from '../../../kinds/http-gateway-rule/wire.ts';
import type { Secret } from '../../../model/secret.ts';
import type { Verdict } from '../../../platform/verdict.ts';
import type { AppAddress } from '../../../platform/writes.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Server } from './server.ts';

/** A store with a model that the suite may install. */
export interface StoreModel {
  readonly url: string;
  readonly domain: string;
  readonly type: string;
  readonly accessKey: Secret | null;
  /** Variable that holds the key. */
  readonly keyEnv: string | undefined;
  readonly modelId: string;
  readonly version: string;
  readonly upgradeTo: string | undefined;
}

interface GroundOptions extends Omit<AppAddress, 'appId'> {
  /** undefined: the suite creates an application. */
  readonly appId: number | undefined;
  readonly isDisposable: boolean;
  readonly components: readonly string[];
  readonly store: StoreModel | undefined;
}

/** The application that the suite works in. It has everything that checks need, and nothing in it is in use. */
export type Ground = Awaited<ReturnType<typeof prepareGround>>;

const FIRST_PORT = 21_001;

/**
 * Creates or opens the disposable application.
 * @throws PortolanError `ask-human` for an application that is not declared disposable; `invalid` where it lacks
 * something that the suite needs.
 */
export async function prepareGround(server: Server, options: GroundOptions, random: Random) {
  const { team, region, appId, store } = options;
  if (appId !== undefined && !options.isDisposable) throw notDisposable(appId);
  const { client } = server;
  const run = random.hex(4);
  const remaining: string[] = [];
  const isExtended = (await client.read(listApplications, { team, region })).readable;
  if (appId === undefined && !isExtended) throw lacking('The server cannot create applications, and --app is missing.');
  if (appId === undefined && store === undefined)
    throw lacking('A new application has no component, and no store is given to install one from.');
  const create = async (name: string, holds: string): Promise<AppAddress> => {
    const created = await createApplication(server, { team, region }, name);
    remaining.push(`application ${created.appId} (${name}), ${holds}`);
    return created;
  };
  const app =
    appId === undefined
      ? await create(`conformance-${run}`, 'with what was installed into it')
      : { team, region, appId };
  const components = await componentsOf(server, app, options);
  const actions = actionsOn(server, app, components[0]);
  // Reads prove the form that extensions must have in requests.
  await actions.rules();
  const taken = new Set<number>();
  for (const id of components) for (const { port } of await actions.portsOf(id)) taken.add(port);
  const certificates = isExtended ? await server.read(listCertificates, { team }) : undefined;
  const suffix = `.${run}.conformance.example`;
  const made = new Set<number>();
  let next = FIRST_PORT;
  let empty: AppAddress | undefined;
  const leave = (what: string): void => void remaining.push(what);
  return {
    server,
    app,
    /** Returns an application without components, created once; only where rules can be listed. */
    empty: async (): Promise<AppAddress> => (empty ??= await create(`conformance-${run}-empty`, 'without components')),
    /** Component ids; at least one. */
    components,
    store,
    /** The server can create applications, and list, change and delete rules. */
    isExtended,
    /** Id of a certificate of the team, if there is one. */
    certificateId: certificates?.[0]?.id,
    /** Returns a domain that only this run uses. */
    domain: (name: string): string => `${name}${suffix}`,
    /** Returns a port number that is free on every component of the suite. */
    freePort: (): number => {
      while (taken.has(next)) next += 1;
      made.add(next);
      return next++;
    },
    isOurs: (domain: string, port: number): boolean => domain.endsWith(suffix) || made.has(port),
    /** Adds something that stays on the server to the report. */
    leave,
    leaveInstall: ({ appId: id }: AppAddress, by: string): void =>
      leave(`one installation of ${store?.modelId} ${store?.version} in application ${id}, by ${by}`),
    remaining,
    ...actions,
  };
}

/** Returns reads and writes of an application. Those of a component use the given one by default. */
export function actionsOn(server: Server, app: AppAddress, component: string) {
  const { send } = server;
  const rules = async (): Promise<readonly RuleRecord[]> => (await server.read(listRules, app)) ?? [];
  const rulesOf = async (domain: string): Promise<readonly RuleRecord[]> =>
    (await rules()).filter((rule) => rule.domain === domain);
  const remove = (ruleId: string): Promise<Verdict> => send(deleteRule({ app, ruleId }));
  const portsOf = async (serviceId: string) => (await server.read(listPorts(serviceId), app)) ?? [];
  return {
    /** Empty where the component is not in the application. */
    portsOf,
    portOf: async (port: number, serviceId = component) => (await portsOf(serviceId)).find((one) => one.port === port),
    addPort: (port: number, fields: Partial<PortRequestFields> = {}, serviceId = component): Promise<Verdict> =>
      send(addPort({ app, serviceId, port: { port, protocol: 'http', inner: true, alias: `P${port}`, ...fields } })),
    changePort: (port: number, change: PortActionFields): Promise<Verdict> =>
      send(updatePort({ app, serviceId: component, port, change })),
    deletePort: (port: number): Promise<Verdict> => send(deletePort({ app, serviceId: component, port })),
    /** Empty where the server cannot list rules. */
    rules,
    rulesOf,
    createRule: (rule: Omit<RuleFields, 'serviceId'> & Partial<RuleFields>): Promise<Verdict> =>
      send(createRule({ app, rule: { serviceId: component, ...rule } })),
    updateRule: (ruleId: string, rule: Omit<RuleFields, 'serviceId'>): Promise<Verdict> =>
      send(updateRule({ app, ruleId, rule: { serviceId: component, ...rule } })),
    deleteRule: remove,
    /** Deletes all rules of the domains. */
    async deleteRules(...domains: readonly string[]): Promise<void> {
      for (const domain of domains) for (const { ruleId } of await rulesOf(domain)) await remove(ruleId);
    },
  };
}

async function createApplication(server: Server, place: Omit<AppAddress, 'appId'>, name: string): Promise<AppAddress> {
  await server.send(newApplication({ ...place, name, k8sApp: name }));
  const found = (await server.read(listApplications, place))?.find((one) => one.name === name);
  if (found !== undefined) return { ...place, appId: found.appId };
  throw lacking(`The server did not create the application ${name}.`);
}

async function componentsOf(
  server: Server,
  app: AppAddress,
  { components, store }: GroundOptions,
): Promise<readonly [string, ...string[]]> {
  let found = components;
  if (found.length === 0) found = ((await server.read(listComponents, app)) ?? []).map(({ serviceId }) => serviceId);
  // Two components are needed: weights share a domain among several.
  for (let copies = 0; found.length < 2 && components.length === 0 && store !== undefined && copies < 2; copies += 1) {
    const { modelId, version: modelVersion } = store;
    const verdict = await server.send(install({ app, build: false, store, modelId, modelVersion }));
    const shown = verdict.verdict === 'applied' ? shownInstall(verdict.evidence) : undefined;
    if (shown === undefined)
      throw lacking(`Nothing could be installed into application ${app.appId}: ${verdict.answer.message}.`);
    found = shown.components.map(({ serviceId }) => serviceId);
  }
  const [first, ...more] = found;
  if (first !== undefined) return [first, ...more];
  throw lacking(`Application ${app.appId} has no component that is known.`);
}

/** Removes the rules and ports of this run. */
export async function cleanUp({ server, app, components, isExtended, isOurs, leave, ...own }: Ground): Promise<void> {
  for (const { ruleId, domain, port } of await own.rules()) if (isOurs(domain, port)) await own.deleteRule(ruleId);
  const portsOf = async (serviceId: string) => (await own.portsOf(serviceId)).filter(({ port }) => isOurs('', port));
  for (const serviceId of components) {
    const { changePort, deletePort } = actionsOn(server, app, serviceId);
    for (const { port, outer, inner } of await portsOf(serviceId)) {
      if (outer) await changePort(port, { action: 'close_outer' });
      if (inner) await changePort(port, { action: 'close_inner' });
      if (isExtended) await deletePort(port);
    }
  }
  for (const { domain, port, path } of await own.rules())
    if (isOurs(domain, port)) leave(`rule ${domain}${path} of application ${app.appId}`);
  for (const serviceId of components)
    for (const { port } of await portsOf(serviceId)) leave(`port ${port} of component ${serviceId}, closed`);
}

function notDisposable(appId: number): PortolanError {
  return new PortolanError({
    code: 'conformance/not-disposable',
    disposition: 'ask-human',
    message: `Application ${appId} is not declared disposable. Nothing was sent.`,
    remedy: 'Pass --disposable if everything in this application may be changed, opened to the outside and deleted.',
  });
}

function lacking(message: string): PortolanError {
  return invalidInput(
    'conformance/nothing-to-work-in',
    message,
    'Name a disposable application that has components with --app and --disposable, and its components with --component ' +
      'where the server cannot list them; or name a store and a model with --store-url and --model.',
  );
}
