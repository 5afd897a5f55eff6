import { defineKind } from '../define.ts';
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
  calls: installCalls,
  view: installView,
  adoption: 'An install is adopted by apply --adopt StoreInstall/name.',
  firstHolds,
  copyHold,
  refusedHold,
  exported: exportInstalls,
});
