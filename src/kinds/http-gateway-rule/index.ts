import { defineKind } from '../define.ts';
import { ruleCalls } from './calls.ts';
import { diffRule } from './diff.ts';
import { exportRules } from './export.ts';
import { fulfilOwed } from './owed.ts';
import { withdrawRule } from './withdraw.ts';

export const ruleKind = defineKind({
  kind: 'HttpGatewayRule',
  order: 30,
  diff: diffRule,
  withdraw: withdrawRule,
  owed: fulfilOwed,
  calls: ruleCalls,
  exported: exportRules,
});
