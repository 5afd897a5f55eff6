import { defineKind } from '../define.ts';
import { componentCalls } from './calls.ts';
import { diffComponent } from './diff.ts';
import { exportComponents } from './export.ts';
import { monitoredId } from './identity.ts';
import { markedComponent, withdrawComponent } from './withdraw.ts';
import { undoComponent } from './undo.ts';
import { COMPONENT } from './name.ts';
import { componentView } from './view.ts';

export const componentKind = defineKind({
  kind: COMPONENT,
  order: 20,
  diff: diffComponent,
  withdraw: withdrawComponent,
  withRemovalMarks: markedComponent,
  undo: undoComponent,
  calls: componentCalls,
  view: componentView,
  monitoredId,
  adoption: 'Ports need no adoption.',
  access: {
    opens: 'open_outer',
    closes: 'close_outer',
    isOpen: ({ outer }) => outer === true,
    listed: ({ ports }) => {
      const access = ports.filter(({ outer }) => outer === true).length;
      return { access, other: ports.length - access };
    },
  },
  exported: exportComponents,
});
