import type { JsonObject } from '../../model/json.ts';
import type { PortProtocol, PortRecord } from './wire.ts';
import type { RuleRecord } from '../http-gateway-rule/wire.ts';
import type { ResourceId } from '../../model/ids.ts';
import type { Readable } from '../../model/reading.ts';
import { type HoldProposal, type Need, plainStep, type RawChange, type StepProposal } from '../reconciled.ts';
import { closingEffects, openingEffects } from './port-rules.ts';
import type { PortSpec } from './spec.ts';
import { type ComponentStep, portExists, portInner, portKey, portOuter, portProtocol, rulesEnabled } from './steps.ts';

type Proposal = StepProposal<ComponentStep>;

/** A port as desired and as observed. Aliases and the service name belong to the component as a whole. */
interface PortCase {
  readonly serviceId: string;
  readonly spec: PortSpec;
  readonly live: PortRecord | undefined;
  readonly rules: Readable<readonly RuleRecord[]>;
  /** Natural keys of the rules that are deleted with the port. */
  readonly rulesAlong: readonly string[];
  /** Names of existing rules in the manifests that lead to the port. */
  readonly rulesWanted: readonly string[];
  /** Managed rules that are inactive and that opening the port should activate. */
  readonly rulesSilent: readonly string[];
  /** An earlier pass closed outer access temporarily and did not reopen it. */
  readonly owesOuter: boolean;
  /** The removal marks of the manifest. */
  readonly listed: JsonObject;
  /** The rule whose creation opens outer access. */
  readonly openedBy: ResourceId | undefined;
}

export interface PortDifference {
  readonly steps: readonly Proposal[];
  readonly holds: readonly HoldProposal[];
  readonly expects: readonly Omit<Need, 'met'>[];
  readonly unchangedFields: number;
}

export const stepKey = (port: number, type: string): string => `ports/${port}/${type}`;

/**
 * Returns the steps of a port in an order that a real server never refuses, wherever it is interrupted: add; close outer;
 * change protocol; open inner; open outer; close inner. Aliases are ordered across ports, between protocol and inner.
 */
export function diffPort(portCase: PortCase): PortDifference {
  return portCase.live === undefined ? addPort(portCase) : changePort(portCase, portCase.live);
}

function addPort({ serviceId, spec, openedBy, rules, listed }: PortCase): PortDifference {
  const { port, protocol } = spec;
  if (protocol === undefined) {
    return held({
      code: 'component/protocol-needed',
      message: `port ${port} does not exist and its manifest has no protocol for it`,
      remedy: `Write spec.ports[${port}].protocol: one of http, tcp, udp, grpc, mysql.`,
    });
  }
  // An absent `inner` is not managed, but a new port needs a value: closed, unless outer access needs it open.
  const inner = spec.inner ?? spec.outer === true;
  const fields: JsonObject = { protocol, ...(spec.alias === undefined ? {} : { alias: spec.alias }), inner };
  const add: Proposal = {
    ...proposal(serviceId, port),
    key: stepKey(port, 'add_port'),
    step: {
      type: 'add_port',
      serviceId,
      port,
      protocol,
      ...(spec.alias === undefined ? {} : { alias: spec.alias }),
      inner,
      listed,
    },
    verb: 'create',
    summary: `add port ${port} (${protocol}, inner ${inner ? 'open' : 'closed'})`,
    changes: Object.entries(fields).map(([field, after]) => change(port, field, undefined, after)),
    provides: [portExists(serviceId, port), ...(inner ? [portInner(serviceId, port)] : [])],
  };
  if (spec.outer !== true) return { steps: [add], holds: [], expects: [], unchangedFields: 0 };
  if (openedBy !== undefined)
    return { steps: [add], holds: [], expects: [expectation(serviceId, port, openedBy)], unchangedFields: 0 };
  const open = openOuter({ serviceId, port, protocol, rules, live: undefined, after: [add.key] });
  return { steps: [add, open], holds: [], expects: [], unchangedFields: 0 };
}

