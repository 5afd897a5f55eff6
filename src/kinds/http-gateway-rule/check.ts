import type { Resource } from '../../model/resource.ts';
import { applicationOf } from '../application/check.ts';
import type { ComponentSpec } from '../component/spec.ts';
import type { Foresight, Identity, OtherResources, SpecProblem } from '../kind.ts';
import { problemAt, repeats } from '../problems.ts';
import { isPunycode } from './punycode.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { protocolOf } from './steps.ts';

/** Checks one HttpGatewayRule, also against the Component that it leads to. */
export function checkRule(resource: Resource<HttpGatewayRuleSpec>, set: OtherResources): readonly SpecProblem[] {
  const { spec } = resource;
  const component = set.get(`Component/${spec.component}`)?.spec as ComponentSpec | undefined;
  return [
    ...domainProblems(spec.domain),
    ...certificateProblems(spec),
    ...(component === undefined ? [] : componentProblems(spec, component)),
    ...duplicates(spec.extensions ?? [], 'spec.extensions', 'extension'),
    ...duplicates(spec.configuration?.setHeaders ?? [], 'spec.configuration.setHeaders', 'header'),
  ];
}

/** Returns what a plan holds: a certificate that the server cannot look up, and a port that nothing can reach. */
export function foreseeRule(
  { spec }: Resource<HttpGatewayRuleSpec>,
  set: OtherResources,
  { isDocumented }: Foresight,
): readonly SpecProblem[] {
  const component = set.get(`Component/${spec.component}`)?.spec as ComponentSpec | undefined;
  const port = component?.ports.find((entry) => entry.port === spec.port);
  const platform = applicationOf(set, spec.application)?.platform;
  const unreachable =
    port?.inner === false && port.outer === undefined
      ? problemAt(
          'spec.port',
          'rule/inner-closed',
          `port ${spec.port} is closed inside: Component/${spec.component} says inner: false`,
          'a port with inner access, because the platform opens outer access only where inner access is open',
          `set inner: true for port ${spec.port} in Component/${spec.component}`,
        )
      : [];
  if (spec.certificate === undefined || platform === undefined || !isDocumented(platform)) return unreachable;
  const message = `the certificate is named ${JSON.stringify(spec.certificate)}, and Platform/${platform} has the dialect documented, which cannot list certificates`;
  return [
    ...unreachable,
    ...problemAt(
      'spec.certificate',
      'rule/certificate-unlisted',
      message,
      'spec.certificateId, the number of the certificate',
    ),
  ];
}

function certificateProblems({ certificate, certificateId }: HttpGatewayRuleSpec): readonly SpecProblem[] {
  if (certificate === undefined || certificateId === undefined) return [];
  return [
    {
      code: 'rule/two-certificates',
      path: 'spec.certificate',
      message: `the certificate is named twice: ${JSON.stringify(certificate)} by alias and ${certificateId} by number`,
      expected: 'either certificate or certificateId',
      hint: 'remove one of them',
    },
  ];
}

export function domainProblems(domain: string): readonly SpecProblem[] {
  const labels = domain.split('.');
  if (/^[0-9]+$/.test(labels.at(-1) ?? '')) {
    return [
      {
        code: 'rule/domain',
        path: 'spec.domain',
        message: `${JSON.stringify(domain)} ends in a number, so it is an IP address and not a domain`,
        expected: 'a domain such as www.example.com',
      },
    ];
  }
  // The pattern accepts any xn-- label; decoding shows whether it is valid.
  if (labels.some((label) => /^xn--/i.test(label) && !isPunycode(label.slice('xn--'.length)))) {
    return [
      {
        code: 'rule/domain',
        path: 'spec.domain',
        message: `${JSON.stringify(domain)} has an xn-- label that is invalid punycode`,
        expected: 'an internationalised name in its ASCII form, such as xn--bcher-kva.example',
      },
    ];
  }
  return [];
}

function componentProblems(spec: HttpGatewayRuleSpec, component: ComponentSpec): readonly SpecProblem[] {
  if (component.application !== spec.application) {
    return [
      {
        code: 'rule/other-application',
        path: 'spec.component',
        message: `Component/${spec.component} belongs to application ${component.application}, this rule to ${spec.application}`,
        expected: 'a component of the same application',
      },
    ];
  }
  const port = component.ports.find((entry) => entry.port === spec.port);
  if (port === undefined) {
    if (component.unlistedPorts === 'keep') return [];
    const fate = component.unlistedPorts === 'close' ? 'closes' : 'deletes';
    return [
      {
        code: 'rule/unlisted-port',
        path: 'spec.port',
        message: `Component/${spec.component} does not list port ${spec.port}, and its unlistedPorts: ${component.unlistedPorts} ${fate} it`,
        expected: listedPorts(component),
        hint: `add { port: ${spec.port}, outer: true } to the ports of Component/${spec.component}`,
      },
    ];
  }
  if (port.outer !== false) return [];
  return [
    {
      code: 'rule/closed-port',
      path: spec.openOuter === true ? 'spec.openOuter' : 'spec.port',
      message:
        spec.openOuter === true
          ? `openOuter: true opens port ${spec.port}, which Component/${spec.component} says is closed outside (outer: false)`
          : `port ${spec.port} is closed outside: Component/${spec.component} says outer: false`,
      expected: 'a port with outer access, because the rule leads there from outside',
      hint: `set outer: true for port ${spec.port} in Component/${spec.component}`,
    },
  ];
}

function listedPorts(component: ComponentSpec): string {
  const numbers = component.ports.map(({ port }) => String(port));
  return numbers.length === 0
    ? 'a port that the component lists; it lists none'
    : `one of its ports: ${numbers.join(', ')}`;
}

/** Returns duplicate keys. The case of HTTP headers does not matter. */
function duplicates(entries: readonly { readonly key: string }[], path: string, noun: 'extension' | 'header') {
  return repeats(entries.map(({ key }) => (noun === 'header' ? key.toLowerCase() : key))).map(({ index }) => ({
    code: 'rule/duplicate-key',
    path: `${path}[${index}].key`,
    message: `${noun} ${entries[index]?.key} is listed twice`,
    expected: `one entry per ${noun}`,
  }));
}

/** Claims one rule for each component, port, protocol, domain and path of a platform. The case of a domain does not matter. */
export function ruleIdentities(resource: Resource<HttpGatewayRuleSpec>, set: OtherResources): readonly Identity[] {
  const { spec } = resource;
  const application = applicationOf(set, spec.application);
  if (application === undefined) return [];
  return [{ key: ruleIdentity(spec, application.platform), path: 'spec.domain' }];
}

/** Returns the claim of a rule. One route may lead to several components, and exist as http and https. */
export function ruleIdentity(
  { component, port, domain, path, ...certificate }: Omit<HttpGatewayRuleSpec, 'application'>,
  platform: string,
): string {
  const route = `${protocolOf(certificate)}://${domain.toLowerCase()}${path}`;
  return `rule ${route} to port ${port} of Component/${component} on platform ${platform}`;
}
