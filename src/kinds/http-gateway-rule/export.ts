import type { JsonObject } from '../../model/json.ts';
import type { PortRecord } from '../component/wire.ts';
import { hasRewrites, type RuleRecord } from './wire.ts';
import { isDefault } from '../component/export.ts';
import type { ExportContext, Exported, ExportedDocument, Remark } from '../export.ts';
import { where } from './asserted.ts';
import { domainProblems, ruleIdentity } from './check.ts';
import { isNone, ruleFields } from './fields.ts';
import { httpGatewayRuleSchema } from './spec.ts';
import { protocolOf, ruleKey } from './steps.ts';

const { properties } = httpGatewayRuleSchema;

/** Exports the rules of the exported components, with every field that a server shows. */
export function exportRules(context: ExportContext): Exported {
  const { rules, extent } = context.live;
  if (!rules.readable) {
    const unseen = [
      'gateway rules: this server does not list them, so none is written; those that exist stay as they are.',
    ];
    return { documents: [], left: [], unseen };
  }
  const copies = Map.groupBy(rules.value, ruleKey);
  const documents: ExportedDocument[] = [];
  const left: string[] = [];
  for (const rule of rules.value.toSorted(byKey)) {
    const component = context.nameOf('Component', rule.serviceId);
    if (component === undefined && extent === 'named') continue;
    const why =
      component === undefined
        ? `its component ${rule.serviceId} is not written`
        : whyNot(context, component, rule, copies.get(ruleKey(rule)) ?? []);
    // The platform's default rules are remarked beside their port.
    if (why === undefined && component !== undefined) documents.push(documentOf(context, component, rule));
    else if (!isDefault(rule) || component === undefined)
      left.push(`rule ${where(rule)} on port ${rule.port} (${rule.ruleId}): ${why}`);
  }
  const unseen =
    documents.length === 0
      ? []
      : [
          'configuration and extensions of rules: no listing of an application shows them, so they are left out and not managed.',
        ];
  return { documents, left, unseen };
}

/** Returns why a rule cannot be exported; undefined: it can. */
function whyNot(
  context: ExportContext,
  component: string,
  rule: RuleRecord,
  copies: readonly RuleRecord[],
): string | undefined {
  const { domain, path } = rule;
  const { platform } = context.live.scope;
  if (!context.fits(properties.domain, domain) || domainProblems(domain).length > 0)
    return 'a manifest cannot hold this domain';
  if (path === '') return 'it has no path, and that of a manifest starts with /';
  if (!context.fits(properties.path, path)) return 'a manifest cannot hold this path';
  const port = portOf(context, rule);
  // A manifest describes an active rule: Portolan would enable this one, or report it in every plan.
  if (!rule.outer && port?.outer === true)
    return port.protocol === 'http'
      ? 'it is inactive although outer access of its port is open; close and open it in the console, which enables the rule'
      : `it is inactive: the protocol of its port is ${port.protocol}, and the platform enables rules only while that is http`;
  if (copies.length > 1) return `the platform has ${copies.length} of them, and it is not clear which one is meant`;
  const written = rule.certificateId === null ? {} : certificateOf(context, rule.certificateId).written;
  if (protocolOf(written) !== protocolOf(rule))
    return `it is ${protocolOf(rule)} with certificate ${rule.certificateId ?? 0}, which a manifest cannot express: a rule is https by a certificate of the team`;
  const identity = { component, port: rule.port, domain, path, certificateId: rule.certificateId ?? 0 };
  if (!context.claim(ruleIdentity(identity, platform))) return 'another rule that is written is the same';
  return undefined;
}

function portOf({ live }: ExportContext, { serviceId, port }: RuleRecord): PortRecord | undefined {
  const component = live.components.find((candidate) => candidate.serviceId === serviceId);
  return component?.ports.find((candidate) => candidate.port === port);
}

