import type { JsonObject } from '../../model/json.ts';
import type { PortRecord } from './wire.ts';
import type { RuleRecord } from '../http-gateway-rule/wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Note } from '../../model/plan.ts';
import { type HoldProposal, type Need, ledgerRecordOf } from '../reconciled.ts';
import type { ComponentProposal, ObservedContext } from './live.ts';
import { wasMissing } from './missing.ts';
import { mayBeOurs } from './sent.ts';
import { manifestsOf, rulesOf, rulesOnRecord } from './port-rules.ts';
import { isAs, MANAGED } from './port-diff.ts';
import type { PortSpec } from './spec.ts';
import { portKey, ruleGone } from './steps.ts';
import { removalSteps } from './unlisted.ts';

/** The decisions about ports that were removed from their manifest. */
interface Departures {
  /** The ports. `unlistedPorts` does not apply to them, only to unmanaged ports. */
  readonly ports: Set<number>;
  /** Former values to restore, compared like those of listed ports, with the conditions for closing a port. */
  readonly restored: { readonly spec: PortSpec; readonly needs: readonly Need[] }[];
  readonly steps: ComponentProposal[];
  readonly holds: HoldProposal[];
  readonly notes: Omit<Note, 'resource'>[];
  /** Natural keys of rows that are removed from the ledger. */
  readonly forget: string[];
}

/** Returns the removal marks for a port: from its manifest, or from the ledger if the manifest is gone. */
export type Marks = (row: OwnedObject) => JsonObject;

/**
 * Returns whether the ledger records that a manifest listed the port. Ports on record from before Portolan recorded that are
 * left unchanged.
 */
function wasListed(row: OwnedObject): boolean {
  return row.remoteAux['listed'] !== undefined && row.state !== 'gone';
}

/**
 * Decides about managed ports without an entry. A port that Portolan created is deleted by the rules of pruning; an older port
 * gets its former values back if its manifest says `portolan/on-removal: restore`.
 */
export function departures(context: ObservedContext, marks: Marks): Departures {
  const observed = context.live;
  const draft: Departures = { ports: new Set(), restored: [], steps: [], holds: [], notes: [], forget: [] };
  const listed = new Set(context.resource.spec.ports.map(({ port }) => port));
  // Most components have no such port.
  if (!context.ledgerView.objects.some((row) => row.kind === 'Component' && wasListed(row))) return draft;
  for (const live of observed.ports) {
    const row = ledgerRecordOf(context.ledgerView, 'Component', portKey(observed.serviceId, live.port));
    if (listed.has(live.port) || row === undefined || row.source !== context.source || !wasListed(row)) continue;
    const { onRemoval } = marks(row);
    // Without a listing of rules only `unlistedPorts` applies.
    if (!observed.rules.readable && context.resource.spec.unlistedPorts !== 'keep') continue;
    if (row.origin === 'created') remove({ context, live, row, marks: marks(row), draft });
    else if (onRemoval === 'restore' && context.resource.spec.unlistedPorts === 'keep')
      restore({ context, live, row, marks: marks(row), draft });
  }
  return draft;
}

interface Departure {
  readonly context: ObservedContext;
  readonly live: PortRecord;
  readonly row: OwnedObject;
  readonly marks: JsonObject;
  readonly draft: Departures;
}

function remove(departure: Departure): void {
  const { context, live, draft } = departure;
  const { port } = live;
  const gone = `port ${port}, which Portolan created, was removed from its manifest`;
  draft.ports.add(port);
  const byHand = `If nothing needs it, delete port ${port} in the console`;
  if (isStopped(departure, { gone, deed: 'delete it', byHand, closes: true })) return;
  if (!context.live.canDeletePorts) {
    draft.notes.push({
      code: 'prune/impossible',
      message: `${gone}; this server cannot delete ports, so it stays as it is`,
    });
    return;
  }
  const [first, ...rest] = removalSteps(context, live, true);
  if (first !== undefined) draft.steps.push({ ...first, needs: closingNeeds(departure) }, ...rest);
}

function restore(departure: Departure): void {
  const { live, row, draft } = departure;
  const { port } = live;
  const spec = formerSpec(row, port);
  draft.ports.add(port);
  const isPaid = row.obligation?.['outer'] !== true || live.outer;
  if (isPaid && isAs(spec, live)) {
    draft.notes.push({
      code: 'component/restored',
      message: `port ${port} was removed from its manifest and has its former values again`,
    });
    draft.forget.push(row.naturalKey);
    return;
  }
  const closes = spec.outer === false && live.outer;
  const { port: _port, ...values } = spec;
  const shown = Object.entries(values).map(([field, value]) => `${field} ${String(value)}`);
  const gone = `port ${port} was removed from its manifest`;
  const deed = `give it back its former values (${shown.join(', ')})`;
  const byHand = `If it is the same port, ${deed} in the console`;
  if (isStopped(departure, { gone, deed, byHand, closes })) return;
  draft.restored.push({ spec, needs: closes ? closingNeeds(departure) : [] });
}

