import type { JsonObject } from '../../model/json.ts';
import type { PortRecord } from '../../model/observed.ts';
import type { Note } from '../../model/plan.ts';
import { nameOfKey } from '../http-gateway-rule/asserted.ts';
import { type HoldProposal, remembered } from '../reconciled.ts';
import type { ComponentContext, ComponentProposal, ObservedComponent } from './live.ts';
import { restoration } from './owed.ts';
import { change, proposal, stepKey } from './port-diff.ts';
import { closingEffects, ruleEffect, rulesAlong, rulesOf, rulesOnRecord } from './port-rules.ts';
import { componentKey, portKey } from './steps.ts';

/**
 * Ports of others that the manifest does not list: kept, or closed or deleted by the rules of pruning.
 * @param departed ports whose removal is decided by what their manifest said.
 */
export function unlistedPorts(context: ComponentContext, observed: ObservedComponent, departed: ReadonlySet<number>) {
  const { spec, annotations } = context.resource;
  const steps: ComponentProposal[] = [];
  const holds: HoldProposal[] = [];
  const notes: Omit<Note, 'resource'>[] = [];
  const listed = new Set(spec.ports.map((port) => port.port));
  const extra = observed.ports.filter((port) => !listed.has(port.port) && !departed.has(port.port));
  const owing: string[] = [];
  const wanted = spec.unlistedPorts;
  for (const port of wanted === 'keep' ? extra : []) {
    const object = remembered(context.memory, 'Component', portKey(observed.serviceId, port.port));
    const owed = restoration(object, observed.serviceId, port, observed.rules);
    if (owed !== undefined && object !== undefined) owing.push(object.naturalKey);
    steps.push(...(owed?.steps ?? []));
    holds.push(...(owed?.holds ?? []));
  }
  const concerned = wanted === 'keep' ? [] : extra.filter((port) => wanted === 'delete' || port.outer || port.inner);
  if (concerned.length === 0) return { steps, holds, notes, owing };
  const what = `${concerned.map((port) => port.port).join(', ')} (unlistedPorts: ${wanted})`;
  if (annotations['portolan/prune'] === 'keep') {
    notes.push({
      code: 'prune/kept',
      message: `unlisted ports ${what} are kept, because the manifest is annotated portolan/prune: keep`,
    });
    return { steps, holds, notes, owing };
  }
  if (!context.permissions.prune) {
    notes.push({
      code: 'prune/not-asked',
      message: `unlisted ports ${what} are left as they are; apply --prune would ${wanted} them`,
    });
    return { steps, holds, notes, owing };
  }
  if (remembered(context.memory, 'Component', componentKey(observed.serviceId)) === undefined) {
    holds.push({
      code: 'prune/first-seen',
      message: `unlisted ports ${what} are left as they are: the ledger has no record of this component yet`,
      remedy: 'Look at them, then run the same command again; the component is on record after this run.',
    });
    return { steps, holds, notes, owing };
  }
  if (wanted === 'delete' && !observed.canDeletePorts) {
    holds.push({
      code: 'component/cannot-delete',
      message: `unlisted ports ${what} cannot be deleted: this server does not offer it`,
      remedy: 'Write unlistedPorts: close, or delete them in the console.',
    });
    return { steps, holds, notes, owing };
  }
  for (const port of concerned) {
    const kept = wanted === 'delete' ? keptRules(context, observed.serviceId, port.port) : [];
    if (kept.length === 0) steps.push(...removalSteps(context, observed, port, wanted === 'delete'));
    else holds.push(keptHold(port.port, kept));
  }
  return { steps, holds, notes, owing };
}

/** Rules of a port whose manifests said that they stay: deleting the port would take them along. */
function keptRules({ memory }: ComponentContext, serviceId: string, port: number): string[] {
  return rulesOnRecord(memory, serviceId, port)
    .filter(({ remoteAux }) => remoteAux['prune'] === 'keep')
    .map(({ naturalKey }) => nameOfKey(naturalKey))
    .sort();
}

function keptHold(port: number, kept: readonly string[]): HoldProposal {
  return {
    code: 'prune/rule-kept',
    message: `unlisted port ${port} is not deleted: it would take ${kept.join(', ')} along, whose manifest said portolan/prune: keep`,
    remedy: `List port ${port} in the manifest, write unlistedPorts: close, or delete the rule in the console first.`,
  };
}

/** Closes a port, and deletes it where that is asked for, in the one order that the platform accepts. */
export function removalSteps(
  { memory }: ComponentContext,
  { serviceId, rules }: ObservedComponent,
  live: PortRecord,
  deletes: boolean,
): ComponentProposal[] {
  const steps: ComponentProposal[] = [];
  const { port } = live;
  const takesAlong = rulesAlong(rules, memory, serviceId, port);
  const base = { ...proposal(serviceId, port), prune: true } as const;
  if (live.outer) {
    steps.push({
      ...base,
      key: stepKey(port, 'close_outer'),
      step: { type: 'close_outer', serviceId, port },
      summary: `close outer access of unlisted port ${port}`,
      changes: [change(port, 'outer', true, false)],
      effects: closingEffects(rules, serviceId, live),
      takesAlong,
    });
  }
  if (live.inner) {
    steps.push({
      ...base,
      key: stepKey(port, 'close_inner'),
      step: { type: 'close_inner', serviceId, port },
      summary: `close inner access of unlisted port ${port}`,
      changes: [change(port, 'inner', true, false)],
      after: steps.map((step) => step.key),
    });
  }
  if (deletes) {
    const former: JsonObject = { protocol: live.protocol, alias: live.alias };
    steps.push({
      ...base,
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