function documentOf(context: ExportContext, component: string, rule: RuleRecord): ExportedDocument {
  const remarks: Remark[] = [];
  if (rule.type === 0)
    remarks.push({ at: [], text: "The platform's default rule, made when outer access was opened." });
  if (portOf(context, rule)?.outer !== true)
    remarks.push({ at: [], text: 'Outer access of its port is closed: it does not answer requests now.' });
  if (hasRewrites(rule))
    remarks.push({ at: [], text: 'It has rewrites, which a manifest cannot express. They stay unchanged.' });
  const { path } = rule;
  const preferred = `${rule.domain.replace(/^\*/, 'any')}${path === '/' ? '' : `-${path.replaceAll('/', '-')}`}`;
  const suffix = protocolOf(rule) === 'https' ? `https-${component}` : component;
  return {
    kind: 'HttpGatewayRule',
    name: context.nameFor('HttpGatewayRule', ruleKey(rule), preferred, suffix),
    spec: {
      application: context.application,
      component,
      port: rule.port,
      domain: rule.domain,
      path,
      ...conditions(context, rule, remarks),
    },
    remarks,
  };
}

/** Returns every managed field that a server shows and that is not empty. */
function conditions(context: ExportContext, rule: RuleRecord, remarks: Remark[]): JsonObject {
  const spec: Record<string, JsonObject[string]> = {};
  const autoSsl: Record<string, JsonObject[string]> = {};
  for (const field of ruleFields.filter(({ readBack }) => readBack === 'own listing')) {
    const { name, path } = field;
    const value = field.read?.(rule);
    const schema = schemaAt(path);
    if (schema === undefined || value === undefined || isNone(field, value)) continue;
    if (name === 'certificateId' && typeof value === 'number') {
      const { written, remark } = certificateOf(context, value);
      Object.assign(spec, written);
      if (remark !== undefined) remarks.push({ at: [], text: remark });
      continue;
    }
    if (!context.fits(schema, value)) {
      remarks.push({
        at: [],
        text: `${path} is left out, and so not managed: a manifest cannot hold ${JSON.stringify(value)}.`,
      });
    } else if (path.startsWith('autoSsl.')) autoSsl[path.slice('autoSsl.'.length)] = value;
    else spec[path] = value;
  }
  return Object.keys(autoSsl).length === 0 ? spec : { ...spec, autoSsl };
}

/** Returns the certificate by its alias if that is unique in the team; by its number otherwise. */
function certificateOf({ live, fits }: ExportContext, id: number): { written: JsonObject; remark?: string } {
  const byNumber = fits(properties.certificateId, id)
    ? { written: { certificateId: id } }
    : { written: {}, remark: `certificateId is left out, and so not managed: a manifest cannot hold ${id}.` };
  if (live.certificates === 'not-asked' || !live.certificates.readable) return byNumber;
  const { value: certificates } = live.certificates;
  const found = certificates.find((certificate) => certificate.id === id);
  if (found === undefined)
    return { written: {}, remark: `certificateId is left out, and so not managed: the team has no certificate ${id}.` };
  const namesakes = certificates.filter(({ alias }) => alias === found.alias).length;
  return namesakes === 1 && fits(properties.certificate, found.alias)
    ? { written: { certificate: found.alias } }
    : byNumber;
}

/** Returns the schema of a field by its path in the spec: `autoSsl.enabled`. */
function schemaAt(path: string): JsonObject | undefined {
  let schema: JsonObject | undefined = httpGatewayRuleSchema;
  for (const step of path.split('.'))
    schema = (schema?.['properties'] as Record<string, JsonObject> | undefined)?.[step];
  return schema;
}

function byKey(left: RuleRecord, right: RuleRecord): number {
  const [a, b] = [sortKey(left), sortKey(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortKey({ domain, path, port, serviceId, ruleId }: RuleRecord): string {
  return [domain.toLowerCase(), path, serviceId, String(port).padStart(5, '0'), ruleId].join(' ');
}
