import type { KindDeclaration } from '../kind.ts';
import { checkRule, ruleIdentities } from './check.ts';
import { ruleEffects } from './effects.ts';
import { httpGatewayRuleExamples } from './examples.ts';
import { type HttpGatewayRuleSpec, httpGatewayRuleSchema } from './spec.ts';

export const httpGatewayRuleDeclaration: KindDeclaration<HttpGatewayRuleSpec> = {
  kind: 'HttpGatewayRule',
  trust: 'manifest',
  description: httpGatewayRuleSchema.description,
  effects: ruleEffects,
  specSchema: httpGatewayRuleSchema,
  examples: httpGatewayRuleExamples,
  references: (spec) => [
    { path: 'spec.application', to: `Application/${spec.application}`, trust: 'manifest' },
    { path: 'spec.component', to: `Component/${spec.component}`, trust: 'manifest' },
  ],
  check: checkRule,
  identities: ruleIdentities,
};
