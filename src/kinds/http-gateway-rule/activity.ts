import { resourceId } from '../../model/ids.ts';
import type { RuleRecord } from './wire.ts';
import type { Resource } from '../../model/resource.ts';
import type { ComponentSpec, PortSpec } from '../component/spec.ts';
import { portExists, portInner, portOuter, portProtocol, rulesEnabled } from '../component/steps.ts';
import type { Difference, Need } from '../reconciled.ts';
import { where } from './asserted.ts';
import type { ObservedContext, RuleContext } from './live.ts';

/** The manifest's entry for the port that a rule leads to; undefined: no manifest manages the port. */
export function portSpecOf({ resource: { spec }, siblings }: RuleContext): PortSpec | undefined {
  const component = siblings.get(resourceId('Component', spec.component)) as Resource<ComponentSpec> | undefined;
  return component?.spec.ports.find(({ port }) => port === spec.port);
}

/**
 * Returns the conditions under which an existing rule answers requests: its port is open, and the rule is active. A rule that
 * moves to another port in this plan is compared afterwards.
 */
export function activityOf(context: ObservedContext, present: RuleRecord): Pick<Difference, 'expects' | 'notes'> {
  const { spec } = context.resource;
  const { serviceId, port } = context.live;
  if (present.serviceId !== serviceId || present.port !== spec.port || (present.outer && port?.outer === true))
    return { expects: [], notes: [] };
  if (port?.outer !== true) {
    // A port that is not managed stays unchanged.
    if (portSpecOf(context)?.outer !== true) return { expects: [], notes: [closed(context)] };
    const [unmet] = portNeeds(context, false).filter(({ met }) => !met);
    const isEnabledWithPort = port === undefined || port.protocol === 'http' || present.outer;
    if (unmet !== undefined && isEnabledWithPort)
      return { expects: [{ condition: unmet.condition, otherwise: unmet.otherwise }], notes: [] };
  }
  const otherwise = inactive(context);
  if (context.resource.annotations['portolan/reconcile'] === 'report') {
    const message = `${otherwise.message} It is only reported, because of the annotation portolan/reconcile: report.`;
    return { expects: [], notes: [{ code: 'reconcile/report-only', message }] };
  }
  return { expects: [{ condition: rulesEnabled(serviceId, spec.port), otherwise }], notes: [] };
}

function closed({ resource: { spec }, live: { port } }: ObservedContext): Difference['notes'][number] {
  const what = `port ${spec.port} of Component/${spec.component}`;
  const why =
    port === undefined ? `${what} does not exist` : `outer access of ${what} is closed, and no manifest manages it`;
  return { code: 'rule/closed', message: `Rule ${where(spec)} does not answer requests: ${why}.` };
}

function inactive({ resource: { spec }, live: { port } }: ObservedContext): Need['otherwise'] {
  const name = `Rule ${where(spec)}`;
  if (port !== undefined && port.protocol !== 'http') {
    return {
      code: 'rule/inactive',
      message: `${name} is inactive, so it does not answer requests: the protocol of the port is ${port.protocol}, and the platform enables the rules of a port only while its protocol is http.`,
      remedy: `Write protocol: http and outer: true for port ${spec.port} in Component/${spec.component}, or remove the rule from the manifests.`,
    };
  }
  return {
    code: 'rule/inactive',
    message: `${name} is inactive, so it does not answer requests, although outer access of port ${spec.port} is open. A change of the protocol to http while the port is open causes that, and so does an edit that leads an inactive rule here.`,
    remedy: `Write inner: true and outer: true for port ${spec.port} in Component/${spec.component}, so that Portolan opens it again, or close and open it in the console.`,
  };
}

/**
 * Returns the conditions that the port must fulfil before the rule is created on it or moved to it.
 * @param opens whether creating the rule opens outer access of its port.
 */
export function portNeeds(
  { resource: { spec }, live: { serviceId, port: live } }: ObservedContext,
  opens: boolean,
): Need[] {
  const { port } = spec;
  const remedy = `List port ${port} in Component/${spec.component} with outer: true (and inner: true).`;
  const exists: Need = {
    condition: portExists(serviceId, port),
    met: live !== undefined,
    otherwise: {
      code: 'rule/port-missing',
      message: `rule ${where(spec)} needs port ${port} of Component/${spec.component}, which does not exist and is not added in this plan`,
      remedy,
    },
  };
  if (opens) {
    const inner: Need = {
      condition: portInner(serviceId, port),
      met: live?.inner === true,
      otherwise: {
        code: 'rule/inner-closed',
        message: `rule ${where(spec)} would publish port ${port} of Component/${spec.component}, whose inner access is closed and is not opened in this plan`,
        remedy,
      },
    };
    // A protocol change must come first, if there is one; otherwise this condition holds.
    const protocol: Need = {
      condition: portProtocol(serviceId, port),
      met: true,
      otherwise: { code: '', message: '', remedy: '' },
    };
    return [exists, protocol, inner];
  }
  return [
    exists,
    {
      condition: portOuter(serviceId, port),
      met: live?.outer === true,
      otherwise: {
        code: 'rule/port-closed',
        message: `rule ${where(spec)} needs outer access of port ${port} of Component/${spec.component}, which is closed and is not opened in this plan`,
        remedy,
      },
    },
  ];
}
