import { portExists, portInner, portOuter, portProtocol } from '../component/steps.ts';
import type { Need } from '../reconciled.ts';
import { where } from './asserted.ts';
import type { ObservedRule } from './live.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';

/**
 * What the port of a rule must be before the rule is created there, or led there.
 * @param opens creating the rule opens outer access of its port.
 */
export function portNeeds(spec: HttpGatewayRuleSpec, { serviceId, port: live }: ObservedRule, opens: boolean): Need[] {
  const { port } = spec;
  const remedy = `List port ${port} in Component/${spec.component} with outer: true (and inner: true).`;
  const exists: Need = {
    condition: portExists(serviceId, port),
    met: live !== undefined,
    otherwise: {
      code: 'rule/port-missing',
      message: `rule ${where(spec)} needs port ${port} of Component/${spec.component}, which does not exist and is not going to be added`,
      remedy,
    },
  };
  if (opens) {
    const inner: Need = {
      condition: portInner(serviceId, port),
      met: live?.inner === true,
      otherwise: {
        code: 'rule/inner-closed',
        message: `rule ${where(spec)} would publish port ${port} of Component/${spec.component}, whose inner access is closed and is not going to be opened`,
        remedy,
      },
    };
    // The order of the protocol's change matters; that there is one does not.
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
        message: `rule ${where(spec)} needs outer access of port ${port} of Component/${spec.component}, which is closed and is not going to be opened`,
        remedy,
      },
    },
  ];
}