/** The result of the steps of an existing port, and the changes that it needs. */
interface PortGoal {
  readonly outer: boolean | undefined;
  readonly innerAtEnd: boolean;
  readonly protocolChanges: boolean;
  /** Outer access is closed for a change of protocol: the platform refuses the change while it is open, or breaks the port. */
  readonly closesForProtocol: boolean;
  readonly closesForGood: boolean;
  readonly opensInner: boolean;
  /** Outer access must be reopened although the manifest does not manage it. */
  readonly owes: boolean;
}

function goalOf({ spec, owesOuter }: PortCase, live: PortRecord): PortGoal {
  const owes = owesOuter && spec.outer === undefined;
  const outer = owes ? true : spec.outer;
  const protocolChanges = spec.protocol !== undefined && spec.protocol !== live.protocol;
  return {
    outer,
    innerAtEnd: spec.inner ?? live.inner,
    protocolChanges,
    closesForProtocol: protocolChanges && live.outer && outer !== false,
    closesForGood: live.outer && outer === false,
    opensInner: spec.inner === true && !live.inner,
    owes,
  };
}

function changePort(portCase: PortCase, live: PortRecord): PortDifference {
  const { serviceId, spec, openedBy } = portCase;
  const { port } = spec;
  const goal = goalOf(portCase, live);
  const hold = impossible(portCase, live, goal);
  if (hold !== undefined) return held(hold);
  const activates = !goal.protocolChanges && activatesRules(portCase, live, goal.innerAtEnd);
  const opens = goal.closesForProtocol || activates || (goal.outer === true && !live.outer);
  const steps = [
    ...(goal.closesForGood || goal.closesForProtocol ? [closeOuter(portCase, live, goal.closesForProtocol)] : []),
    ...(goal.protocolChanges && spec.protocol !== undefined
      ? [changeProtocol(portCase, live, spec.protocol, goal)]
      : []),
    ...(goal.opensInner ? [innerStep(serviceId, port, true, [])] : []),
    ...(opens && openedBy === undefined ? [reopenOuter(portCase, live, goal, activates)] : []),
    ...(spec.inner === false && live.inner
      ? [innerStep(serviceId, port, false, goal.closesForGood ? ['close_outer'] : [])]
      : []),
  ];
  const expects = opens && openedBy !== undefined ? [expectation(serviceId, port, openedBy)] : [];
  return { steps, holds: [], expects, unchangedFields: countUnchanged(spec, live) };
}

export function closeOuter(
  { serviceId, rules, rulesAlong }: Pick<PortCase, 'serviceId' | 'rules' | 'rulesAlong'>,
  live: PortRecord,
  temporary: boolean,
): Proposal {
  const { port } = live;
  return {
    ...proposal(serviceId, port),
    key: stepKey(port, 'close_outer'),
    step: { type: 'close_outer', serviceId, port, ...(temporary ? { temporary: true } : {}) },
    summary: `close outer access of port ${port}${temporary ? ' for the protocol change' : ''}`,
    changes: temporary ? [] : [change(port, 'outer', true, false)],
    effects: closingEffects(rules, serviceId, live),
    // Also for a temporary close: rules do not answer on a port whose protocol is not http any more.
    takesAlong: rulesAlong,
    ...(temporary ? { obligation: { outer: true } } : {}),
  };
}

export function innerStep(serviceId: string, port: number, opens: boolean, after: readonly string[]): Proposal {
  const type = opens ? 'open_inner' : 'close_inner';
  return {
    ...proposal(serviceId, port),
    key: stepKey(port, type),
    step: { type, serviceId, port },
    summary: `${opens ? 'open' : 'close'} inner access of port ${port}`,
    changes: [change(port, 'inner', !opens, opens)],
    effects: opens ? ["recreates the port's environment variables in the component"] : [],
    after: after.map((before) => stepKey(port, before)),
    provides: opens ? [portInner(serviceId, port)] : [],
  };
}

