import { ADDRESS, CREATION_ONLY, type DialectEffect, type FieldEffect, inBoth, LOCAL } from '../field-effects.ts';
import { ruleFields } from './fields.ts';

/** The documented dialect neither changes nor shows a rule. */
const UNSEEN: DialectEffect = { change: 'hold', readBack: 'never' };

/** What the diff goes by (`fields.ts`), and the fields that say which rule is meant. */
export const ruleEffects: readonly FieldEffect[] = [
  ...['application', 'component', 'port', 'domain', 'path'].map(
    (name): FieldEffect => ({ path: `spec.${name}`, documented: { ...ADDRESS, readBack: 'never' }, extended: ADDRESS }),
  ),
  ...ruleFields.map(
    ({ path, change, readBack }): FieldEffect => ({
      path: `spec.${path}`,
      documented: UNSEEN,
      extended: { change, readBack },
    }),
  ),
  // Looked up and sent as the number.
  { path: 'spec.certificate', documented: UNSEEN, extended: { change: 'update', readBack: 'own listing' } },
  inBoth('spec.openOuter', CREATION_ONLY),
  inBoth('spec.onImmutableChange', LOCAL),
];
