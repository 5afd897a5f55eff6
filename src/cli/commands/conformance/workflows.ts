import { createsOnTcp, followsActivity } from './activity-workflows.ts';
import type { Findings } from './findings.ts';
import type { Ground } from './ground.ts';
import { holdsUnconfirmed, refusesInstall, upgrades } from './install-workflows.ts';
import {
  applies,
  changesProtocols,
  healsPort,
  keepsAway,
  prunesPort,
  releasesMoved,
  swapsAliases,
} from './port-workflows.ts';
import type { Workplace } from './product.ts';
import {
  adopts,
  certifies,
  exports,
  healsEditedRule,
  holdsConfiguration,
  holdsEditedRemoval,
  prunes,
  recreates,
  weighs,
} from './rule-workflows.ts';
import { type Scene, sceneOf } from './scene.ts';

interface Workflow {
  readonly id: string;
  readonly title: string;
  /** Rules can be listed and changed. */
  readonly needsRules?: true;
  readonly needsStore?: true;
  readonly needsTwoComponents?: true;
  run(scene: Scene): Promise<void>;
}

const WORKFLOWS: readonly Workflow[] = [
  { id: 'apply', title: 'apply, and an empty plan afterwards', run: applies },
  { id: 'drift', title: 'drift of a port is seen and healed', run: healsPort },
  { id: 'protocols', title: 'protocol changes with outer access open', run: changesProtocols },
  { id: 'aliases', title: 'two ports swap their aliases', run: swapsAliases },
  { id: 'edited-rule', title: 'a rule that was edited in place is healed', needsRules: true, run: healsEditedRule },
  {
    id: 'edited-prune',
    title: 'a removal of a rule that was edited in place is held',
    needsRules: true,
    run: holdsEditedRemoval,
  },
  {
    id: 'activity',
    title: 'an http rule whose port becomes tcp and http again',
    needsRules: true,
    run: followsActivity,
  },
  { id: 'on-tcp', title: 'an http rule that is created on a tcp port', needsRules: true, run: createsOnTcp },
  { id: 'prune', title: 'prune removes a rule and nothing else', needsRules: true, run: prunes },
  { id: 'adopt', title: 'a rule that exists is adopted', needsRules: true, run: adopts },
  {
    id: 'weights',
    title: 'one domain and path on two components',
    needsRules: true,
    needsTwoComponents: true,
    run: weighs,
  },
  { id: 'export', title: 'export, and an empty plan of what it wrote', needsRules: true, run: exports },
  {
    id: 'certified',
    title: 'http and https for one domain and path',
    needsRules: true,
    run: certifies,
  },
  {
    id: 'recreate',
    title: 'a changed configuration, recreated',
    needsRules: true,
    run: recreates,
  },
  {
    id: 'prune-port',
    title: 'prune removes a port that was created, and leaves one that was found',
    needsRules: true,
    run: prunesPort,
  },
  {
    id: 'configuration',
    title: 'a changed configuration is not reported as applied',
    run: holdsConfiguration,
  },
  {
    id: 'other-application',
    title: 'a component of another application is not written to',
    needsRules: true,
    run: keepsAway,
  },
  { id: 'upgrade', title: 'an install and its upgrade', needsRules: true, needsStore: true, run: upgrades },
  {
    id: 'moved-component',
    title: 'a component that moved to another application',
    needsRules: true,
    needsStore: true,
    run: releasesMoved,
  },
  {
    id: 'unconfirmed',
    title: 'a first install that nobody confirmed',
    needsStore: true,
    run: holdsUnconfirmed,
  },
  {
    id: 'refused-install',
    title: 'a refused install is a failure, and not in doubt',
    needsStore: true,
    run: refusesInstall,
  },
];

export async function checkWorkflows(
  ground: Ground,
  findings: Findings,
  open: () => Workplace,
  signal: AbortSignal,
): Promise<void> {
  for (const { id, title, needsRules, needsStore, needsTwoComponents, run } of WORKFLOWS) {
    if (signal.aborted) return;
    const lacks =
      (needsRules === true && !ground.isExtended && 'the server cannot list, change or delete rules') ||
      (needsStore === true && ground.store === undefined && 'no store was given') ||
      (needsTwoComponents === true && ground.components.length < 2 && 'the application has only one component');
    if (lacks) findings.skip(`workflows/${id}`, title, lacks);
    else await run(sceneOf(ground, findings, open()));
  }
}