function reopenOuter(
  { serviceId, spec, rules }: PortCase,
  live: PortRecord,
  { closesForProtocol, opensInner, owes }: PortGoal,
  activates: boolean,
): Proposal {
  const { port, protocol = live.protocol } = spec;
  // The port is reopened whether the protocol change succeeds or not.
  const first = [...(closesForProtocol ? ['close_outer'] : []), ...(opensInner ? ['open_inner'] : [])];
  const after = first.map((type) => stepKey(port, type));
  return {
    ...openOuter({ serviceId, port, protocol, rules, live, after }),
    // It is open as desired, or only closed temporarily.
    ...(live.outer ? { ...openingAgain(serviceId, port), changes: activates ? [activation(port)] : [] } : {}),
    // Its own key, so that it does not count as a repetition of an opening in the same run.
    ...(activates ? { key: stepKey(port, 'activate_rules'), obligation: { endpoint: true } } : {}),
    ...(owes ? { cause: 'obligation' as const } : {}),
  };
}

function openingAgain(serviceId: string, port: number): Pick<Proposal, 'step' | 'summary'> {
  return {
    step: { type: 'open_outer', serviceId, port, temporary: true },
    summary: `open outer access of port ${port} again`,
  };
}

function changeProtocol(
  { serviceId, rules, owesOuter }: PortCase,
  { port, protocol: before, outer: isOpen }: PortRecord,
  protocol: PortProtocol,
  { outer, closesForGood, closesForProtocol }: PortGoal,
): Proposal {
  const isOwed = outer !== false && (isOpen || owesOuter);
  return {
    ...proposal(serviceId, port),
    key: stepKey(port, 'change_protocol'),
    step: { type: 'change_protocol', serviceId, port, protocol },
    summary: `change protocol of port ${port} from ${before} to ${protocol}`,
    changes: [change(port, 'protocol', before, protocol)],
    effects: rules.readable ? [] : ['this server cannot show whether the endpoint of the port follows the protocol'],
    obligation: { endpoint: true, ...(isOwed ? { outer: true } : {}) },
    after: closesForProtocol || closesForGood ? [stepKey(port, 'close_outer')] : [],
    provides: [portProtocol(serviceId, port)],
  };
}

/**
 * Returns whether opening an open port once more activates managed rules: a protocol that becomes http while the port is open
 * leaves them inactive. Only if the manifest manages outer access.
 */
function activatesRules({ spec, rulesSilent }: PortCase, live: PortRecord, innerAtEnd: boolean): boolean {
  return spec.outer === true && live.outer && live.protocol === 'http' && innerAtEnd && rulesSilent.length > 0;
}

/** Returns the change of inactive rules to active ones. Git cannot change that: the platform did. */
function activation(port: number): RawChange {
  return { ...change(port, 'rules', 'inactive', 'active'), identifies: true };
}

/** Returns the hold of a goal that no sequence of steps reaches without a change of an unmanaged field. */
function impossible({ spec, rulesWanted }: PortCase, live: PortRecord, goal: PortGoal): HoldProposal | undefined {
  const { port } = spec;
  const at = `spec.ports[${port}]`;
  const wanted = spec.protocol ?? live.protocol;
  if (live.protocol === 'http' && wanted !== 'http' && rulesWanted.length > 0) {
    return {
      code: 'component/protocol-in-use',
      message: `Port ${port} should change from http to ${wanted}, but ${rulesWanted.join(' and ')} in the manifests ${rulesWanted.length === 1 ? 'leads' : 'lead'} to it. Closing the port for the change would disable ${rulesWanted.length === 1 ? 'the rule, and opening a' : 'the rules, and opening a'} ${wanted} port enables no rule.`,
      remedy: `Remove ${rulesWanted.length === 1 ? 'the rule' : 'the rules'} from the manifests first, or write protocol: http in ${at}.`,
      changes: [change(port, 'protocol', live.protocol, wanted)],
    };
  }
  if (spec.inner === false && goal.outer === undefined && live.outer) {
    return {
      code: 'component/outer-unmanaged',
      message: `port ${port} should have inner access closed, but its outer access is open and not managed; outer access must be closed first`,
      remedy: `Write outer: false in ${at} to close both, or remove inner: false.`,
      changes: [change(port, 'inner', live.inner, false)],
    };
  }
  if (spec.inner === false && goal.outer === true) {
    return {
      code: 'component/outer-owed',
      message: `port ${port} should have inner access closed, but an earlier run closed its outer access temporarily and it will be reopened`,
      remedy: `Write outer: false in ${at} to leave it closed, or remove inner: false so that it can be reopened.`,
      changes: [change(port, 'inner', live.inner, false)],
    };
  }
  const mustOpen = goal.outer === true && !live.outer;
  if ((mustOpen || goal.closesForProtocol) && !goal.innerAtEnd) {
    return {
      code: 'component/inner-unmanaged',
      message: mustOpen
        ? `port ${port} should have outer access open, but its inner access is closed and not managed; inner access must be opened first`
        : `port ${port} has outer access open and inner access closed; a change of protocol closes outer access temporarily, and it could not be reopened`,
      remedy: `Write inner: true in ${at}.`,
      changes: mustOpen
        ? [change(port, 'outer', false, true)]
        : [change(port, 'protocol', live.protocol, spec.protocol ?? live.protocol)],
    };
  }
  return undefined;
}

