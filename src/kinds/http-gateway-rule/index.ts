import { defineKind } from '../define.ts';
import { recordedAs } from '../reconciled.ts';
import { withRemovalMarks } from './asserted.ts';
import { ruleCalls } from './calls.ts';
import { diffRule } from './diff.ts';
import { exportRules } from './export.ts';
import { fulfilOwed } from './owed.ts';
import { withdrawRule } from './withdraw.ts';
import { undoRule } from './undo.ts';
import { GATEWAY_RULE } from './name.ts';
import { ruleView } from './view.ts';

export const ruleKind = defineKind({
  kind: GATEWAY_RULE,
  order: 30,
  adoptsById: 'http_rule_id',
  access: { keysBeginWith: 'rule/', closes: 'close_outer' },
  diff: diffRule,
  withdraw: withdrawRule,
  withRemovalMarks: (object, resource) => {
    const remoteAux = withRemovalMarks(object.remoteAux, resource);
    return remoteAux && recordedAs(object, { remoteAux });
  },
  undo: undoRule,
  owed: fulfilOwed,
  calls: ruleCalls,
  view: ruleView,
  exported: exportRules,
});
