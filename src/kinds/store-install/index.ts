import { defineKind } from '../define.ts';
import { cannotUndo } from '../undo.ts';
import { installCalls } from './calls.ts';
import { diffInstall, withdrawInstall } from './diff.ts';
import { exportInstalls } from './export.ts';
import { copyHold, firstHolds, refusedHold } from './holds.ts';
import { STORE_INSTALL } from './name.ts';
import { installView } from './view.ts';

export const installKind = defineKind({
  kind: STORE_INSTALL,
  order: 10,
  diff: diffInstall,
  withdraw: withdrawInstall,
  undo: () => cannotUndo('Portolan never removes an install, and the platform has no downgrade'),
  calls: installCalls,
  view: installView,
  adoption: 'An install is adopted by apply --adopt StoreInstall/name.',
  firstHolds,
  copyHold,
  refusedHold,
  exported: exportInstalls,
});
