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

/** One port as wanted and as found. Aliases and the service name belong to the component as a whole. */
interface PortCase {
  readonly serviceId: string;
  readonly spec: PortSpec;
  readonly live: PortRecord | undefined;
  readonly rules: Readable<readonly RuleRecord[]>;
  /** Natural keys of the rules that go with the port. */
  readonly rulesAlong: readonly string[];
  /** Rules in the manifests that lead to the port and exist there, as a person names them. */
  readonly rulesWanted: readonly string[];
  /** Rules of ours that the platform shows as inactive, and that opening the port is to activate. */
  readonly rulesSilent: readonly string[];
  /** A former pass closed outer for a moment and has not opened it again. */
  readonly owesOuter: boolean;
  /** What the manifest says about removal. */
  readonly listed: JsonObject;
  /** The rule that will open outer access by being created. */
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
 * The order that a real server never refuses, in any prefix: add; close outer; change protocol; open inner; open
 * outer; close inner last. (Aliases are ordered across ports, between protocol and inner.)
 */
export function diffPort(portCase: PortCase): PortDifference {
  return portCase.live === undefined ? addPort(portCase) : changePort(portCase, portCase.live);
}

function addPort({ serviceId, spec, openedBy, rules, listed }: PortCase): PortDifference {
  const { port, protocol } = spec;
  if (protocol === undefined) {
    return held({
      code: 'component/protocol-needed',
      message: `port ${port} does not exist and its manifest does not say which protocol it shall have`,
      remedy: `Write spec.ports[${port}].protocol: one of http, tcp, udp, grpc, mysql.`,
    });
  }
  // An absent `inner` is not managed, but a new port must be born with some value: closed, unless outer needs it open.
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

/** What the steps of a port that exists lead to, and what they do on the way. */
interface PortGoal {
  readonly outer: boolean | undefined;
  readonly innerAtEnd: boolean;
  readonly protocolChanges: boolean;
  /** The platform refuses a change away from http while outer is open, and leaves a broken port behind after one to http. */
  readonly closesForProtocol: boolean;
  readonly closesForGood: boolean;
  readonly opensInner: boolean;
  /** What is owed, and not managed by the manifest. */
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

function closeOuter({ serviceId, rules, rulesAlong }: PortCase, live: PortRecord, temporary: boolean): Proposal {
  const { port } = live;
  return {
    ...proposal(serviceId, port),
    key: stepKey(port, 'close_outer'),
    step: { type: 'close_outer', serviceId, port, ...(temporary ? { temporary: true } : {}) },
    summary: `close outer access of port ${port}${temporary ? ' for the protocol change' : ''}`,
    changes: temporary ? [] : [change(port, 'outer', true, false)],
    effects: closingEffects(rules, serviceId, live),
    // For a moment too: it is opened again, but rules do not answer on a port that is not http any more.
    takesAlong: rulesAlong,
    ...(temporary ? { obligation: { outer: true } } : {}),
  };
}

function innerStep(serviceId: string, port: number, opens: boolean, after: readonly string[]): Proposal {
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
  // Restoring does not depend on the protocol change having worked: it is reopened either way.
  const first = [...(closesForProtocol ? ['close_outer'] : []), ...(opensInner ? ['open_inner'] : [])];
  const after = first.map((type) => stepKey(port, type));
  return {
    ...openOuter({ serviceId, port, protocol, rules, live, after }),
    // Open as it is wanted, or only closed for a moment.
    ...(live.outer ? { ...openingAgain(serviceId, port), changes: activates ? [activation(port)] : [] } : {}),
    // Another key: it is no repetition of an opening in the same run that took.
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
 * Whether opening an open port once more activates rules of ours: a protocol that becomes http while the port is open
 * leaves them inactive. Only where the manifest manages outer access.
 */
function activatesRules({ spec, rulesSilent }: PortCase, live: PortRecord, innerAtEnd: boolean): boolean {
  return spec.outer === true && live.outer && live.protocol === 'http' && innerAtEnd && rulesSilent.length > 0;
}

/** Git cannot change whether a rule is active: the platform did. */
function activation(port: number): RawChange {
  return { ...change(port, 'rules', 'inactive', 'active'), identifies: true };
}

/** What no order of allowed steps can reach without touching a field that the manifest does not manage. */
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
      message: `port ${port} shall have inner closed, but its outer access is open and the manifest does not manage it; closing inner needs outer closed first`,
      remedy: `Write outer: false in ${at} to close both, or take inner: false out.`,
      changes: [change(port, 'inner', live.inner, false)],
    };
  }
  if (spec.inner === false && goal.outer === true) {
    return {
      code: 'component/outer-owed',
      message: `port ${port} shall have inner closed, but its outer access was closed only for a moment by an earlier run and is to be opened again`,
      remedy: `Write outer: false in ${at} to leave it closed, or take inner: false out so that it can be opened again.`,
      changes: [change(port, 'inner', live.inner, false)],
    };
  }
  const mustOpen = goal.outer === true && !live.outer;
  if ((mustOpen || goal.closesForProtocol) && !goal.innerAtEnd) {
    return {
      code: 'component/inner-unmanaged',
      message: mustOpen
        ? `port ${port} shall have outer open, but its inner access is closed and the manifest does not manage it; opening outer needs inner open first`
        : `port ${port} has outer open and inner closed; a change of protocol closes outer for a moment, and it could not be opened again`,
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
  /** The port before the steps of this plan; undefined: it is added. */
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

/** Opens again what an earlier run has closed for a moment, of a port that no manifest lists any more. */
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
      message: `outer access of port ${port} is to be opened by creating ${rule}, which is not going to happen; it stays closed`,
      remedy: `See to ${rule} first (name it with --target too, where that leaves it out), or take it out of the source so that the port is opened by itself.`,
    },
  };
}

/** The fields of a port that a manifest may manage. */
export const MANAGED = ['protocol', 'alias', 'inner', 'outer'] as const satisfies readonly (keyof PortSpec &
  keyof PortRecord)[];

export function isAs(wanted: PortSpec, live: PortRecord): boolean {
  return MANAGED.every((field) => (wanted[field] ?? live[field]) === live[field]);
}

/** How many fields the manifest manages that the port has as it says. */
function countUnchanged(wanted: PortSpec, live: PortRecord): number {
  return MANAGED.filter((field) => wanted[field] === live[field]).length;
}

function held(hold: HoldProposal): PortDifference {
  return { steps: [], holds: [hold], expects: [], unchangedFields: 0 };
}

/** What all steps of one port share; the rest is filled in where it is made. */
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
