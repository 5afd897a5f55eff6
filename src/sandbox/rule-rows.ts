import type { ComponentRow, PortRow, RuleRow, SandboxState, TcpRuleRow } from './state.ts';
import type { SandboxContext } from './wire.ts';

/** The domain under which the platform publishes a port by itself. */
export function defaultDomain(state: SandboxState, component: ComponentRow, port: number): string {
  const team = state.teams.get(component.teamId);
  const root = state.regions.get(component.region)?.ruleDomain ?? '';
  return `${component.alias}-${port}-${team?.name ?? ''}.${root}`;
}

/** The rule that opening outer access of an http port makes. Its path is `""`, not `/`. */
export function makeDefaultRule(
  state: SandboxState,
  context: SandboxContext,
  component: ComponentRow,
  port: PortRow,
): RuleRow {
  return {
    id: context.newId(),
    row: state.nextNumber('rule'),
    appId: component.appId,
    teamId: component.teamId,
    serviceId: component.id,
    port: port.port,
    domain: defaultDomain(state, component, port.port),
    path: '',
    protocol: 'http',
    certificateId: 0,
    cookie: '',
    header: '',
    weight: 100,
    senior: false,
    autoSsl: false,
    autoSslConfig: null,
    type: 0,
    outer: true,
    extensions: [],
    configuration: null,
    rewrites: '',
  };
}

const FIRST_NODE_PORT = 30_001;

/** The rule that opening outer access of any other port makes. */
export function makeTcpRule(state: SandboxState, newId: () => string, port: PortRow): TcpRuleRow {
  const id = newId();
  const row = state.nextNumber('tcp-rule');
  return {
    id,
    row,
    serviceId: port.serviceId,
    port: port.port,
    nodePort: FIRST_NODE_PORT + row - 1,
    protocol: port.protocol,
    outer: true,
  };
}

/** The key by which the server considers two rules equal: component, port, domain (ignoring case), path, protocol. */
export interface RuleKey {
  readonly serviceId: string;
  readonly port: number;
  readonly domain: string;
  readonly path: string;
  readonly protocol: string;
}

export function rulesWithKey(state: SandboxState, key: RuleKey): readonly RuleRow[] {
  return state.rules
    .in('domain', key.domain.toLowerCase())
    .filter(
      (rule) =>
        rule.serviceId === key.serviceId &&
        rule.port === key.port &&
        rule.path === key.path &&
        rule.protocol === key.protocol,
    );
}

/** A rule is "senior" if it matches more than the domain. */
export function isSenior(path: string, cookie: string, header: string): boolean {
  return (path !== '' && path !== '/') || cookie !== '' || header !== '';
}
