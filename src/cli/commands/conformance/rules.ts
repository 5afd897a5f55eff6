import { addPort, deletePort, updatePort } from '../../../kinds/component/requests.ts';
import { createRule, deleteRule, updateRule } from '../../../kinds/http-gateway-rule/requests.ts';
import { canonicalJson, type Json } from '../../../model/json.ts';
import { paths } from '../../../platform/operations.ts';
import type { RuleFields } from '../../../platform/rule-wire.ts';
import { declaredOf, RULE_FIELDS, RULE_PAIRS, type RuleFieldExpectation, type RuleVariant } from './expectations.ts';
import type { Findings } from './findings.ts';
import type { Ground } from './ground.ts';

const UNKNOWN_RULE = '0c0f0e0d'.repeat(4);

/** A rule as a listing shows it, undecoded. */
type Row = Readonly<Record<string, unknown>>;

/** Creates, reads, updates and deletes rules with every field, and asks for rules that conflict. Needs the extended dialect. */
export async function checkRules(ground: Ground, findings: Findings, signal: AbortSignal): Promise<void> {
  if (!ground.isExtended) {
    findings.skip('rules', 'rules with every field', 'the server cannot list, change or delete rules');
    return;
  }
  const [first, second] = ground.components;
  const port = await openedPort(ground, first);
  for (const row of RULE_FIELDS) if (!signal.aborted) await checkField(ground, findings, { row, port });
  await checkEdited(ground, findings, port);
  await checkRecreated(ground, findings, port);
  await checkPairs(ground, findings, {
    first: port,
    second: second === undefined ? undefined : await openedPort(ground, second),
  });
  await checkOpening(ground, findings);
  await checkDeletion(ground, findings);
}

async function openedPort(ground: Ground, serviceId: string): Promise<number> {
  const { server, app } = ground;
  const port = ground.freePort();
  await server.send(addPort({ app, serviceId, port: { port, protocol: 'http', inner: true, alias: `P${port}` } }));
  // A rule that opens outer access adds no default rule beside itself.
  const rule = { serviceId, port, domain: ground.domain(`opens-${port}`), open: true };
  await server.send(createRule({ app, rule }));
  server.take();
  return port;
}

/** The rules of a domain. */
async function rowsOf(
  ground: Ground,
  domain: string,
  by: 'application' | 'enterprise' = 'application',
): Promise<readonly Row[]> {
  const rows = await ground.server.ask(by === 'application' ? paths.rules(ground.app) : paths.allRules());
  return Array.isArray(rows) ? (rows as Row[]).filter((row) => row['domain_name'] === domain) : [];
}

/** A rule with a field: created, updated to another value, updated without it, deleted. */
async function checkField(
  ground: Ground,
  findings: Findings,
  { row, port }: { readonly row: RuleFieldExpectation; readonly port: number },
): Promise<void> {
  const { server, app } = ground;
  const { field, member } = row;
  const { update, shownBy } = declaredOf(field);
  if (field === 'certificateId' && ground.certificateId === undefined) {
    findings.skip(`rules/${field}`, `rules with ${field}`, 'the team has no certificate');
    return;
  }
  const created = row.created === 'certificate' ? ground.certificateId : row.created;
  const domains = [ground.domain(`${field.toLowerCase()}-a`), ground.domain(`${field.toLowerCase()}-b`)] as const;
  const base: RuleFields = { serviceId: ground.components[0], port, domain: domains[0], path: '/', ...row.with };
  const ruleOf = (value: unknown, domain = domains[0]): RuleFields =>
    field === 'domain' ? { ...base, domain } : { ...base, ...(value === undefined ? {} : { [field]: value }) };
  const shown = async (ruleId: string): Promise<string> => {
    if (shownBy === 'never') return 'not shown';
    const listing = shownBy === 'all-rules' ? ('enterprise' as const) : ('application' as const);
    const rows = (await Promise.all(domains.map((domain) => rowsOf(ground, domain, listing)))).flat();
    const found = rows.find((one) => one['http_rule_id'] === ruleId);
    return found === undefined ? 'no such rule' : wireText(found[member]);
  };
  const expected = (which: 'created' | 'updated'): string => {
    if (shownBy === 'never') return 'not shown';
    if (field === 'domain') return wireText(domains[which === 'created' ? 0 : 1]);
    return wireText(row.shown?.[which] ?? (which === 'created' ? created : row.updated));
  };
  await server.send(createRule({ app, rule: ruleOf(created) }));
  const ruleId = await idOf(ground, domains[0]);
  if (ruleId === undefined) {
    findings.check(`rules/create-${field}`, `creation of a rule with ${field}`, 'one rule', 'no rule');
    return;
  }
  findings.check(`rules/create-${field}`, `creation of a rule with ${field}`, expected('created'), await shown(ruleId));
  if (field !== 'domain' && field !== 'path') {
    await server.send(updateRule({ app, ruleId, rule: { ...base, ...besides(field) } }));
    const kept = row.omitted === 'stays' ? expected('created') : wireText(row.omitted.becomes);
    const title = `update without ${field}: ${row.omitted === 'stays' ? 'stays' : 'is reset'}`;
    findings.check(`rules/omit-${field}`, title, kept, await shown(ruleId));
    await server.send(updateRule({ app, ruleId, rule: ruleOf(created) }));
  }
  await server.send(updateRule({ app, ruleId, rule: ruleOf(row.updated, domains[1]) }));
  const after = update === 'keeps' ? expected('created') : expected('updated');
  findings.check(`rules/update-${field}`, `update of ${field}: ${update}`, after, await shown(ruleId));
  await server.send(deleteRule({ app, ruleId }));
  const left = (await Promise.all(domains.map((domain) => rowsOf(ground, domain)))).flat();
  findings.check(`rules/delete-${field}`, `deletion of a rule with ${field}`, 'no rule', countText(left.length));
}

