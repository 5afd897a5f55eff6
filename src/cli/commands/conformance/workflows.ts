import { installWorkflows } from './install-workflows.ts';
import { portWorkflows } from './port-workflows.ts';
import { ruleWorkflows } from './rule-workflows.ts';
import { sceneOf } from './scene.ts';
import { hasNeeds, partsOf, type Suite } from './suite.ts';

export async function checkWorkflows(suite: Suite): Promise<void> {
  const part = partsOf(suite);
  for (const { id, title, needs = [], run } of [...portWorkflows, ...ruleWorkflows, ...installWorkflows]) {
    if (suite.signal.aborted) return;
    if (hasNeeds(suite, id, title, needs)) await part(id, title, () => run(sceneOf(suite)));
  }
}
