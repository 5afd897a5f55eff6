import type { PlatformRequest, WireObject } from '../../src/platform/transport.ts';
import { addressOf } from '../../src/platform/address.ts';
import type { ComponentRow, PortRow, RuleRow, SandboxState } from '../../src/sandbox/state.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import { Secret } from '../../src/model/secret.ts';
import type { Chance } from './chance.ts';
import type { Server } from './server.ts';
import { ADDRESS, ELSEWHERE, MODELS, STORE_KEY, type Wishes } from './shop.ts';
import type { Timeline } from './timeline.ts';
import { placeOf } from './places.ts';
import type { Books } from './books.ts';

/** What somebody else sees and can reach. */
export interface Surroundings {
  readonly server: Server;
  readonly timeline: Timeline;
  readonly wishes: Wishes;
  /** Ports of which we owe something: an operator's hand ends that. */
  readonly truth: { readonly owed: Set<string>; readonly made: Set<string> };
  readonly books: { readonly objects: ReadonlyMap<string, OwnedObject> };
  /** What was done to rules and components by hand: convergence does not blame us for it. */
  readonly byHand: ByHand;
}

/** What others did, object by object: what befell one of them explains nothing about another. */
export class ByHand {
  /** Rules that somebody made, changed or deleted; see `placeOf`. */
  readonly rules = new Set<string>();
  /** Ids of rules that somebody gave another key. */
  readonly moved = new Set<string>();
  /** Those of them that no ledger row had on record by then: without a listing, nobody can tell what became of them. */
  readonly movedUnseen = new Set<string>();
  /** Components that somebody deleted, and installs of which nothing was left then. */
  readonly components = new Set<string>();
  readonly installs = new Set<string>();
  /** When somebody moved a component to another application, or back. */
  readonly movedMs = new Map<string, number>();
  /** Those that came back: they appear in the application. */
  readonly movedHere = new Set<string>();
  /** Ports of others that somebody deleted: one that we add in its place is not ours either. */
  readonly given = new Set<string>();
  /** How often somebody edited or deleted a port, by `<component>/<port>`. */
  readonly ports = new Map<string, number>();
  /** Components whose service somebody named, through any of their ports. */
  readonly named = new Set<string>();

  /**
   * The number of components tells of an install that the platform did and refused. A component that is deleted or moved
   * in the same minute hides it from everybody, so one schedule has only one of the two.
   */
  isCounted = false;

  /** From now on the number must tell; false: somebody has deleted or moved a component, and it cannot. */
  counts(): boolean {
    this.isCounted ||= this.components.size + this.movedMs.size === 0;
    return this.isCounted;
  }

  editsPort({ serviceId, port }: { readonly serviceId: string; readonly port: number }): void {
    const place = `${serviceId}/${port}`;
    this.ports.set(place, (this.ports.get(place) ?? 0) + 1);
  }
}

type Actor = (surroundings: Surroundings, chance: Chance) => void;

