import { defineKind } from '../define.ts';
import { componentCalls } from './calls.ts';
import { diffComponent, withdrawComponent } from './diff.ts';
import { exportComponents } from './export.ts';

export const componentKind = defineKind({
  kind: 'Component',
  order: 20,
  diff: diffComponent,
  withdraw: withdrawComponent,
  calls: componentCalls,
  exported: exportComponents,
});
