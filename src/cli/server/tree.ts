import type { KindView, ReconciledKinds } from '../../kinds/define.ts';
import { where } from '../../kinds/http-gateway-rule/asserted.ts';
import { addressOf } from '../../kinds/http-gateway-rule/steps.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { ApplicationStatus, ResourceStatus } from '../../model/status.ts';
import type { Surroundings } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import type { Remedy } from '../commands/status/standing.ts';
import type { Forest, TreeNode, TreeState } from '../commands/tree/node.ts';
import { byName, byNumber, hasPlace, portFacts } from '../commands/tree/parts.ts';
import { ServerRefusal } from './answers.ts';
import { openServer, type ServerClient } from './client.ts';
import type { ServerFlags } from './options.ts';

/** What a controller knows of its applications: conditions of their resources, and ports and rules from its ledger. */
export async function forestOfServer(
  name: string | undefined,
  options: ServerFlags,
  surroundings: Surroundings,
): Promise<{ readonly forest: Forest; readonly exitCode: ExitCode }> {
  const server = openServer(options, surroundings);
  const names: string[] = name === undefined ? [] : [name];
  if (name === undefined)
    for await (const one of server.list('applications')) names.push((one as { id: string }).id.replace(/^[^/]*\//, ''));
  const applications: TreeNode[] = [];
  const notes: Remedy[] = [];
  let revision: string | null = null;
  for (const one of names) {
    const path = `applications/${encodeURIComponent(one)}`;
    const status = (await server.get(path, 'conditions')) as ApplicationStatus;
    const objects = await objectsOf(server, path, notes, status.id);
    revision ??= status.lastAppliedRevision;
    applications.push(treeOf(await surroundings.kinds.reconciled(), status, objects));
  }
  const isHeld = applications.some(function held({ state, children }): boolean {
    return state === 'held' || state === 'not-ours' || children.some(held);
  });
  return { forest: { revision, applications, notes }, exitCode: isHeld ? EXIT.held : EXIT.ok };
}

/** Ports and rules stand in the ledger, which only operators may read. */
async function objectsOf(
  server: ServerClient,
  path: string,
  notes: Remedy[],
  about: string,
): Promise<readonly OwnedObject[]> {
  const objects: OwnedObject[] = [];
  try {
    for await (const one of server.list(`${path}/objects`)) objects.push(one as OwnedObject);
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.code !== 'server/wrong-role') throw error;
    notes.push({ about, why: '', what: `ports are not shown: ${error.message} ${error.remedy}` });
  }
  return objects.filter(({ state }) => state !== 'gone');
}

/** Of a rule on record: `rule/<component>/<port>/<protocol>://<domain><path>`. */
interface PlacedRule {
  readonly serviceId: string;
  readonly port: number;
  readonly address: string;
}

function placeOf(naturalKey: string): PlacedRule | undefined {
  const address = addressOf(naturalKey);
  if (address === undefined) return undefined;
  return { serviceId: address.serviceId, port: address.port, address: where(address) };
}

function treeOf(kinds: ReconciledKinds, status: ApplicationStatus, objects: readonly OwnedObject[]): TreeNode {
  const viewOf = (id: string): KindView | undefined => kinds.get(id.slice(0, id.indexOf('/')))?.view;
  const ofKind = (noun: string): ResourceStatus[] => status.resources.filter(({ id }) => viewOf(id)?.noun === noun);
  const rules = ofKind('rule').map((rule) => {
    const object = objects.find(({ resource }) => resource === rule.id);
    const place = placeOf(object?.naturalKey ?? '');
    return { place, node: nodeOf('rule', rule, place?.address ?? '') };
  });
  const components = ofKind('component').map((component) => {
    const serviceId = objects.find(
      ({ resource, naturalKey }) => resource === component.id && naturalKey.startsWith('component/'),
    )?.remoteId;
    const mine = rules.filter(({ place }) => place !== undefined && place.serviceId === serviceId);
    const ports = portsOf(component, status, objects, mine);
    return { serviceId, node: { ...nodeOf('component', component, serviceId ?? ''), children: byNumber(ports) } };
  });
  const known = new Set(components.flatMap(({ serviceId }) => (serviceId == null ? [] : [serviceId])));
  const installs = ofKind('install').map((install) => {
    const made = componentsMade(objects.find(({ resource }) => resource === install.id));
    const mine = components.filter(({ serviceId }) => made.has(serviceId ?? ''));
    return { made, node: { ...nodeOf('install', install, ''), children: byName(mine.map(({ node }) => node)) } };
  });
  const loose = components.filter(({ serviceId }) => !installs.some(({ made }) => made.has(serviceId ?? '')));
  // What is not on record, because it is held or was never applied, has no place yet.
  const stray = rules.filter(({ place }) => place === undefined || !known.has(place.serviceId));
  const others = status.resources.flatMap((resource) => {
    const view = viewOf(resource.id);
    return view === undefined || hasPlace(view) ? [] : [{ node: nodeOf(view.noun, resource, '') }];
  });
  return {
    type: 'application',
    name: status.id,
    facts: status.scope ?? '',
    state: applicationState(status),
    reason: status.lastError?.message ?? '',
    children: [installs, loose, stray, others].flatMap((nodes) => byName(nodes.map(({ node }) => node))),
  };
}

function componentsMade(install: OwnedObject | undefined): ReadonlySet<string> {
  const made = (install?.remoteAux['components'] ?? []) as readonly { readonly serviceId: string }[];
  return new Set(made.map(({ serviceId }) => serviceId));
}

function portsOf(
  component: ResourceStatus,
  { pending }: ApplicationStatus,
  objects: readonly OwnedObject[],
  rules: readonly { readonly place: PlacedRule | undefined; readonly node: TreeNode }[],
): ReadonlyMap<number, TreeNode> {
  const whole = stateOf(component);
  const ports = new Map<number, TreeNode>();
  const add = (port: number, facts: string): void => {
    const path = `ports[${port}]`;
    const actions = (pending?.actions ?? []).filter(
      ({ id, resource }) => resource === component.id && id.includes(`#ports/${port}/`),
    );
    const isOwn =
      actions.length > 0 ||
      [component.drift, ...component.holds].some((one) => one?.changes.some((change) => change.path.startsWith(path)));
    // The controller tells how the component stands; what is not named of it is as it should be.
    const isSound = !isOwn && ['drifted', 'to-change', 'held', 'reported'].includes(whole);
    ports.set(port, {
      type: 'port',
      name: `port ${port}`,
      facts,
      state: isSound ? 'in-sync' : whole,
      reason: actions.map(({ summary }) => summary).join('; '),
      children: byName(rules.filter(({ place }) => place?.port === port).map(({ node }) => node)),
    });
  };
  for (const { resource, naturalKey, lastApplied } of objects) {
    const port = /^port\/[^/]+\/(\d+)$/.exec(naturalKey)?.[1];
    if (resource === component.id && port !== undefined) add(Number(port), portFacts(lastApplied));
  }
  for (const { place } of rules) if (place !== undefined && !ports.has(place.port)) add(place.port, '');
  return ports;
}

function nodeOf(type: TreeNode['type'], resource: ResourceStatus, facts: string): TreeNode {
  const ready = resource.conditions.find((condition) => condition.type === 'Ready');
  const state = stateOf(resource);
  const reason = state === 'in-sync' ? '' : (resource.holds[0]?.message ?? ready?.message ?? '');
  return { type, name: resource.id, facts, state, reason, children: [] };
}

function stateOf({ mode, holds, drift, conditions }: ResourceStatus): TreeState {
  if (mode === 'suspend') return 'suspended';
  if (holds.length > 0) return holds.some(({ code }) => code.endsWith('/not-ours')) ? 'not-ours' : 'held';
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.status === 'Unknown') return 'unknown';
  if (ready.status === 'True') return 'in-sync';
  if (drift !== null) return mode === 'report' ? 'reported' : 'drifted';
  return ready.reason === 'Waiting' ? 'waiting' : 'to-change';
}

function applicationState({ pause, approval, conditions, lastError }: ApplicationStatus): TreeState {
  if (pause?.type === 'suspended') return 'suspended';
  if (approval !== null) return 'held';
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.status === 'Unknown' || lastError !== null) return 'unknown';
  if (ready.status === 'True') return 'in-sync';
  return ready.reason === 'Held' ? 'held' : ready.reason === 'Waiting' ? 'waiting' : 'to-change';
}