/** Operators with a console, other tools, and the cluster itself. Each does what the API or the console allows. */
const actors = {
  'edit-port'({ server, truth, byHand }, chance) {
    const port = somePort(server, chance);
    if (port === undefined) return;
    byHand.editsPort(port);
    truth.owed.delete(`${port.serviceId}/${port.port}`);
    const action = chance.pick(['open_inner', 'close_inner', 'open_outer', 'close_outer', 'change_protocol']);
    ask(server, 'PUT', addressOf(ADDRESS, undefined, ['services', port.serviceId, 'ports', String(port.port)]), {
      action,
      ...(action === 'change_protocol' ? { protocol: chance.pick(['http', 'tcp', 'grpc']) } : {}),
    });
  },
  'rename-port'({ server, byHand }, chance) {
    const port = somePort(server, chance);
    if (port === undefined) return;
    byHand.editsPort(port);
    byHand.named.add(port.serviceId);
    ask(server, 'PUT', addressOf(ADDRESS, undefined, ['services', port.serviceId, 'ports', String(port.port)]), {
      action: 'change_port_alias',
      port_alias: chance.pick(['ALPHA', 'BETA', 'GAMMA', 'OTHER']),
      k8s_service_name: chance.pick(['front', 'elsewhere']),
    });
  },
  'add-port'({ server }, chance) {
    const component = someComponent(server, chance);
    if (component === undefined) return;
    ask(server, 'POST', addressOf(ADDRESS, undefined, ['services', component.id, 'ports']), {
      port: chance.pick([8080, 8081, 9000, 9100, 7000]),
      protocol: chance.pick(['http', 'tcp']),
      port_alias: chance.pick(['EXTRA', 'ALPHA']),
      is_inner_service: chance.happens(0.5),
    });
  },
  'delete-port'({ server, byHand, truth }, chance) {
    const port = somePort(server, chance);
    if (port === undefined) return;
    byHand.editsPort(port);
    truth.owed.delete(`${port.serviceId}/${port.port}`);
    if (!truth.made.delete(`${port.serviceId}/${port.port}`)) byHand.given.add(`${port.serviceId}/${port.port}`);
    server.change((state) => {
      for (const rule of state.rules.in('port', `${port.serviceId}/${port.port}`)) {
        byHand.rules.add(placeOf(rule));
        state.rules.delete(rule.id);
      }
      state.ports.delete(`${port.serviceId}/${port.port}`);
    });
  },
  'delete-rule'({ server, byHand }, chance) {
    const rule = someRule(server, chance);
    if (rule === undefined) return;
    byHand.rules.add(placeOf(rule));
    server.change((state) => state.rules.delete(rule.id));
  },
  'edit-rule'({ server, byHand }, chance) {
    const rule = someRule(server, chance);
    if (rule === undefined) return;
    byHand.rules.add(placeOf(rule));
    server.change((state) => state.rules.put({ ...rule, weight: chance.pick([1, 100]), autoSsl: chance.happens(0.5) }));
  },
  /** In place: its id stays, its old key is free, and the new one may be that of another rule. */
  'move-rule'({ server, wishes, books, byHand }, chance) {
    const rule = someRule(server, chance);
    if (rule === undefined) return;
    const wish = wishes.rules.size === 0 ? undefined : chance.pick([...wishes.rules.values()]);
    const moved: RuleRow = {
      ...rule,
      ...chance.pick<Partial<RuleRow>>([
        { domain: 'moved.example.com' },
        { path: '/moved' },
        { domain: wish?.domain ?? 'moved.example.com', path: wish?.path ?? '/' },
        { protocol: 'https', certificateId: 7 },
        { protocol: 'http', certificateId: 0 },
      ]),
    };
    for (const place of [placeOf(rule), placeOf(moved)]) byHand.rules.add(place);
    byHand.moved.add(rule.id);
    if (![...books.objects.values()].some(({ remoteId }) => remoteId === rule.id)) byHand.movedUnseen.add(rule.id);
    server.change((state) => state.rules.put(moved));
  },
  /** With a key that a manifest has. */
  'create-rule'({ server, wishes, byHand }, chance) {
    const port = somePort(server, chance);
    if (wishes.rules.size === 0 || port === undefined) return;
    const wish = chance.pick([...wishes.rules.values()]);
    const component = wishes.components.get(wish.component)?.serviceId ?? port.serviceId;
    byHand.rules.add(placeOf({ ...wish, serviceId: component }));
    ask(server, 'POST', addressOf(ADDRESS, undefined, ['httpdomains']), {
      service_id: component,
      container_port: wish.port,
      domain_name: wish.domain,
      domain_path: wish.path,
      whether_open: true,
    });
  },
  install({ server }, chance) {
    const model = chance.pick(MODELS);
    ask(server, 'POST', addressOf(ADDRESS, undefined, ['install']), {
      market_url: 'https://store.example.com',
      market_domain: 'market-1',
      market_type: 'rainstore',
      market_access_key: new Secret(STORE_KEY, 'test'),
      app_model_id: model.id,
      app_model_version: model.versions[0],
    });
  },
  'delete-component'({ server, byHand }, chance) {
    const component = someComponent(server, chance);
    if (component === undefined || byHand.isCounted) return;
    byHand.components.add(component.id);
    server.change((state) => {
      for (const port of state.ports.in('component', component.id)) {
        for (const rule of state.rules.in('port', `${port.serviceId}/${port.port}`)) {
          byHand.rules.add(placeOf(rule));
          state.rules.delete(rule.id);
        }
        state.ports.delete(`${port.serviceId}/${port.port}`);
      }
      state.components.delete(component.id);
      forgetInstall(state, byHand, component);
    });
  },
  /** To another application; or back, because that was a mistake. */
  'move-component'({ server, byHand, timeline }, chance) {
    const moved = server.state.components.in('application', String(ELSEWHERE));
    const component = chance.happens(0.3) ? moved[0] : someComponent(server, chance);
    if (component === undefined || byHand.isCounted || byHand.installs.has(String(component.groupId))) return;
    const appId = component.appId === ELSEWHERE ? ADDRESS.appId : ELSEWHERE;
    byHand.movedMs.set(component.id, timeline.nowMs);
    if (appId === ADDRESS.appId) byHand.movedHere.add(component.id);
    server.change((state) => {
      state.components.put({ ...component, appId });
      for (const port of state.ports.in('component', component.id)) {
        for (const rule of state.rules.in('port', `${port.serviceId}/${port.port}`)) {
          byHand.rules.add(placeOf(rule));
          state.rules.put({ ...rule, appId });
        }
      }
      forgetInstall(state, byHand, component);
    });
  },
  maintenance({ server }, chance) {
    region(server, { status: chance.pick(['0', '2', '3']) });
  },
  'region-back'({ server }) {
    server.heal();
  },
  'cluster-down'({ server }) {
    region(server, { reachable: false });
  },
  'token-expires'({ server, timeline }, chance) {
    server.tokenExpiredUntilMs = timeline.nowMs + chance.pick([1_000, 30_000, 600_000]);
  },
  /** Its memory is no multiple of 32 MiB any more, or is one again: the detail of its application has fractions or not. */
  'resize-component'({ server }, chance) {
    const component = someComponent(server, chance);
    if (component === undefined) return;
    server.change((state) => state.components.put({ ...component, memoryMib: chance.pick([100, 33, 128]) }));
  },
} satisfies Record<string, Actor>;

