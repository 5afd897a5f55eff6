import {
  ADDRESS,
  type ChangeEffect,
  CREATION_ONLY,
  type DialectEffect,
  type FieldEffect,
  inBoth,
  LOCAL,
  type ReadBack,
} from '../field-effects.ts';
import { type RuleField, ruleFields } from './fields.ts';

const CHANGES = {
  changes: 'update',
  sets: 'update-not-clear',
  keeps: 'recreate-or-hold',
} as const satisfies Record<RuleField['update'], ChangeEffect>;

const SHOWN = {
  'own-listing': 'own listing',
  'all-rules': 'listing of all rules',
  never: 'never',
} as const satisfies Record<RuleField['shownBy'], ReadBack>;

/** The documented dialect neither changes nor shows a rule. */
const UNSEEN: DialectEffect = { change: 'hold', readBack: 'never' };

/** What the diff goes by (`fields.ts`), and the fields that say which rule is meant. */
export const ruleEffects: readonly FieldEffect[] = [
  ...['application', 'component', 'port', 'domain', 'path'].map(
    (name): FieldEffect => ({ path: `spec.${name}`, documented: { ...ADDRESS, readBack: 'never' }, extended: ADDRESS }),
  ),
  ...ruleFields.map(
    ({ path, update, shownBy }): FieldEffect => ({
      path: `spec.${path}`,
      documented: UNSEEN,
      extended: { change: CHANGES[update], readBack: SHOWN[shownBy] },
    }),
  ),
  // Looked up and sent as the number.
  { path: 'spec.certificate', documented: UNSEEN, extended: { change: 'update', readBack: 'own listing' } },
  inBoth('spec.openOuter', CREATION_ONLY),
  inBoth('spec.onImmutableChange', LOCAL),
];
