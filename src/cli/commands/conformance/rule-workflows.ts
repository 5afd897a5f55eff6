import { join } from 'node:path';
import type { PortActionFields } from '../../../kinds/component/requests.ts';
import { PRUNE, type Scene, type Workflow } from './scene.ts';

/** Workflows with rules. */
export const ruleWorkflows: readonly Workflow[] = [
  {
    id: 'edited-rule',
    title: 'a rule that was edited in place is healed',
    needs: ['rules'],
    async run(scene) {
      const { idsText, plan, apply, check } = scene;
      const { ruleId, domain, edited } = await editedRule(scene, 'edited-heal');
      await plan('edited-rule-seen', 'the plan shows the edit', 2);
      await apply('edited-rule-healed', 'apply takes the edit back');
      const state = `${await idsText(domain)}; ${await idsText(edited)}`;
      check('edited-rule-state', 'the rule afterwards: one, with the former id', `${ruleId}; none`, state);
    },
  },
  {
    id: 'edited-prune',
    title: 'a removal of a rule that was edited in place is held',
    needs: ['rules'],
    async run(scene) {
      const { ruleId, edited } = await editedRule(scene, 'edited-prune');
      scene.want();
      await scene.apply('edited-prune-held', 'prune of an edited rule is held', 4, ...PRUNE);
      scene.check('edited-prune-state', 'the edited rule stays', ruleId, await scene.idsText(edited));
    },
  },
  {
    id: 'activity',
    title: 'an http rule whose port becomes tcp and http again',
    needs: ['rules'],
    run: followsActivity,
  },
  { id: 'on-tcp', title: 'an http rule that is created on a tcp port', needs: ['rules'], run: createsOnTcp },
  {
    id: 'prune',
    title: 'prune removes a rule and nothing else',
    needs: ['rules'],
    async run({ domain, rule, want, apply, check, rulesOf, countText }) {
      const [kept, removed] = [domain('prune-kept'), domain('prune-removed')];
      want(rule(kept), rule(removed));
      await apply('prune-begin', 'apply two rules');
      want(rule(kept));
      await apply('prune-without', 'apply without --prune');
      const left = (await rulesOf(removed)).length === 1 ? 'one rule' : 'no rule';
      check('prune-nothing', 'nothing is removed without --prune', 'one rule', left);
      await apply('prune', 'apply --prune', 0, ...PRUNE);
      check('prune-state', 'the rules afterwards', '1 kept, 0 removed', await countText({ kept, removed }));
    },
  },
  {
    id: 'adopt',
    title: 'a rule that exists is adopted',
    needs: ['rules'],
    async run({ port, domain: domainOf, rule, createRule, want, apply, plan, check, idsText }) {
      const domain = domainOf('adopted');
      want();
      await apply('adopt-begin', 'apply the port');
      await createRule({ port, domain, path: '/' });
      const before = await idsText(domain);
      want(rule(domain));
      await apply('adopt-held', 'a rule that is not ours is held', 4);
      await apply('adopt', 'apply --adopt', 0, '--adopt');
      await plan('adopt-again', 'the plan afterwards is empty');
      check('adopt-state', 'it is the same rule', before, await idsText(domain));
    },
  },
  {
    id: 'weights',
    title: 'one domain and path on two components',
    needs: ['rules', 'two components'],
    async run({ components, domain: domainOf, component, rule, want, apply, plan, check, rulesOf }) {
      const domain = domainOf('weighs');
      const second = component({}, { serviceId: components[1] }, 'second');
      const other = rule(domain, { component: 'second', weight: 30 }, 'weighs-second');
      want(second, rule(domain, { weight: 70 }), other);
      await apply('weights', 'apply both rules');
      await plan('weights-again', 'the plan afterwards is empty');
      check('weights-state', 'the rules afterwards', '2', String((await rulesOf(domain)).length));
    },
  },
  {
    id: 'export',
    title: 'export, and an empty plan of what it wrote',
    needs: ['rules'],
    async run({ app: { team, region, appId }, place, domain, rule, want, apply, checkExit }) {
      want(rule(domain('exported'), { weight: 40, cookie: 'a=1' }));
      await apply('export-begin', 'apply before the export');
      const folder = join(place.folder, 'exported');
      const run = await place.run('export', '--app', `default/${team}/${region}/${appId}`, '--to', folder);
      checkExit('export', 'export proves that its plan is empty', 0, run);
      const again = await place.run('plan', '-f', folder, '--ledger', 'none', '--detailed-exitcode');
      checkExit('export-again', 'the plan of what was exported is empty', 0, again);
    },
  },
  {
    id: 'certified',
    title: 'http and https for one domain and path',
    needs: ['rules', 'certificate'],
    async run({ certificateId, domain: domainOf, rule, want, apply, plan, check, rulesOf }) {
      const domain = domainOf('certified');
      want(rule(domain), rule(domain, { certificateId }, 'certified-https'));
      await apply('certified', 'apply an http and an https rule for one domain and path');
      await plan('certified-again', 'the plan afterwards is empty');
      check('certified-state', 'the rules afterwards', '2', String((await rulesOf(domain)).length));
    },
  },
  {
    // A field that only a creation can set is changed by deletion and creation, if the manifest allows it.
    id: 'recreate',
    title: 'a changed configuration, recreated',
    needs: ['rules'],
    async run({ domain: domainOf, rule, want, apply, plan, check, rulesOf }) {
      const domain = domainOf('recreates');
      const wantTimeout = (proxyReadTimeout: number): void =>
        want(rule(domain, { onImmutableChange: 'recreate', configuration: { proxyReadTimeout } }));
      wantTimeout(61);
      await apply('recreate-begin', 'apply a rule with a configuration');
      const [before] = await rulesOf(domain);
      wantTimeout(62);
      await apply('recreate', 'another configuration, with onImmutableChange: recreate');
      await plan('recreate-again', 'the plan afterwards is empty');
      const after = await rulesOf(domain);
      const id = after[0]?.ruleId === before?.ruleId ? 'the former id' : 'a new id';
      check('recreate-state', 'the rule afterwards', '1 rule, a new id', `${after.length} rule, ${id}`);
    },
  },
  {
    id: 'configuration',
    title: 'a changed configuration is not reported as applied',
    async run({ app, isExtended, domain: domainOf, leave, rule, want, apply, check, idsText }) {
      const domain = domainOf('configured');
      want(rule(domain, { configuration: { proxyReadTimeout: 61 } }));
      await apply('configuration-begin', 'apply a rule with a configuration');
      const before = await idsText(domain);
      want(rule(domain, { configuration: { proxyReadTimeout: 62 } }));
      await apply('configuration', 'another configuration is held', 4);
      if (isExtended) check('configuration-state', 'the rule stays', before, await idsText(domain));
      else leave(`rule ${domain}/ of application ${app.appId}`);
    },
  },
];