interface Removal {
  /** The first words of messages: the port and its manifest. */
  readonly gone: string;
  /** The change that is due, in words. */
  readonly deed: string;
  /** The same change, made by a person. */
  readonly byHand: string;
  /** Whether nothing reaches the port afterwards. */
  readonly closes: boolean;
}

/** Returns whether the port stays as it is in this plan, and adds the reason as a note or a hold. */
function isStopped(departure: Departure, { gone, deed, byHand, closes }: Removal): boolean {
  const { context, live, row, marks, draft } = departure;
  const note = (code: string, message: string): true => {
    draft.notes.push({ code, message: `${gone}; ${message}` });
    return true;
  };
  if (marks['prune'] === 'keep') return note('prune/kept', 'it stays, because its manifest said portolan/prune: keep');
  if (closes && !context.live.rules.readable) {
    return note(
      'prune/impossible',
      `this server does not list rules, so nothing is closed or deleted (to let go of the port: portolan ledger forget ${row.uid} --reason "…")`,
    );
  }
  const wanted = closes ? manifestsOf(context.resource.name, context.siblings, live.port).map(({ id }) => id) : [];
  if (wanted.length > 0) {
    draft.holds.push({
      code: 'prune/port-wanted',
      message: `${gone}, and ${wanted.join(', ')} still ${wanted.length === 1 ? 'leads' : 'lead'} to it`,
      remedy: `List port ${live.port} again, or take ${wanted.join(', ')} out of the source.`,
    });
    return true;
  }
  if (!context.permissions.prune) return note('prune/not-asked', `it stays as it is, and apply --prune would ${deed}`);
  if (!wasMissing(row)) return false;
  draft.holds.push({
    code: 'prune/port-unproven',
    message: `${gone}; then the platform did not list it for some time, so the port that is listed now may be another one, and it stays as it is`,
    remedy: `${byHand}, or list it in the manifest and remove it again. To keep it, run \`portolan ledger forget ${row.uid} --reason "…"\`.`,
  });
  return true;
}

/**
 * Returns a need for each rule on the port, active or inactive. Each must be deleted first, because its own manifest was
 * removed: the platform deletes all rules together with their port.
 */
function closingNeeds({ context, live, row }: Departure): Need[] {
  const { serviceId, rules } = context.live;
  const present = rulesOf(rules, serviceId, live.port);
  // A recorded rule that is not listed counts if it has an id or is to be created again.
  const prefix = `rule/${serviceId}/${live.port}/`;
  const owed = context.ledgerView.objects.filter(
    ({ kind, naturalKey, obligation }) =>
      kind === 'HttpGatewayRule' && naturalKey.startsWith(prefix) && obligation !== null,
  );
  const known = new Set([...rulesOnRecord(context.ledgerView, serviceId, live.port), ...owed]);
  const unseen = [...known].filter(
    ({ remoteId, obligation }) =>
      (remoteId !== null || obligation !== null) && !present.some(({ ruleId }) => ruleId === remoteId),
  );
  return [
    ...present
      .filter((rule) => !isOwnDefault(rule, row))
      .map((rule) => ({ id: rule.ruleId, name: `${rule.domain}${rule.path || '/'}` })),
    ...unseen.map(({ remoteId, naturalKey }) => ({
      id: remoteId ?? '',
      name: naturalKey.split('/').slice(3).join('/'),
    })),
  ].map(({ id, name }) => ({
    condition: ruleGone(id),
    met: false,
    otherwise: {
      code: 'prune/rule-on-port',
      message: `port ${live.port} was removed from its manifest; it is not closed or deleted, because rule ${name} (${id}) is on it and this plan does not delete that rule`,
      remedy: `Delete the rule if it is not needed, or list port ${live.port} again.`,
    },
  }));
}

/** Returns whether a rule is the default rule that the platform created for this managed port, and is unedited. */
function isOwnDefault({ type, path, domain, componentAlias, port }: RuleRecord, row: OwnedObject): boolean {
  const isDefault = type === 0 && path === '' && row.remoteAux['opened'] === true;
  return isDefault && (componentAlias === null || domain.startsWith(`${componentAlias}-${port}-`));
}

/** Returns the values before Portolan first changed the port, for the fields that its manifests managed. */
function formerSpec(row: OwnedObject, port: number): PortSpec {
  const former = (row.remoteAux['former'] ?? {}) as JsonObject;
  const has = (field: string): boolean => mayBeOurs(row, field) && former[field] !== undefined;
  const fields = MANAGED.flatMap((field) => (has(field) ? [[field, former[field]] as const] : []));
  return { port, ...Object.fromEntries(fields) };
}
