import { type PortActionFields, updatePort } from '../../../kinds/component/requests.ts';
import { createRule, deleteRule } from '../../../kinds/http-gateway-rule/requests.ts';
import { idsOf, type Scene } from './scene.ts';

/** Whether a rule is shown as active. */
async function activityOf({ ground }: Scene, domain: string): Promise<string> {
  const listed = await ground.server.client.rules(ground.app);
  const rule = listed.readable ? listed.value.find((candidate) => candidate.domain === domain) : undefined;
  return rule === undefined ? 'no rule' : rule.outer ? 'active' : 'inactive';
}

async function inConsole({ ground, port }: Scene, ...changes: readonly PortActionFields[]): Promise<void> {
  const { server, app, components } = ground;
  for (const change of changes) await server.send(updatePort({ app, serviceId: components[0], port, change }));
}

/** An http rule whose port becomes tcp and http again: active only while the platform serves it, and never taken for that. */
export async function followsActivity(scene: Scene): Promise<void> {
  const { ground, place, base, rule, findings, expectExit } = scene;
  const domain = ground.domain('activity');
  const expectActivity = async (id: string, title: string, wanted: string): Promise<void> => {
    findings.check(`workflows/activity-${id}-state`, `the rule, ${title}`, wanted, await activityOf(scene, domain));
  };
  place.write([...base(), rule(domain)]);
  expectExit('workflows/activity-begin', 'apply a rule on an http port', 0, await place.apply());
  await expectActivity('begin', 'on an http port', 'active');

  place.write([...base({ protocol: 'tcp' }), rule(domain)]);
  expectExit('workflows/activity-held', 'a protocol change under a rule is held', 4, await place.apply());
  await expectActivity('held', 'its port still http', 'active');

  const toTcp = { action: 'change_protocol', protocol: 'tcp' } as const;
  await inConsole(scene, { action: 'close_outer' }, toTcp, { action: 'open_outer' });
  await expectActivity('tcp', 'its port closed, changed to tcp and opened in the console', 'inactive');
  expectExit('workflows/activity-tcp', 'an inactive rule is not in sync', 4, await place.apply());

  await inConsole(scene, { action: 'change_protocol', protocol: 'http' });
  await expectActivity('switched', 'its open port changed to http in the console', 'inactive');
  place.write([...base(), rule(domain)]);
  const run = await place.apply();
  await expectActivity('healed', 'after apply', 'active');
  // The endpoint of the former protocol is left, and no action of a port removes it while the port is http.
  expectExit('workflows/activity-healed', 'apply activates the rule, and reports the endpoint', 4, run);
  for (const ruleId of await idsOf(ground, domain)) await ground.server.send(deleteRule({ app: ground.app, ruleId }));
}

/** A creation makes an active rule on any open port; one that opens its port enables the others there too. */
export async function createsOnTcp(scene: Scene): Promise<void> {
  const { ground, place, base, rule, findings, expectExit } = scene;
  const { server, app, components } = ground;
  const domain = ground.domain('on-tcp');
  place.write([...base({ protocol: 'tcp' }), rule(domain)]);
  expectExit('workflows/on-tcp', 'apply a rule on a tcp port', 0, await place.apply());
  findings.check('workflows/on-tcp-state', 'a rule created on a tcp port', 'active', await activityOf(scene, domain));
  expectExit('workflows/on-tcp-again', 'the plan after it is empty', 0, await place.plan());
  const toHttp = { action: 'change_protocol', protocol: 'http' } as const;
  const toTcp = { action: 'change_protocol', protocol: 'tcp' } as const;
  await inConsole(scene, toHttp, { action: 'close_outer' }, toTcp, { action: 'open_outer' });
  const second = ground.domain('on-tcp-second');
  const fields = { serviceId: components[0], port: scene.port, domain: second, path: '/', open: true };
  await server.send(createRule({ app, rule: fields }));
  const shown = `${await activityOf(scene, domain)}, ${await activityOf(scene, second)}`;
  findings.check('workflows/on-tcp-opened', 'an inactive rule, and one that opens the port', 'active, active', shown);
  for (const name of [domain, second])
    for (const ruleId of await idsOf(ground, name)) await server.send(deleteRule({ app, ruleId }));
}
