import type { Change } from '../../src/sandbox/table.ts';
import type { PortRow, RuleRow } from '../../src/sandbox/state.ts';
import type { RuleMarks } from './marks.ts';
import type { Wishes } from './shop.ts';

/** What manifests said of a port or of the name of a component, as long as one listed it. */
interface Told {
  readonly resource: string;
  /** The fields that the last one managed. */
  readonly fields: readonly Field[];
}

/** A value that Portolan owes back to a port, or to all ports of a component, after the manifest has gone. */
export interface OwedValue {
  readonly serviceId: string;
  /** Absent: the service name of the component. */
  readonly port?: number;
  readonly resource: string;
  readonly field: Field | 'serviceName';
  readonly value: string | boolean;
}

const FIELDS = ['protocol', 'alias', 'inner', 'outer'] as const;
type Field = (typeof FIELDS)[number];

/**
 * Values of ports before Portolan changed them, by the requests: what the ledger says of them does not count. Only where all
 * manifests of a component have said `portolan/on-removal: restore`, and that other ports stay as they are.
 */
export class FormerPorts {
  readonly #before = new Map<string, PortRow>();
  /** Service names of the ports of a component. */
  readonly #names = new Map<string, ReadonlySet<string>>();
  readonly #told = new Map<string, Told>();
  /** Resources that named the service of a component. */
  readonly #named = new Map<string, string>();
  /** Components with manifests that said anything else. */
  readonly #others = new Set<string>();

  /** A pass begins. */
  told(wishes: Wishes, serviceOf: (component: string) => string | undefined): void {
    for (const [name, { ports, unlistedPorts, serviceName }] of wishes.components) {
      const serviceId = serviceOf(name);
      if (serviceId === undefined) continue;
      const resource = `Component/${name}`;
      const marks = wishes.annotations.get(resource);
      if (marks?.['portolan/on-removal'] !== 'restore' || unlistedPorts !== 'keep') this.#others.add(serviceId);
      for (const port of ports) {
        const fields = FIELDS.filter((field) => port[field] !== undefined);
        this.#told.set(`${serviceId}/${port.port}`, { resource, fields });
      }
      if (serviceName !== undefined) this.#named.set(serviceId, resource);
    }
  }

  /**
   * A request of Portolan has changed the platform.
   * @param portsOf the ports of a component after that.
   */
  changed(operation: string, changes: readonly Change[], portsOf: (serviceId: string) => readonly PortRow[]): void {
    const renamed = new Map<string, Set<string>>();
    for (const { table, key, before, after } of changes) {
      if (table !== 'ports') continue;
      if (after === undefined) this.#before.delete(key);
      if (operation !== 'updatePort' || before === undefined || after === undefined) continue;
      const [old, row] = [before as PortRow, after as PortRow];
      if (!this.#before.has(key)) this.#before.set(key, old);
      if (old.serviceName !== row.serviceName)
        renamed.set(row.serviceId, (renamed.get(row.serviceId) ?? new Set()).add(old.serviceName));
    }
    for (const [serviceId, names] of renamed) {
      const others = portsOf(serviceId).filter((row) => !changes.some(({ key }) => key === `${serviceId}/${row.port}`));
      for (const { serviceName } of others) names.add(serviceName);
      if (!this.#names.has(serviceId)) this.#names.set(serviceId, names);
    }
  }

  /**
   * Returns what is owed.
   * @param wanted ports that manifests list, as `<component>/<port>`, and components that they name.
   */
  owed(wanted: ReadonlySet<string>): readonly OwedValue[] {
    const ofPorts = [...this.#before].flatMap(([place, row]): OwedValue[] => {
      const told = this.#told.get(place);
      const { serviceId, port } = row;
      if (told === undefined || wanted.has(place) || this.#others.has(serviceId)) return [];
      return told.fields.map((field) => ({ serviceId, port, resource: told.resource, field, value: row[field] }));
    });
    const ofNames = [...this.#names].flatMap(([serviceId, names]): OwedValue[] => {
      const [name = '', second] = names;
      const resource = this.#named.get(serviceId);
      if (resource === undefined || wanted.has(serviceId) || this.#others.has(serviceId)) return [];
      return second === undefined ? [{ serviceId, resource, field: 'serviceName', value: name }] : [];
    });
    return [...ofPorts, ...ofNames];
  }
}

/** Values that an update of a rule may change, and that the listing of the application shows. */
const RULE_FIELDS = ['weight', 'cookie', 'header'] as const;

/** A value that Portolan owes back to an adopted rule, after its manifest has gone. */
export interface OwedRuleValue {
  readonly ruleId: string;
  readonly resource: string;
  readonly field: (typeof RULE_FIELDS)[number];
  readonly value: string | number;
}

/** Values of the rules of others before Portolan changed them, by the requests. */
export class FormerRules {
  readonly #before = new Map<string, { readonly row: RuleRow; readonly resource: string }>();

  /** An update of Portolan has changed the platform. */
  changed(resource: string, changes: readonly Change[], isOurs: (ruleId: string) => boolean): void {
    for (const { table, before, after } of changes) {
      if (table !== 'rules' || before === undefined || after === undefined) continue;
      const row = before as RuleRow;
      if (!isOurs(row.id)) this.#before.set(row.id, { row: this.#before.get(row.id)?.row ?? row, resource });
    }
  }

  /** Returns what is owed. */
  owed({ rules }: Wishes, marks: RuleMarks): readonly OwedRuleValue[] {
    return [...this.#before].flatMap(([ruleId, { row, resource }]) => {
      const isWanted = rules.has(resource.slice('HttpGatewayRule/'.length));
      const isRestored = marks.of(resource, 'restore') === 'yes' && marks.of(resource, 'keep') === 'no';
      if (isWanted || !isRestored) return [];
      return RULE_FIELDS.map((field) => ({ ruleId, resource, field, value: row[field] }));
    });
  }
}