/** The update that leaves a field out changes another one, which is not the field itself. */
function besides(field: string): Partial<RuleFields> {
  return field === 'weight' ? { cookie: 'other=1' } : { weight: 55 };
}

/** An update may move a rule to another key; its id stays, and its old key is free. */
async function checkEdited(ground: Ground, findings: Findings, port: number): Promise<void> {
  const { server, app, domain } = ground;
  const rule = { serviceId: ground.components[0], port, path: '/' };
  const [from, to] = [domain('edited-from'), domain('edited-to')];
  await server.send(createRule({ app, rule: { ...rule, domain: from } }));
  const ruleId = (await idOf(ground, from)) ?? '';
  await server.send(updateRule({ app, ruleId, rule: { ...rule, domain: to } }));
  findings.check(
    'rules/edit-in-place',
    'another domain for a rule: the id stays',
    ruleId,
    (await idOf(ground, to)) ?? 'none',
  );
  await server.send(createRule({ app, rule: { ...rule, domain: from } }));
  const rows = await rowsOf(ground, from);
  findings.check(
    'rules/edited-key-is-free',
    'creation at the key that an edited rule had',
    'one rule',
    countText(rows.length),
  );
  for (const one of [from, to]) await deleteAll(ground, one);
}

async function checkRecreated(ground: Ground, findings: Findings, port: number): Promise<void> {
  const { server, app } = ground;
  const domain = ground.domain('recreated');
  const rule = { serviceId: ground.components[0], port, path: '/', domain };
  await server.send(createRule({ app, rule: { ...rule, configuration: { proxyReadTimeout: 61 } } }));
  const former = await idOf(ground, domain);
  await server.send(deleteRule({ app, ruleId: former ?? '' }));
  await server.send(createRule({ app, rule: { ...rule, configuration: { proxyReadTimeout: 62 } } }));
  const latter = await idOf(ground, domain);
  const observed = latter === undefined ? 'none' : latter === former ? 'the former id' : 'a new id';
  findings.check('rules/recreate', 'deletion and creation of the same rule', 'a new id', observed);
  await deleteAll(ground, domain);
}

async function checkPairs(
  ground: Ground,
  findings: Findings,
  ports: { readonly first: number; readonly second: number | undefined },
): Promise<void> {
  const { server, app, components, certificateId } = ground;
  for (const pair of RULE_PAIRS) {
    const variants = [pair.first, pair.second];
    const id = `rules/pair-${pair.id}`;
    if (variants.some(({ component }) => component === 'second') && ports.second === undefined) {
      findings.skip(id, pair.title, 'the application has only one component');
      continue;
    }
    if (variants.some(({ certificate }) => certificate) && certificateId === undefined) {
      findings.skip(id, pair.title, 'the team has no certificate');
      continue;
    }
    const domain = ground.domain(`pair-${pair.id}`);
    const ruleOf = ({ component, path = '/', weight, certificate, redirects }: RuleVariant): RuleFields => ({
      serviceId: (component === 'first' ? components[0] : components[1]) ?? '',
      port: (component === 'first' ? ports.first : ports.second) ?? 0,
      domain,
      path,
      ...(weight === undefined ? {} : { weight }),
      ...(certificate && certificateId !== undefined ? { certificateId } : {}),
      ...(redirects ? { extensions: [{ key: 'httptohttps', value: 'true' }] } : {}),
    });
    await server.send(createRule({ app, rule: ruleOf(pair.first) }));
    const verdict = await server.send(createRule({ app, rule: ruleOf(pair.second) }));
    const rows = await rowsOf(ground, domain);
    const isLie = pair.then === 'both' ? /rejected|exists/ : /applied/;
    const answer = isLie.test(verdict.verdict) ? `, answered as ${verdict.verdict}` : '';
    const wanted = pair.then === 'both' ? '2 rules' : 'one rule';
    findings.check(id, pair.title, wanted, `${countText(rows.length)}${answer}`);
    await deleteAll(ground, domain);
  }
}