function openOuter(port: {
  readonly serviceId: string;
  readonly port: number;
  readonly protocol: string;
  readonly rules: Readable<readonly RuleRecord[]>;
  /** The port before the steps of this plan; undefined: the plan adds it. */
  readonly live: PortRecord | undefined;
  readonly after: readonly string[];
}): Proposal {
  return {
    ...proposal(port.serviceId, port.port),
    key: stepKey(port.port, 'open_outer'),
    step: { type: 'open_outer', serviceId: port.serviceId, port: port.port },
    summary: `open outer access of port ${port.port}`,
    changes: [change(port.port, 'outer', false, true)],
    effects: openingEffects(port),
    after: port.after,
    provides: [
      portOuter(port.serviceId, port.port),
      ...(port.protocol === 'http' ? [rulesEnabled(port.serviceId, port.port)] : []),
    ],
  };
}

/** Returns the step that reopens an unlisted port, which an earlier run closed temporarily. */
export function reopening(serviceId: string, live: PortRecord, rules: Readable<readonly RuleRecord[]>): Proposal {
  const { port, protocol } = live;
  return {
    ...openOuter({ serviceId, port, protocol, rules, live, after: [] }),
    ...openingAgain(serviceId, port),
    cause: 'obligation',
  };
}

function expectation(serviceId: string, port: number, rule: ResourceId): Omit<Need, 'met'> {
  return {
    condition: portOuter(serviceId, port),
    otherwise: {
      code: 'component/opening-rule-held',
      message: `outer access of port ${port} stays closed: the creation of ${rule} should open it and is not in this plan`,
      remedy: `Resolve ${rule} first (add it to --target if that excludes it), or remove it from the source so that the port is opened separately.`,
    },
  };
}

/** The fields of a port that a manifest may manage. */
export const MANAGED = ['protocol', 'alias', 'inner', 'outer'] as const satisfies readonly (keyof PortSpec &
  keyof PortRecord)[];

export function isAs(wanted: PortSpec, live: PortRecord): boolean {
  return MANAGED.every((field) => (wanted[field] ?? live[field]) === live[field]);
}

/** Returns the number of managed fields that match the manifest. */
function countUnchanged(wanted: PortSpec, live: PortRecord): number {
  return MANAGED.filter((field) => wanted[field] === live[field]).length;
}

function held(hold: HoldProposal): PortDifference {
  return { steps: [], holds: [hold], expects: [], unchangedFields: 0 };
}

/** Returns the members that all steps of a port share. */
export function proposal(serviceId: string, port: number) {
  return { ...plainStep, verb: 'update', object: portKey(serviceId, port) } as const;
}

export function change(port: number, field: string, before: RawChange['before'], after: RawChange['after']): RawChange {
  return {
    field,
    path: `ports[${port}].${field}`,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}
