import { createRule, updateRule } from '../../../kinds/http-gateway-rule/requests.ts';
import { COMPONENT } from '../../../kinds/component/name.ts';
import { join } from 'node:path';
import type { RuleFields } from '../../../platform/rule-wire.ts';
import type { Doc } from './product.ts';
import { idsOf, idsText, type Scene } from './scene.ts';

/** Applies one rule and edits it in place. @returns its id, and the fields of the edited one. */
async function editedRule(
  scene: Scene,
  name: string,
): Promise<{ readonly ruleId: string; readonly domains: readonly [string, string] }> {
  const { ground, place, base, rule, port, expectExit } = scene;
  const { server, app, components } = ground;
  const domains = [ground.domain(name), ground.domain(`${name}-edited`)] as const;
  place.write([...base(), rule(domains[0])]);
  expectExit(`workflows/${name}-begin`, 'apply before the edit', 0, await place.apply());
  const ruleId = (await idsOf(ground, domains[0]))[0] ?? '';
  const edited: RuleFields = { serviceId: components[0], port, domain: domains[1], path: '/' };
  await server.send(updateRule({ app, ruleId, rule: edited }));
  return { ruleId, domains };
}

export async function healsEditedRule(scene: Scene): Promise<void> {
  const { ground, place, findings, expectExit } = scene;
  const { ruleId, domains } = await editedRule(scene, 'edited-heal');
  expectExit('workflows/edited-rule-seen', 'the plan shows the edit', 2, await place.plan());
  expectExit('workflows/edited-rule-healed', 'apply takes the edit back', 0, await place.apply());
  const state = `${await idsText(ground, domains[0])}; ${await idsText(ground, domains[1])}`;
  findings.check(
    'workflows/edited-rule-state',
    'the rule afterwards: one, with the former id',
    `${ruleId}; none`,
    state,
  );
}

export async function holdsEditedRemoval(scene: Scene): Promise<void> {
  const { ground, place, base, findings, expectExit } = scene;
  const { ruleId, domains } = await editedRule(scene, 'edited-prune');
  place.write(base());
  const run = await place.apply('--prune', '--max-share', '1');
  expectExit('workflows/edited-prune-held', 'prune of an edited rule is held', 4, run);
  findings.check('workflows/edited-prune-state', 'the edited rule stays', ruleId, await idsText(ground, domains[1]));
}

export async function prunes({ ground, place, base, rule, findings, expectExit }: Scene): Promise<void> {
  const [kept, removed] = [ground.domain('prune-kept'), ground.domain('prune-removed')];
  place.write([...base(), rule(kept), rule(removed)]);
  expectExit('workflows/prune-begin', 'apply two rules', 0, await place.apply());
  place.write([...base(), rule(kept)]);
  expectExit('workflows/prune-without', 'apply without --prune', 0, await place.apply());
  findings.check(
    'workflows/prune-nothing',
    'nothing is removed without --prune',
    'one rule',
    (await idsOf(ground, removed)).length === 1 ? 'one rule' : 'no rule',
  );
  expectExit('workflows/prune', 'apply --prune', 0, await place.apply('--prune', '--max-share', '1'));
  const left = `${(await idsOf(ground, kept)).length} kept, ${(await idsOf(ground, removed)).length} removed`;
  findings.check('workflows/prune-state', 'the rules afterwards', '1 kept, 0 removed', left);
}

export async function adopts({ ground, place, base, rule, port, findings, expectExit }: Scene): Promise<void> {
  const { server, app, components } = ground;
  const domain = ground.domain('adopted');
  place.write(base());
  expectExit('workflows/adopt-begin', 'apply the port', 0, await place.apply());
  await server.send(createRule({ app, rule: { serviceId: components[0], port, domain, path: '/' } }));
  const before = await idsText(ground, domain);
  place.write([...base(), rule(domain)]);
  expectExit('workflows/adopt-held', 'a rule that is not ours is held', 4, await place.apply());
  expectExit('workflows/adopt', 'apply --adopt', 0, await place.apply('--adopt'));
  expectExit('workflows/adopt-again', 'the plan afterwards is empty', 0, await place.plan());
  findings.check('workflows/adopt-state', 'it is the same rule', before, await idsText(ground, domain));
}

