import type { KindDeclaration } from '../../kinds/kind.ts';
import { checkSettings } from './check.ts';
import { settingsExamples } from './examples.ts';
import { type SettingsSpec, settingsSchema } from './spec.ts';

export const settingsDeclaration: KindDeclaration<SettingsSpec> = {
  kind: 'Settings',
  trust: 'operator',
  description: settingsSchema.description,
  defaultName: 'default',
  effects: [],
  specSchema: settingsSchema,
  examples: settingsExamples,
  references: () => [],
  check: checkSettings,
  // A constant, because there is one set of settings whatever its document is called.
  identities: () => [{ key: 'settings', path: '' }],
};
