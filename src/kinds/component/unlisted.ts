import type { JsonObject } from '../../model/json.ts';
import type { PortRecord } from './wire.ts';
import { nameOfKey } from '../http-gateway-rule/asserted.ts';
import { type Difference, holding, type HoldProposal, noDifference, noting, ledgerRecordOf } from '../reconciled.ts';
import type { ComponentContext, ComponentProposal, ObservedContext } from './live.ts';
import { restoration } from './owed.ts';
import { change, closeOuter, innerStep, proposal, stepKey } from './port-diff.ts';
import { ruleEffect, rulesAlong, rulesOf, rulesOnRecord } from './port-rules.ts';
import { componentKey, type ComponentStep, portKey } from './steps.ts';

type Unlisted = Pick<Difference<ComponentStep>, 'steps' | 'holds' | 'notes'>;

/**
 * Returns the steps for unlisted, unmanaged ports: they are kept, closed or deleted by the rules of pruning.
 * @param departed ports that were removed from the manifest, which are decided elsewhere.
 */
export function unlistedPorts(
  context: ObservedContext,
  departed: ReadonlySet<number>,
): Unlisted & { readonly owing: readonly string[] } {
  const { live: observed, resource } = context;
  const { spec } = resource;
  const listed = new Set(spec.ports.map((port) => port.port));
  const extra = observed.ports.filter((port) => !listed.has(port.port) && !departed.has(port.port));
  if (spec.unlistedPorts !== 'keep') return { ...removedPorts(context, extra, spec.unlistedPorts), owing: [] };
  const owed = extra.flatMap((live) => {
    const object = ledgerRecordOf(context.ledgerView, 'Component', portKey(observed.serviceId, live.port));
    const restored = restoration(object, observed.serviceId, live, observed.rules);
    return restored === undefined || object === undefined ? [] : [{ ...restored, key: object.naturalKey }];
  });
  return {
    steps: owed.flatMap(({ steps }) => steps),
    holds: owed.flatMap(({ holds }) => holds),
    notes: [],
    owing: owed.map(({ key }) => key),
  };
}

function removedPorts(context: ObservedContext, extra: readonly PortRecord[], wanted: 'close' | 'delete'): Unlisted {
  const observed = context.live;
  const deletes = wanted === 'delete';
  const concerned = extra.filter((port) => deletes || port.outer || port.inner);
  if (concerned.length === 0) return noDifference;
  const what = `unlisted ports ${concerned.map((port) => port.port).join(', ')} (unlistedPorts: ${wanted})`;
  if (context.resource.annotations['portolan/prune'] === 'keep')
    return noting('prune/kept', `${what} are kept, because the manifest is annotated portolan/prune: keep`);
  if (!context.permissions.prune)
    return noting('prune/not-asked', `${what} are left as they are; apply --prune would ${wanted} them`);
  if (ledgerRecordOf(context.ledgerView, 'Component', componentKey(observed.serviceId)) === undefined)
    return holding({
      code: 'prune/first-seen',
      message: `${what} are left as they are: the ledger has no record of this component yet`,
      remedy: 'Check them, then run the same command again. This run records the component.',
    });
  if (deletes && !observed.canDeletePorts)
    return holding({
      code: 'component/cannot-delete',
      message: `${what} cannot be deleted: this server does not offer it`,
      remedy: 'Write unlistedPorts: close, or delete them in the console.',
    });
  const kept = new Map(
    concerned.map(({ port }) => [port, deletes ? keptRules(context, observed.serviceId, port) : []] as const),
  );
  return {
    ...noDifference,
    steps: concerned.flatMap((live) => (kept.get(live.port)?.length === 0 ? removalSteps(context, live, deletes) : [])),
    holds: [...kept].flatMap(([port, rules]) => (rules.length === 0 ? [] : [keptHold(port, rules)])),
  };
}

/** Returns the rules of a port that must be kept, so that the port may not be deleted. */
function keptRules({ ledgerView }: ComponentContext, serviceId: string, port: number): string[] {
  return rulesOnRecord(ledgerView, serviceId, port)
    .filter(({ remoteAux }) => remoteAux['prune'] === 'keep')
    .map(({ naturalKey }) => nameOfKey(naturalKey))
    .sort();
}

function keptHold(port: number, kept: readonly string[]): HoldProposal {
  return {
    code: 'prune/rule-kept',
    message: `unlisted port ${port} is not deleted: that would also delete ${kept.join(', ')}, whose manifest said portolan/prune: keep`,
    remedy: `List port ${port} in the manifest, write unlistedPorts: close, or delete the rule in the console first.`,
  };
}

/** Returns the steps that close a port, and delete it if `deletes`, in the only order that the platform accepts. */
export function removalSteps(
  { ledgerView, live: { serviceId, rules } }: ObservedContext,
  live: PortRecord,
  deletes: boolean,
): ComponentProposal[] {
  const steps: ComponentProposal[] = [];
  const { port } = live;
  const takesAlong = rulesAlong(rules, ledgerView, serviceId, port);
  if (live.outer) {
    steps.push({
      ...closeOuter({ serviceId, rules, rulesAlong: takesAlong }, live, false),
      summary: `close outer access of unlisted port ${port}`,
      prune: true,
    });
  }
  if (live.inner) {
    steps.push({
      ...innerStep(serviceId, port, false, live.outer ? ['close_outer'] : []),
      summary: `close inner access of unlisted port ${port}`,
      prune: true,
    });
  }
  if (deletes) {
    const former: JsonObject = { protocol: live.protocol, alias: live.alias };
    steps.push({
      ...proposal(serviceId, port),
      prune: true,
      verb: 'delete',
      key: stepKey(port, 'delete_port'),
      step: { type: 'delete_port', serviceId, port },
      summary: `delete unlisted port ${port}`,
      changes: Object.entries(former).map(([field, before]) => change(port, field, before, undefined)),
      effects: ruleEffect(rulesOf(rules, serviceId, port), 'deletes'),
      takesAlong,
      after: steps.map((step) => step.key),
    });
  }
  return steps;
}
