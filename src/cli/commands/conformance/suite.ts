import { listEndpoints } from '../../../kinds/component/readings.ts';
import { listRules } from '../../../kinds/http-gateway-rule/readings.ts';
import type { PortProtocol } from '../../../kinds/component/wire.ts';
import type { RuleRecord } from '../../../kinds/http-gateway-rule/wire.ts';
import { PortolanError } from '../../../model/errors.ts';
import type { PortPicture, Presence } from './expectations.ts';
import type { Findings } from './findings.ts';
import type { Ground } from './ground.ts';
import type { Workplace } from './product.ts';
import type { Proxy } from './proxy.ts';

/** Holds what the checks of an area work with. */
export type Suite = Ground &
  Findings & { readonly proxy: Proxy; readonly signal: AbortSignal; readonly open: () => Workplace };

/** Requirements of checks, and the reason for skipping a check without them. */
const NEEDS = {
  rules: [({ isExtended }: Ground) => isExtended, 'the server cannot list, change or delete rules'],
  store: [({ store }: Ground) => store !== undefined, 'no store was given (--store-url, --store-domain, --model)'],
  'two components': [({ components }: Ground) => components.length > 1, 'the application has only one component'],
  certificate: [({ certificateId }: Ground) => certificateId !== undefined, 'the team has no certificate'],
  'later version': [({ store }: Ground) => store?.upgradeTo !== undefined, 'no --upgrade-to was given'],
} as const;
export type Need = keyof typeof NEEDS;

/** Returns whether the requirements of a check are met. If not, skips it. */
export function hasNeeds(suite: Suite, id: string, title: string, needs: readonly Need[]): boolean {
  const lacking = needs.find((need) => !NEEDS[need][0](suite));
  if (lacking !== undefined) suite.skip(id, title, NEEDS[lacking][1]);
  return lacking === undefined;
}

/**
 * Returns a function that runs the parts of an area. A part that fails is a finding, and the next part runs. A second
 * failure in a row ends the area, because the server is probably down.
 */
export function partsOf({ fail }: Suite) {
  let hasBroken = false;
  return async (id: string, title: string, part: () => Promise<void>): Promise<void> => {
    try {
      await part();
      hasBroken = false;
    } catch (error) {
      if (!(error instanceof PortolanError) || hasBroken) throw error;
      hasBroken = true;
      fail(id, title, `${error.code}: ${error.message}`);
    }
  };
}

/** A port as the server shows it; `undefined` in a member: this server does not show it. */
export type SeenPort = Omit<PortPicture, 'rules' | 'endpoint'> & {
  readonly rules: Presence | undefined;
  readonly endpoint: Presence | undefined;
};

/** Reads everything that a server shows of one port. */
export async function seePort(
  { server, app, portOf, components: [first] }: Ground,
  port: number,
  serviceId: string = first,
): Promise<SeenPort | 'absent'> {
  const record = await portOf(port, serviceId);
  if (record === undefined) return 'absent';
  const { protocol, inner, outer, alias } = record;
  /** @param rows of a listing: gateway rules or stream endpoints. */
  const presenceIn = (
    rows: readonly Pick<RuleRecord, 'serviceId' | 'port' | 'outer'>[] | undefined,
  ): Presence | undefined => {
    const own = rows?.filter((row) => row.serviceId === serviceId && row.port === port);
    if (own === undefined || own.length === 0) return own && 'none';
    return own.some((row) => row.outer) ? 'active' : 'inactive';
  };
  return {
    protocol: protocol as PortProtocol,
    inner,
    outer,
    alias: alias === aliasOf(port, 'first') ? 'first' : alias === aliasOf(port, 'second') ? 'second' : 'other',
    rules: presenceIn(await server.read(listRules, app)),
    endpoint: presenceIn(await server.read(listEndpoints, app)),
  };
}

export function aliasOf(port: number, alias: 'first' | 'second'): string {
  return alias === 'first' ? `P${port}` : `Q${port}`;
}

/** Formats a port, without the members that the server does not show, so that equal texts mean equal ports. */
export function portText(port: PortPicture | SeenPort | 'absent', seen: SeenPort | 'absent' = port): string {
  if (port === 'absent') return 'absent';
  const { protocol, inner, outer, alias, rules, endpoint } = port;
  const shown = seen === 'absent' ? port : seen;
  return [
    protocol,
    `inner ${inner ? 'open' : 'closed'}`,
    `outer ${outer ? 'open' : 'closed'}`,
    `${alias} alias`,
    ...(shown.rules === undefined ? [] : [`rules ${rules}`]),
    ...(shown.endpoint === undefined ? [] : [`endpoint ${endpoint}`]),
  ].join(', ');
}