export async function weighs({ ground, place, base, rule, port, findings, expectExit }: Scene): Promise<void> {
  const domain = ground.domain('weighs');
  const second: Doc = {
    kind: COMPONENT,
    name: 'second',
    spec: {
      application: 'app',
      serviceId: ground.components[1],
      ports: [{ port, protocol: 'http', alias: `P${port}`, inner: true, outer: true }],
    },
  };
  const other = rule(domain, { component: 'second', weight: 30 });
  place.write([...base(), second, rule(domain, { weight: 70 }), { ...other, name: 'weighs-second' }]);
  expectExit('workflows/weights', 'apply both rules', 0, await place.apply());
  expectExit('workflows/weights-again', 'the plan afterwards is empty', 0, await place.plan());
  findings.check('workflows/weights-state', 'the rules afterwards', '2', String((await idsOf(ground, domain)).length));
}

export async function exports({ ground, place, base, rule, expectExit }: Scene): Promise<void> {
  const { team, region, appId } = ground.app;
  place.write([...base(), rule(ground.domain('exported'), { weight: 40, cookie: 'a=1' })]);
  expectExit('workflows/export-begin', 'apply before the export', 0, await place.apply());
  const folder = join(place.folder, 'exported');
  const run = await place.run('export', '--app', `default/${team}/${region}/${appId}`, '--to', folder);
  expectExit('workflows/export', 'export proves that its plan is empty', 0, run);
  const again = await place.run('plan', '-f', folder, '--ledger', 'none', '--detailed-exitcode');
  expectExit('workflows/export-again', 'the plan of what was exported is empty', 0, again);
}

export async function holdsConfiguration({ ground, place, base, rule, findings, expectExit }: Scene): Promise<void> {
  const domain = ground.domain('configured');
  place.write([...base(), rule(domain, { configuration: { proxyReadTimeout: 61 } })]);
  expectExit('workflows/configuration-begin', 'apply a rule with a configuration', 0, await place.apply());
  const before = await idsText(ground, domain);
  place.write([...base(), rule(domain, { configuration: { proxyReadTimeout: 62 } })]);
  expectExit('workflows/configuration', 'another configuration is held', 4, await place.apply());
  if (ground.isExtended)
    findings.check('workflows/configuration-state', 'the rule stays', before, await idsText(ground, domain));
  else ground.leave(`rule ${domain}/ of application ${ground.app.appId}`);
}

/** What only a creation takes is changed by a deletion and a creation where the manifest allows it. */
export async function recreates({ ground, place, base, rule, findings, expectExit }: Scene): Promise<void> {
  const domain = ground.domain('recreates');
  const docs = (proxyReadTimeout: number): readonly Doc[] => [
    ...base(),
    rule(domain, { onImmutableChange: 'recreate', configuration: { proxyReadTimeout } }),
  ];
  place.write(docs(61));
  expectExit('workflows/recreate-begin', 'apply a rule with a configuration', 0, await place.apply());
  const before = await idsOf(ground, domain);
  place.write(docs(62));
  expectExit('workflows/recreate', 'another configuration, with onImmutableChange: recreate', 0, await place.apply());
  expectExit('workflows/recreate-again', 'the plan afterwards is empty', 0, await place.plan());
  const after = await idsOf(ground, domain);
  const observed = `${after.length} rule, ${after[0] === before[0] ? 'the former id' : 'a new id'}`;
  findings.check('workflows/recreate-state', 'the rule afterwards', '1 rule, a new id', observed);
}

export async function certifies({ ground, place, base, rule, findings, expectExit }: Scene): Promise<void> {
  const { certificateId } = ground;
  const domain = ground.domain('certified');
  if (certificateId === undefined)
    return findings.skip('workflows/certified', 'http and https for one domain', 'the team has no certificate');
  const https = { ...rule(domain, { certificateId }), name: 'certified-https' };
  place.write([...base(), rule(domain), https]);
  expectExit('workflows/certified', 'apply an http and an https rule for one domain and path', 0, await place.apply());
  expectExit('workflows/certified-again', 'the plan afterwards is empty', 0, await place.plan());
  findings.check(
    'workflows/certified-state',
    'the rules afterwards',
    '2',
    String((await idsOf(ground, domain)).length),
  );
}
