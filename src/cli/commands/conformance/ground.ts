import { createApplication as newApplication } from '../../../kinds/application/requests.ts';
import { deletePort, updatePort } from '../../../kinds/component/requests.ts';
import { deleteRule } from '../../../kinds/http-gateway-rule/requests.ts';
import { install, shownInstall } from '../../../kinds/store-install/requests.ts';
import { PortolanError } from '../../../model/errors.ts';
import type { Secret } from '../../../model/secret.ts';
import type { AppAddress } from '../../../platform/writes.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Server } from './server.ts';

/** A store and a model in it that the suite may install. */
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

export interface GroundOptions {
  readonly team: string;
  readonly region: string;
  readonly appId: number | undefined;
  readonly isDisposable: boolean;
  readonly components: readonly string[];
  readonly store: StoreModel | undefined;
}

/** The application that the suite works in: everything that a check needs, and nothing that belongs to anybody. */
export interface Ground {
  readonly server: Server;
  readonly app: AppAddress;
  /** Creates an application without components, once; undefined where the server cannot create any. */
  empty(): Promise<AppAddress | undefined>;
  /** Component ids; at least one. */
  readonly components: readonly [string, ...string[]];
  readonly store: StoreModel | undefined;
  /** Rules can be listed, changed and deleted. */
  readonly isExtended: boolean;
  /** Id of a certificate of the team, where there is one. */
  readonly certificateId: number | undefined;
  /** A domain that only this run uses. */
  domain(name: string): string;
  /** A port number that is free on every component of the suite. */
  freePort(): number;
  /** Something that stays on the server, for the report. */
  leave(what: string): void;
  remaining(): readonly string[];
  /** Removes the rules and ports of this run. */
  cleanUp(): Promise<void>;
}

/**
 * Creates or opens the disposable application.
 * @throws PortolanError `ask-human` for an application that is not declared disposable; `invalid` where there is nothing to
 * work with.
 */
export async function prepareGround(server: Server, options: GroundOptions, random: Random): Promise<Ground> {
  const { team, region, appId, store } = options;
  if (appId !== undefined && !options.isDisposable) throw notDisposable(appId);
  const run = random.hex(4);
  const remaining: string[] = [];
  const listed = await server.client.applications(team, region);
  const isExtended = listed.readable;
  if (appId === undefined && !isExtended) throw lacking('The server cannot create applications, and --app is missing.');
  if (appId === undefined && store === undefined)
    throw lacking('A new application has no component, and no store is given to install one from.');
  const app =
    appId === undefined
      ? await createApplication(server, { team, region, name: `conformance-${run}` })
      : { team, region, appId };
  if (appId === undefined)
    remaining.push(`application ${app.appId} (conformance-${run}), with what was installed into it`);
  const components = await componentsOf(server, app, options);
  // The form of extensions in requests follows what reads have proved.
  await server.client.rules(app);
  const taken = new Set<number>();
  for (const id of components) for (const { port } of (await server.client.ports(app, id)) ?? []) taken.add(port);
  const suffix = `${run}.conformance.example`;
  let next = FIRST_PORT;
  const made = new Set<number>();
  let empty: AppAddress | undefined;
  const domainOf = (name: string): string => `${name}.${suffix}`;
  return {
    server,
    app,
    empty: async () => {
      if (!isExtended || empty !== undefined) return empty;
      const name = `conformance-${run}-empty`;
      empty = await createApplication(server, { team, region, name });
      remaining.push(`application ${empty.appId} (${name}), without components`);
      return empty;
    },
    components,
    store,
    isExtended,
    certificateId: isExtended ? await certificateOf(server, team) : undefined,
    domain: domainOf,
    freePort: () => {
      while (taken.has(next)) next += 1;
      made.add(next);
      return next++;
    },
    leave: (what) => void remaining.push(what),
    remaining: () => remaining,
    cleanUp: () =>
      cleanUp({ server, app, components, isExtended, suffix, made, leave: (what) => remaining.push(what) }),
  };
}

