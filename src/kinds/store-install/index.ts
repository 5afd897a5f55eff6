import { defineKind } from '../define.ts';
import { installCalls } from './calls.ts';
import { diffInstall, withdrawInstall } from './diff.ts';
import { exportInstalls } from './export.ts';

export const installKind = defineKind({
  kind: 'StoreInstall',
  order: 10,
  diff: diffInstall,
  withdraw: withdrawInstall,
  calls: installCalls,
  exported: exportInstalls,
});
