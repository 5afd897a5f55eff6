import type { KindDeclaration, Reference } from '../kind.ts';
import { checkComponent, componentIdentities } from './check.ts';
import { componentEffects } from './effects.ts';
import { componentExamples } from './examples.ts';
import { type ComponentSpec, componentSchema } from './spec.ts';

export const componentDeclaration: KindDeclaration<ComponentSpec> = {
  kind: 'Component',
  trust: 'manifest',
  description: componentSchema.description,
  effects: componentEffects,
  specSchema: componentSchema,
  examples: componentExamples,
  references,
  check: checkComponent,
  identities: componentIdentities,
};

function references(spec: ComponentSpec): readonly Reference[] {
  const application: Reference = { path: 'spec.application', to: `Application/${spec.application}`, trust: 'manifest' };
  if (spec.from === undefined) return [application];
  return [application, { path: 'spec.from.install', to: `StoreInstall/${spec.from.install}`, trust: 'manifest' }];
}