/** `open` opens outer access of a port, inner access closed or not, and no default rule appears; without it nothing is created. */
async function checkOpening(ground: Ground, findings: Findings): Promise<void> {
  const { server, app } = ground;
  const serviceId = ground.components[0];
  for (const inner of [false, true]) {
    const port = ground.freePort();
    const domain = ground.domain(`opening-${port}`);
    await server.send(addPort({ app, serviceId, port: { port, protocol: 'http', inner, alias: `P${port}` } }));
    await server.send(createRule({ app, rule: { serviceId, port, domain } }));
    const where = `a port whose inner access is ${inner ? 'open' : 'closed'}`;
    findings.check(
      `rules/closed-outer-${inner}`,
      `a rule for ${where}`,
      'no rule',
      countText((await rowsOf(ground, domain)).length),
    );
    await server.send(createRule({ app, rule: { serviceId, port, domain, open: true } }));
    const all = await server.client.rules(app);
    const ofPort = all.readable ? all.value.filter((rule) => rule.port === port).length : 0;
    const record = (await server.client.ports(app, serviceId))?.find((one) => one.port === port);
    findings.check(
      `rules/opens-${inner}`,
      `a rule with open for ${where}`,
      'one rule, outer open',
      `${countText(ofPort)}, outer ${record?.outer === true ? 'open' : 'closed'}`,
    );
    await deleteAll(ground, domain);
  }
}

/** Deletion of what is not there, and of a port with its rules. */
async function checkDeletion(ground: Ground, findings: Findings): Promise<void> {
  const { server, app } = ground;
  const serviceId = ground.components[0];
  const port = await openedPort(ground, serviceId);
  const domain = ground.domain(`opens-${port}`);
  const live = await server.send(deletePort({ app, serviceId, port }));
  const stays = (await server.client.ports(app, serviceId))?.some((one) => one.port === port) === true;
  const told = live.verdict === 'applied' ? ', answered as applied' : '';
  findings.check(
    'rules/live-port',
    'deletion of a port with an active rule',
    'the port stays',
    `${stays ? 'the port stays' : 'the port is gone'}${told}`,
  );
  for (const action of ['close_outer', 'close_inner'] as const)
    await server.send(updatePort({ app, serviceId, port, change: { action } }));
  await server.send(deletePort({ app, serviceId, port }));
  findings.check(
    'rules/closed-port',
    'deletion of a closed port: its rules go with it',
    'no rule',
    countText((await rowsOf(ground, domain)).length),
  );
  const absent = await server.client.rule(app, UNKNOWN_RULE);
  findings.check(
    'rules/read-unknown',
    'reading a rule that does not exist',
    'absent',
    absent.readable && absent.value === undefined ? 'absent' : 'a rule',
  );
  const verdict = await server.send(deleteRule({ app, ruleId: UNKNOWN_RULE }));
  findings.check(
    'rules/delete-unknown',
    'deletion of a rule that does not exist: it is gone',
    'applied',
    verdict.verdict,
  );
}

async function idOf(ground: Ground, domain: string): Promise<string | undefined> {
  const [row] = await rowsOf(ground, domain);
  return typeof row?.['http_rule_id'] === 'string' ? row['http_rule_id'] : undefined;
}

async function deleteAll(ground: Ground, domain: string): Promise<void> {
  for (const { http_rule_id: ruleId } of await rowsOf(ground, domain))
    if (typeof ruleId === 'string') await ground.server.send(deleteRule({ app: ground.app, ruleId }));
  ground.server.take();
}

function countText(rules: number): string {
  if (rules === 0) return 'no rule';
  return rules === 1 ? 'one rule' : `${rules} rules`;
}

function wireText(value: unknown): string {
  return value === undefined ? 'absent' : canonicalJson(value as Json);
}
