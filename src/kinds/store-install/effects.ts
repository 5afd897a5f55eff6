import { ADDRESS, CREATION_ONLY, type FieldEffect, inBoth, LOCAL } from '../field-effects.ts';

/** An install happens once. Only its version changes afterwards, and only the images of the components show that. */
export const installEffects: readonly FieldEffect[] = [
  inBoth('spec.application', ADDRESS),
  inBoth('spec.store', { change: 'hold', readBack: 'never' }),
  {
    path: 'spec.model.id',
    documented: { change: 'hold', readBack: 'never' },
    extended: { change: 'hold', readBack: 'own listing' },
  },
  {
    path: 'spec.model.version',
    documented: { change: 'hold', readBack: 'never' },
    extended: { change: 'update', readBack: 'images of the components' },
  },
  inBoth('spec.build', CREATION_ONLY),
  inBoth('spec.wait', LOCAL),
  inBoth('spec.allowSecondCopy', LOCAL),
];
