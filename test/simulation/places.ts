/** What makes two rules one for the platform: component, port, protocol, domain and path. */
export function placeOf(rule: {
  readonly serviceId: string;
  readonly port: number;
  readonly protocol?: string;
  readonly certificateId?: number;
  readonly domain: string;
  readonly path: string;
}): string {
  return `${rule.serviceId}/${rule.port}/${nameOf(rule)}`;
}

export function nameOf(rule: {
  readonly protocol?: string;
  readonly certificateId?: number;
  readonly domain: string;
  readonly path: string;
}): string {
  const protocol = rule.protocol ?? ((rule.certificateId ?? 0) > 0 ? 'https' : 'http');
  return `${protocol}://${rule.domain.toLowerCase()}${rule.path}`;
}

/** Names that rules of an address can have. */
export function ruleNames(domain: string, path: string): readonly string[] {
  const name = `${domain.split('.')[0]?.toLowerCase()}${path === '/' ? '' : '-api'}`;
  return [`${name}0`, `${name}1`];
}
