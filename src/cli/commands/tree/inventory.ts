import { kindWithNoun, type ReconciledKinds } from '../../../kinds/define.ts';
import type { ComponentLive } from '../../../kinds/component/live.ts';
import type { ComponentSpec } from '../../../kinds/component/spec.ts';
import { componentKey } from '../../../kinds/component/steps.ts';
import { PortolanError } from '../../../model/errors.ts';
import type { ComponentRecord, PortRecord, RuleRecord } from '../../../model/observed.ts';
import type { Resource } from '../../../model/resource.ts';
import type { Prepared } from '../../../reconcile/reconcile.ts';

/** What one application has, as far as the platform shows it. */
export interface Inventory {
  readonly prepared: Prepared;
  /** undefined: the platform does not list them. */
  readonly components: readonly ComponentRecord[] | undefined;
  readonly rules: readonly RuleRecord[] | undefined;
  /** By component; of those that could be asked for. */
  readonly ports: ReadonlyMap<string, readonly PortRecord[]>;
  /** What could not be seen, for people. */
  readonly unseen: readonly string[];
}

/** Reads what the plan had no need of; what it has read already is not asked for again. */
export async function inventoryOf(kinds: ReconciledKinds, prepared: Prepared): Promise<Inventory> {
  const component = kindWithNoun(kinds, 'component');
  const { reader, work } = prepared;
  const unseen: string[] = [];
  const listed = async <T>(
    what: string,
    ask: () => Promise<{ readable: boolean; value?: T }>,
  ): Promise<T | undefined> => {
    const answer = await orUnseen(ask, what, unseen);
    if (answer?.readable === false) unseen.push(`${what}: this server does not list them`);
    return answer?.value;
  };
  const components = await listed('components that no manifest names', () => reader.components());
  const rules = await listed('rules that no manifest names', () => reader.rules());
  const named = [...work.resources.values()].flatMap((resource) =>
    resource.kind === component ? [serviceIdOf(resource as Resource<ComponentSpec>, prepared)] : [],
  );
  const serviceIds = new Set([...(components ?? []).map(({ serviceId }) => serviceId), ...named]);
  const ports = new Map<string, readonly PortRecord[]>();
  await Promise.all(
    [...serviceIds].map(async (serviceId) => {
      if (serviceId === undefined) return;
      const answer = await orUnseen(() => reader.ports(serviceId), `ports of component ${serviceId}`, unseen);
      if (answer !== undefined) ports.set(serviceId, answer);
    }),
  );
  return { prepared, components, rules, ports, unseen };
}

async function orUnseen<T>(ask: () => Promise<T>, what: string, unseen: string[]): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof PortolanError) || error.code === 'platform/stopped') throw error;
    unseen.push(`${what}: ${error.message}`);
    return undefined;
  }
}

/** Of a component that a manifest names; undefined until its install has made it. */
export function serviceIdOf({ id, spec }: Resource<ComponentSpec>, { live, memory }: Prepared): string | undefined {
  const seen = live.get(id) as ComponentLive | undefined;
  if (seen?.type === 'observed') return seen.serviceId;
  if (spec.serviceId !== undefined) return spec.serviceId;
  const fixed = memory.objects.find(
    ({ resource, remoteId, naturalKey }) =>
      resource === id && remoteId !== null && naturalKey === componentKey(remoteId),
  );
  return fixed?.remoteId ?? undefined;
}
