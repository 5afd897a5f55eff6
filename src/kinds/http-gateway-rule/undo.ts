import type { Json, JsonObject } from '../../model/json.ts';
import { kindName } from '../../model/ids.ts';
import type { FieldChange } from '../../model/plan.ts';
import { componentKey } from '../component/steps.ts';
import { cannotUndo, isNoValue, type PastWrite, type UndoContext, type Undoing } from '../undo.ts';
import { ruleFields } from './fields.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { addressOf, type RuleStep } from './steps.ts';

/** Returns the spec of a rule once a write is undone. @param spec undefined: no manifest describes the rule. */
export function undoRule(
  write: PastWrite<RuleStep>,
  spec: HttpGatewayRuleSpec | undefined,
  context: UndoContext,
): Undoing<HttpGatewayRuleSpec> {
  const { step, changes } = write;
  switch (step.type) {
    case 'create':
      return step.again === undefined ? { type: 'removed' } : cannotUndo('the rule was deleted and created again');
    case 'recreate':
      return cannotUndo('the rule was deleted and created again');
    case 'restore':
      return cannotUndo('the rule got its former values back and is no longer managed');
    case 'close_outer':
      return cannotUndo(`list port ${step.port} with outer: true in the manifest of its component`);
    case 'delete':
      return recreated(write, step.key, context);
    case 'update':
      if (spec === undefined) return cannotUndo('no manifest describes the rule');
      return changes.reduce<Undoing<HttpGatewayRuleSpec>>(
        (done, change) => (done.type === 'spec' ? withField(done.spec, change) : done),
        { type: 'spec', spec },
      );
  }
}

function withField(spec: HttpGatewayRuleSpec, { path, before }: FieldChange): Undoing<HttpGatewayRuleSpec> {
  if (isNoValue(before) || (path === 'certificateId' && before === 0))
    return cannotUndo(`${path} had no value, and an update cannot clear it`);
  // The alias of a certificate and its number are never together.
  const { certificate, ...rest } = spec;
  const kept = path === 'certificateId' || certificate === undefined ? rest : { ...rest, certificate };
  return { type: 'spec', spec: set(kept as unknown as JsonObject, path, before as Json) };
}

/** Returns the manifest of a deleted rule: what the platform showed, and what was last sent of the values that it does not show. */
function recreated(
  { changes, creation, updates }: PastWrite<RuleStep>,
  key: string,
  { application, resourceOf }: UndoContext,
): Undoing<HttpGatewayRuleSpec> {
  const address = addressOf(key);
  const component = address && resourceOf(componentKey(address.serviceId));
  if (address === undefined || component === undefined) return cannotUndo('the ledger does not know its component');
  if (creation?.type !== 'create')
    return cannotUndo('the ledger no longer has its creation, so its configuration is unknown');
  const sent = creation.rule;
  const { port, domain, path } = address;
  const identity = { application, component: component.slice(kindName(component).length + 1), port, domain, path };
  let spec: JsonObject = { ...identity, onImmutableChange: 'hold' };
  for (const field of ruleFields) {
    const shown = changes.find((change) => change.path === field.path)?.before;
    const update = updates.findLast((change) => change.path === field.path);
    const last = update === undefined ? (sent[field.name] as Json | undefined) : update.after;
    const value = field.readBack === 'own listing' ? shown : last;
    const isNone = isNoValue(value) || value === field.none || (Array.isArray(value) && value.length === 0);
    if (!isNone) spec = set(spec, field.path, value as Json) as unknown as JsonObject;
  }
  return { type: 'spec', spec: spec as unknown as HttpGatewayRuleSpec };
}

/** Returns a spec with one field, at `weight` or `autoSsl.enabled`. */
function set(spec: JsonObject, path: string, value: Json): HttpGatewayRuleSpec {
  const [first = path, second] = path.split('.');
  const member = second === undefined ? value : { ...(spec[first] as JsonObject | undefined), [second]: value };
  return { ...spec, [first]: member } as unknown as HttpGatewayRuleSpec;
}
