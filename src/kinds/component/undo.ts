import type { JsonObject } from '../../model/json.ts';
import type { FieldChange } from '../../model/plan.ts';
import { cannotUndo, isNoValue, type PastWrite, type UndoContext, type Undoing } from '../undo.ts';
import { MANAGED } from './port-diff.ts';
import type { ComponentSpec, PortSpec } from './spec.ts';
import type { ComponentStep } from './steps.ts';

/** Returns the spec of a component once a write to its ports is undone. @param spec undefined: no manifest describes it. */
export function undoComponent(
  { step, changes, preimage }: PastWrite<ComponentStep>,
  spec: ComponentSpec | undefined,
  { application }: UndoContext,
): Undoing<ComponentSpec> {
  const { serviceId, port } = step;
  if (step.type === 'delete_port') {
    const known = spec ?? { application, serviceId, ports: [], unlistedPorts: 'keep' };
    return recreated(known, port, preimage as JsonObject | null);
  }
  // The ledger keeps what the last manifest said about its removal, such as portolan/prune: keep.
  if (spec === undefined) return cannotUndo('no manifest describes the component');
  if (step.type === 'add_port') return withPorts(spec, withoutPort(spec, port));
  return changes.reduce<Undoing<ComponentSpec>>(
    (done, change) => (done.type === 'spec' ? withField(done.spec, change) : done),
    { type: 'spec', spec },
  );
}

function recreated(spec: ComponentSpec, port: number, former: JsonObject | null): Undoing<ComponentSpec> {
  if (former === null) return cannotUndo('the ledger has no values of the port before it was deleted');
  const values = MANAGED.flatMap((field) => (isNoValue(former[field]) ? [] : [[field, former[field]] as const]));
  const entry = { port, ...Object.fromEntries(values) } as PortSpec;
  return withPorts(spec, [...withoutPort(spec, port), entry]);
}

function withField(spec: ComponentSpec, { path, before }: FieldChange): Undoing<ComponentSpec> {
  if (isNoValue(before)) return cannotUndo(`${path} had no value, and a manifest cannot ask for none`);
  if (path === 'serviceName') return { type: 'spec', spec: { ...spec, serviceName: before as string } };
  const [, number, field] = /^ports\[(\d+)\]\.(\w+)$/.exec(path) ?? [];
  if (field === undefined) return cannotUndo(`${path} is not a field of a manifest`);
  const port = Number(number);
  const entry = spec.ports.find((one) => one.port === port) ?? { port };
  const changed = { ...entry, [field]: before } as PortSpec;
  return withPorts(spec, [...withoutPort(spec, port), changed]);
}

function withoutPort({ ports }: ComponentSpec, port: number): readonly PortSpec[] {
  return ports.filter((one) => one.port !== port);
}

function withPorts(spec: ComponentSpec, ports: readonly PortSpec[]): Undoing<ComponentSpec> {
  return { type: 'spec', spec: { ...spec, ports: [...ports] } };
}