/** Applies one rule and edits it in place. @returns its id, its domain and the domain after the edit. */
async function editedRule(
  { port, domain: domainOf, rule, want, apply, rulesOf, updateRule }: Scene,
  name: string,
): Promise<{ readonly ruleId: string; readonly domain: string; readonly edited: string }> {
  const [domain, edited] = [domainOf(name), domainOf(`${name}-edited`)];
  want(rule(domain));
  await apply(`${name}-begin`, 'apply before the edit');
  const ruleId = (await rulesOf(domain))[0]?.ruleId ?? '';
  await updateRule(ruleId, { port, domain: edited, path: '/' });
  return { ruleId, domain, edited };
}

/** Returns whether a rule is shown as active. */
async function activityOf({ rulesOf }: Scene, domain: string): Promise<string> {
  const [rule] = await rulesOf(domain);
  return rule === undefined ? 'no rule' : rule.outer ? 'active' : 'inactive';
}

async function inConsole({ changePort, port }: Scene, ...changes: readonly PortActionFields[]): Promise<void> {
  for (const change of changes) await changePort(port, change);
}

const TO_HTTP = { action: 'change_protocol', protocol: 'http' } as const;
const TO_TCP = { action: 'change_protocol', protocol: 'tcp' } as const;

/**
 * Changes the port of an http rule to tcp and back. The rule is active only while the platform serves it, and Portolan
 * must never assume otherwise.
 */
async function followsActivity(scene: Scene): Promise<void> {
  const { rule, want, write, application, component, place, apply } = scene;
  const domain = scene.domain('activity');
  const checkActivity = async (id: string, title: string, wanted: string): Promise<void> =>
    void scene.check(`activity-${id}-state`, `the rule, ${title}`, wanted, await activityOf(scene, domain));
  want(rule(domain));
  await apply('activity-begin', 'apply a rule on an http port');
  await checkActivity('begin', 'on an http port', 'active');

  write(application(), component({ protocol: 'tcp' }), rule(domain));
  await apply('activity-held', 'a protocol change under a rule is held', 4);
  await checkActivity('held', 'its port still http', 'active');

  await inConsole(scene, { action: 'close_outer' }, TO_TCP, { action: 'open_outer' });
  await checkActivity('tcp', 'its port closed, changed to tcp and opened in the console', 'inactive');
  await apply('activity-tcp', 'an inactive rule is not in sync', 4);

  await inConsole(scene, TO_HTTP);
  await checkActivity('switched', 'its open port changed to http in the console', 'inactive');
  want(rule(domain));
  const run = await place.apply();
  await checkActivity('healed', 'after apply', 'active');
  // The endpoint of the former protocol stays, and no action of a port removes it while the port is http.
  scene.checkExit('activity-healed', 'apply activates the rule, and reports the endpoint', 4, run);
  await scene.deleteRules(domain);
}

/**
 * Creates rules on a tcp port. A creation makes an active rule on any open port; a creation that opens the port also
 * enables its other rules.
 */
async function createsOnTcp(scene: Scene): Promise<void> {
  const { port, rule, write, application, component, apply, check } = scene;
  const [first, second] = [scene.domain('on-tcp'), scene.domain('on-tcp-second')];
  write(application(), component({ protocol: 'tcp' }), rule(first));
  await apply('on-tcp', 'apply a rule on a tcp port');
  check('on-tcp-state', 'a rule created on a tcp port', 'active', await activityOf(scene, first));
  await scene.plan('on-tcp-again', 'the plan after it is empty');
  await inConsole(scene, TO_HTTP, { action: 'close_outer' }, TO_TCP, { action: 'open_outer' });
  await scene.createRule({ port, domain: second, path: '/', open: true });
  const shown = `${await activityOf(scene, first)}, ${await activityOf(scene, second)}`;
  check('on-tcp-opened', 'an inactive rule, and one that opens the port', 'active, active', shown);
  await scene.deleteRules(first, second);
}