const FIRST_PORT = 21_001;

async function createApplication(
  server: Server,
  { team, region, name }: { readonly team: string; readonly region: string; readonly name: string },
): Promise<AppAddress> {
  await server.send(newApplication({ team, region, name, k8sApp: name }));
  const listed = await server.client.applications(team, region);
  const found = listed.readable ? listed.value.find((one) => one.name === name) : undefined;
  if (found !== undefined) return { team, region, appId: found.appId };
  throw lacking(`The server did not create the application ${name}.`);
}

async function componentsOf(
  server: Server,
  app: AppAddress,
  { components, store }: GroundOptions,
): Promise<readonly [string, ...string[]]> {
  const present = async (): Promise<readonly string[]> => {
    const listed = await server.client.components(app);
    return listed.readable ? listed.value.map(({ serviceId }) => serviceId) : [];
  };
  let found = components.length > 0 ? components : await present();
  // Two of them: weights are of a domain on several components.
  for (let copies = 0; found.length < 2 && components.length === 0 && store !== undefined && copies < 2; copies += 1) {
    const verdict = await server.send(
      install({ app, build: false, store, modelId: store.modelId, modelVersion: store.version }),
    );
    const shown = verdict.verdict === 'applied' ? shownInstall(verdict.evidence) : undefined;
    if (shown === undefined)
      throw lacking(`Nothing could be installed into application ${app.appId}: ${verdict.answer.message}.`);
    found = shown.components.map(({ serviceId }) => serviceId);
  }
  const [first, ...more] = found;
  if (first !== undefined) return [first, ...more];
  throw lacking(`Application ${app.appId} has no component that is known.`);
}

async function certificateOf(server: Server, team: string): Promise<number | undefined> {
  const answer = await server.ask(`/openapi/v1/teams/${encodeURIComponent(team)}/certificates`);
  const list = typeof answer === 'object' && answer !== null && 'list' in answer ? answer.list : undefined;
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  const id = typeof first === 'object' && first !== null && 'id' in first ? first.id : undefined;
  return typeof id === 'number' ? id : undefined;
}

interface Cleaning {
  readonly server: Server;
  readonly app: AppAddress;
  readonly components: readonly string[];
  readonly isExtended: boolean;
  readonly suffix: string;
  readonly made: ReadonlySet<number>;
  leave(what: string): void;
}

async function cleanUp({ server, app, components, isExtended, suffix, made, leave }: Cleaning): Promise<void> {
  const { client } = server;
  const isOurs = (domain: string, port: number): boolean => domain.endsWith(suffix) || made.has(port);
  const rules = await client.rules(app);
  for (const { ruleId, domain, port } of rules.readable ? rules.value : [])
    if (isOurs(domain, port)) await server.send(deleteRule({ app, ruleId }));
  for (const serviceId of components)
    for (const { port, outer, inner } of (await client.ports(app, serviceId)) ?? []) {
      if (!made.has(port)) continue;
      const change = (action: 'close_outer' | 'close_inner') =>
        server.send(updatePort({ app, serviceId, port, change: { action } }));
      if (outer) await change('close_outer');
      if (inner) await change('close_inner');
      if (isExtended) await server.send(deletePort({ app, serviceId, port }));
    }
  const left = await client.rules(app);
  for (const { domain, port, path } of left.readable ? left.value : [])
    if (isOurs(domain, port)) leave(`rule ${domain}${path} of application ${app.appId}`);
  for (const serviceId of components)
    for (const { port } of (await client.ports(app, serviceId)) ?? [])
      if (made.has(port)) leave(`port ${port} of component ${serviceId}, closed`);
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
  return new PortolanError({
    code: 'conformance/nothing-to-work-in',
    disposition: 'invalid',
    message,
    remedy:
      'Name a disposable application that has components with --app and --disposable, and its components with --component ' +
      'where the server cannot list them; or name a store and a model with --store-url and --model.',
  });
}
