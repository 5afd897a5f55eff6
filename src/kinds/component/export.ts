import type { JsonObject } from '../../model/json.ts';
import type { PortRecord } from './wire.ts';
import type { RuleRecord } from '../http-gateway-rule/wire.ts';
import type { ExportContext, Exported, ExportedDocument, LiveComponent, Remark } from '../export.ts';
import { legibleName } from '../export-names.ts';
import { componentSchema, PORTS_MAX, portSchema } from './spec.ts';
import { compareText } from '../../model/text.ts';

const { properties } = componentSchema;
const portFields = portSchema.properties;

/** Exports components with their ports, except for fields that a manifest cannot express. */
export function exportComponents(context: ExportContext): Exported {
  const { live } = context;
  const documents: ExportedDocument[] = [];
  const left: string[] = [];
  for (const component of live.components.toSorted((a, b) => compareText(a.serviceId, b.serviceId))) {
    if (context.fits(properties.serviceId, component.serviceId)) documents.push(documentOf(context, component));
    else left.push(`component ${JSON.stringify(component.serviceId)}: a manifest cannot hold this id`);
  }
  const unseen =
    live.extent === 'unlisted'
      ? [
          documents.length === 0
            ? 'components: this server does not list them, and none was named, so none is written. Name them with --component, in --list, or with -f and their manifests.'
            : 'components: this server does not list them. Only those that were named are written; there may be others.',
        ]
      : [];
  return { documents: documents.sort((a, b) => compareText(a.name, b.name)), left, unseen };
}

function documentOf(context: ExportContext, component: LiveComponent): ExportedDocument {
  const { serviceId, record } = component;
  const name = context.nameFor(
    'Component',
    serviceId,
    preferredName(context, component),
    serviceId.slice(0, 6).toLowerCase(),
  );
  const remarks: Remark[] = [];
  const shown = record?.displayName;
  if (shown && !name.endsWith(shown))
    remarks.push({ at: ['spec', 'serviceId'], text: `called ${JSON.stringify(shown)} on the platform` });
  if (record?.installGroupId) remarks.push({ at: [], text: 'It was installed from a store.' });
  const serviceName = serviceNameOf(context, component, remarks);
  const ports = component.ports.toSorted((a, b) => a.port - b.port);
  if (ports.length > PORTS_MAX) {
    remarks.push({
      at: [],
      text: `It has ${ports.length} ports; a manifest lists at most ${PORTS_MAX}, the others stay as they are.`,
    });
  }
  const aliases = Map.groupBy(ports, ({ alias }) => alias);
  const written = ports.slice(0, PORTS_MAX).map((port, index) => {
    const { entry, why } = portEntry(context, serviceId, port, (aliases.get(port.alias)?.length ?? 0) > 1);
    if (why.length > 0) remarks.push({ at: ['spec', 'ports', index], text: why.join('; ') });
    return entry;
  });
  return {
    kind: 'Component',
    name,
    spec: {
      application: context.application,
      serviceId,
      ...(serviceName === undefined ? {} : { serviceName }),
      ports: written,
    },
    remarks,
  };
}

/** Returns a preferred name, with the application's name in front if it does not begin with that. */
function preferredName({ application }: ExportContext, { record, ports, serviceId, name }: LiveComponent): string {
  if (name !== undefined) return name;
  const known = [record?.k8sComponentName, record?.displayName, ports[0]?.serviceName, record?.alias];
  const own = known.flatMap((text) => legibleName(text ?? '') ?? [])[0] ?? `component-${serviceId.slice(0, 6)}`;
  return own === application || own.startsWith(`${application}-`) ? own : `${application}-${own}`;
}

function serviceNameOf(context: ExportContext, { ports }: LiveComponent, remarks: Remark[]): string | undefined {
  const names = [...new Set(ports.map((port) => port.serviceName))];
  const [only, second] = names;
  if (only === undefined) return undefined;
  const { platform, team, region } = context.live.scope;
  const why =
    second !== undefined
      ? `its ports have different ones: ${quoted(names)}`
      : !context.fits(properties.serviceName, only)
        ? `a manifest cannot hold ${JSON.stringify(only)}`
        : context.claim(`service name ${only} in ${platform}/${team}/${region}`)
          ? undefined
          : `another component of the team has ${only} too`;
  if (why === undefined) return only;
  remarks.push({ at: [], text: `serviceName is left out, and so not managed: ${why}.` });
  return undefined;
}

function portEntry(context: ExportContext, serviceId: string, port: PortRecord, sharesAlias: boolean) {
  const { inner, outer, protocol, alias } = port;
  const why: string[] = [];
  const rules = context.live.rules.readable
    ? context.live.rules.value.filter((rule) => rule.serviceId === serviceId && rule.port === port.port)
    : [];
  const entry: Record<string, JsonObject[string]> = { port: port.port };
  if (context.fits(portFields.protocol, protocol)) entry['protocol'] = protocol;
  else why.push(`protocol left out: a manifest cannot say ${JSON.stringify(protocol)}`);
  if (sharesAlias) why.push(`alias left out: ${JSON.stringify(alias)} is that of several ports`);
  else if (context.fits(portFields.alias, alias)) entry['alias'] = alias;
  else why.push(`alias left out: a manifest cannot say ${JSON.stringify(alias)}`);
  if (outer && !inner) why.push('inner left out: it is closed, and outer is open all the same');
  else entry['inner'] = inner;
  if (!outer && rules.some(hasManifest)) why.push('outer left out: it is closed, and rules lead here all the same');
  else entry['outer'] = outer;
  const published = rules.filter(isDefault).map(({ domain }) => domain);
  if (published.length > 0) why.push(`the platform's default rule: ${published.sort().join(', ')}`);
  return { entry, why };
}

/** Returns whether a rule may be exported; then the manifest must not declare its port closed. */
function hasManifest(rule: RuleRecord): boolean {
  return rule.path !== '';
}

/** Returns whether the platform created the rule when outer access was opened. Its empty path is not valid in a manifest. */
export function isDefault(rule: RuleRecord): boolean {
  return rule.type === 0 && rule.path === '';
}

function quoted(names: readonly string[]): string {
  return names
    .map((name) => JSON.stringify(name))
    .sort()
    .join(', ');
}