export type ActorName = keyof typeof actors;

/** What befalls few schedules, by a chance of its own, so that the others stay what they are. */
const rare = ['resize-component', 'move-component', 'move-rule'] as const satisfies readonly ActorName[];

export const rareActors: readonly ActorName[] = rare;
export const actorNames = (Object.keys(actors) as ActorName[]).filter((name) => !rareActors.includes(name));

export function act(name: ActorName, surroundings: Surroundings, chance: Chance): void {
  (actors[name] as Actor)(surroundings, chance);
}

/** Without components nothing of an install is left, and the platform does not list it any more. */
function forgetInstall(state: SandboxState, byHand: ByHand, { groupId }: ComponentRow): void {
  const left = state.components.in('application', String(ADDRESS.appId));
  if (groupId === 0 || left.some((other) => other.groupId === groupId)) return;
  byHand.installs.add(String(groupId));
  state.installs.delete(String(groupId));
}

function region(server: Server, change: { readonly status?: string; readonly reachable?: boolean }): void {
  const row = server.state.regions.get(ADDRESS.region);
  if (row !== undefined) server.change((state) => state.regions.put({ ...row, ...change }));
}

function someComponent({ state }: Server, chance: Chance): ComponentRow | undefined {
  const rows = state.components.in('application', String(ADDRESS.appId));
  return rows.length === 0 ? undefined : chance.pick(rows);
}

function somePort({ state }: Server, chance: Chance): PortRow | undefined {
  const rows = [...state.ports.all()];
  return rows.length === 0 ? undefined : chance.pick(rows);
}

function someRule({ state }: Server, chance: Chance): RuleRow | undefined {
  const rows = [...state.rules.all()];
  return rows.length === 0 ? undefined : chance.pick(rows);
}

/** Somebody else's tool knows the whole API, whatever the dialect is that we were told. */
function ask(server: Server, method: 'POST' | 'PUT', path: string, body: WireObject): void {
  const request: PlatformRequest = { operation: 'by-hand', method, path, query: {}, body, isRead: false, timeoutMs: 0 };
  server.perform(request, 'extended');
}

/**
 * Whether the number of components alone decides an install now. Nobody can tell an install from one that somebody's
 * deletion hides at just that time: that much is not promised.
 */
export function hangsOnCount({ dialect, books }: { readonly dialect: Dialect; readonly books: Books }): boolean {
  if (dialect !== 'documented') return false;
  return [...books.intents.values()].some(
    ({ operation, state, outcome }) =>
      operation === 'install' &&
      (state === 'open' || (state === 'unknown' && JSON.stringify(outcome).includes('"refused"'))),
  );
}
