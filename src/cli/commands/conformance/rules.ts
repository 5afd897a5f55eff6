import { getRule } from '../../../kinds/http-gateway-rule/readings.ts';
import { canonicalJson, type Json } from '../../../model/json.ts';
import { addressOf } from '../../../platform/address.ts';
import type { RuleFields } from '../../../kinds/http-gateway-rule/wire.ts';
import { declaredOf, RULE_FIELDS, RULE_PAIRS, type RuleFieldExpectation, type RuleVariant } from './expectations.ts';
import type { Ground } from './ground.ts';
import { hasNeeds, type Need, partsOf, type Suite } from './suite.ts';

const UNKNOWN_RULE = '0c0f0e0d'.repeat(4);

/** Creates, reads, updates and deletes rules with every field, and requests rules that conflict. */
export async function checkRules(suite: Suite): Promise<void> {
  if (!hasNeeds(suite, '', 'rules with every field', ['rules'])) return;
  const [first, second] = suite.components;
  const port = await openedPort(suite, first);
  const part = partsOf(suite);
  for (const row of RULE_FIELDS)
    if (!suite.signal.aborted) await part(row.field, `rules with ${row.field}`, () => checkField(suite, row, port));
  await part('edited', 'a rule that an update moves', () => checkEdited(suite, port));
  await part('recreated', 'deletion and creation of the same rule', () => checkRecreated(suite, port));
  const otherPort = second === undefined ? 0 : await openedPort(suite, second);
  await part('pairs', 'two rules of one domain', () => checkPairs(suite, [port, otherPort]));
  for (const inner of [false, true])
    await part(`opening-${inner}`, 'a rule that opens outer access', () => checkOpening(suite, inner));
  await part('deletion', 'deletion of a port with its rules', () => checkDeletion(suite));
}

async function openedPort(suite: Suite, serviceId: string): Promise<number> {
  const port = suite.freePort();
  await suite.addPort(port, {}, serviceId);
  // A rule that opens outer access does not add a default rule.
  await suite.createRule({ serviceId, port, domain: suite.domain(`opens-${port}`), open: true });
  suite.server.take();
  return port;
}

/** Checks a field of a rule: creation, update to another value, update without the field, deletion. */
async function checkField(suite: Suite, row: RuleFieldExpectation, port: number): Promise<void> {
  const { check, certificateId, updateRule } = suite;
  const { field, member, values, shown = values, omitted } = row;
  const { change, readBack } = declaredOf(field);
  const needs: readonly Need[] = field === 'certificateId' ? ['certificate'] : [];
  if (!hasNeeds(suite, field, `rules with ${field}`, needs)) return;
  const domains = ['a', 'b'].map((end) => suite.domain(`${field.toLowerCase()}-${end}`)) as [string, string];
  const base = { port, domain: domains[0], path: '/', ...row.with };
  const actual = (value: unknown): unknown => (value === 'certificate' ? certificateId : value);
  /** Returns the rule with the first or second value. */
  const ruleOf = (which: 0 | 1): typeof base => {
    const value = field === 'domain' ? domains[which] : actual(values[which]);
    return { ...base, ...(value === undefined ? {} : { [field]: value }) };
  };
  const expected = (which: 0 | 1): string => {
    if (readBack === 'never') return 'not shown';
    return wireText(field === 'domain' ? domains[which] : actual(shown[which]));
  };
  const observed = async (id: string): Promise<string> => {
    if (readBack === 'never') return 'not shown';
    const rows = await suite.server.ask(
      readBack === 'listing of all rules'
        ? addressOf({}, 'platform', ['httpdomains'])
        : addressOf(suite.app, undefined, ['httpdomains']),
    );
    const found = Array.isArray(rows) ? (rows as Row[]).find((one) => one['http_rule_id'] === id) : undefined;
    return found === undefined ? 'no such rule' : wireText(found[member]);
  };
  await suite.createRule(ruleOf(0));
  const ruleId = await idOf(suite, domains[0]);
  const creation = `creation of a rule with ${field}`;
  if (ruleId === undefined) return void check(`create-${field}`, creation, 'one rule', 'no rule');
  check(`create-${field}`, creation, expected(0), await observed(ruleId));
  if (field !== 'domain' && field !== 'path') {
    await updateRule(ruleId, { ...base, ...besides(field) });
    const title = `update without ${field}: ${omitted === undefined ? 'stays' : 'is reset'}`;
    const kept = omitted === undefined ? expected(0) : wireText(omitted.becomes);
    check(`omit-${field}`, title, kept, await observed(ruleId));
    await updateRule(ruleId, ruleOf(0));
  }
  await updateRule(ruleId, ruleOf(1));
  check(
    `update-${field}`,
    `update of ${field}: ${change}`,
    expected(change === 'recreate-or-hold' ? 0 : 1),
    await observed(ruleId),
  );
  await suite.deleteRule(ruleId);
  check(`delete-${field}`, `deletion of a rule with ${field}`, 'no rule', await countText(suite, ...domains));
}

/** A rule as the listing shows it, not decoded. */
type Row = Readonly<Record<string, unknown>>;

/** Returns another field for the update that leaves `field` out. */
function besides(field: string): Partial<RuleFields> {
  return field === 'weight' ? { cookie: 'other=1' } : { weight: 55 };
}

/** Checks an update that moves a rule to another key: its id stays, and the old key becomes free. */
async function checkEdited(suite: Suite, port: number): Promise<void> {
  const [from, to] = [suite.domain('edited-from'), suite.domain('edited-to')];
  await suite.createRule({ port, path: '/', domain: from });
  const ruleId = (await idOf(suite, from)) ?? '';
  await suite.updateRule(ruleId, { port, path: '/', domain: to });
  const kept = (await idOf(suite, to)) ?? 'none';
  suite.check('edit-in-place', 'another domain for a rule: the id stays', ruleId, kept);
  await suite.createRule({ port, path: '/', domain: from });
  const title = 'creation at the key that an edited rule had';
  suite.check('edited-key-is-free', title, 'one rule', await countText(suite, from));
  await deleteAll(suite, from, to);
}

async function checkRecreated(suite: Suite, port: number): Promise<void> {
  const domain = suite.domain('recreated');
  const rule = { port, path: '/', domain };
  await suite.createRule({ ...rule, configuration: { proxyReadTimeout: 61 } });
  const former = await idOf(suite, domain);
  await suite.deleteRule(former ?? '');
  await suite.createRule({ ...rule, configuration: { proxyReadTimeout: 62 } });
  const latter = await idOf(suite, domain);
  const observed = latter === undefined ? 'none' : latter === former ? 'the former id' : 'a new id';
  suite.check('recreate', 'deletion and creation of the same rule', 'a new id', observed);
  await deleteAll(suite, domain);
}

/** Checks pairs of rules. @param ports one of each component. */
async function checkPairs(suite: Suite, ports: readonly [number, number]): Promise<void> {
  const { components, certificateId, createRule } = suite;
  for (const { id, title, pair, takes } of RULE_PAIRS) {
    const needs: readonly Need[] = [
      ...(pair.some(({ isOther }) => isOther) ? ['two components' as const] : []),
      ...(pair.some(({ hasCertificate }) => hasCertificate) ? ['certificate' as const] : []),
    ];
    if (!hasNeeds(suite, `pair-${id}`, title, needs)) continue;
    const domain = suite.domain(`pair-${id}`);
    const ruleOf = ({ isOther, path = '/', weight, hasCertificate, redirects }: RuleVariant): RuleFields => ({
      serviceId: (isOther ? components[1] : components[0]) ?? '',
      port: ports[isOther ? 1 : 0],
      domain,
      path,
      ...(weight === undefined ? {} : { weight }),
      ...(hasCertificate && certificateId !== undefined ? { certificateId } : {}),
      ...(redirects ? { extensions: [{ key: 'httptohttps', value: 'true' }] } : {}),
    });
    await createRule(ruleOf(pair[0]));
    const { verdict } = await createRule(ruleOf(pair[1]));
    const isLie = takes === 2 ? /rejected|exists/ : /applied/;
    const answer = isLie.test(verdict) ? `, answered as ${verdict}` : '';
    suite.check(`pair-${id}`, title, amountText(takes), `${await countText(suite, domain)}${answer}`);
    await deleteAll(suite, domain);
  }
}

/**
 * Checks `open`: it opens outer access of a port, with or without inner access, and adds no default rule. Without `open`,
 * no rule is created.
 */
async function checkOpening(suite: Suite, inner: boolean): Promise<void> {
  const { check } = suite;
  const port = suite.freePort();
  const domain = suite.domain(`opening-${port}`);
  await suite.addPort(port, { inner });
  await suite.createRule({ port, domain });
  const where = `a port whose inner access is ${inner ? 'open' : 'closed'}`;
  check(`closed-outer-${inner}`, `a rule for ${where}`, 'no rule', await countText(suite, domain));
  await suite.createRule({ port, domain, open: true });
  const ofPort = (await suite.rules()).filter((rule) => rule.port === port).length;
  const outer = (await suite.portOf(port))?.outer === true ? 'open' : 'closed';
  const observed = `${amountText(ofPort)}, outer ${outer}`;
  check(`opens-${inner}`, `a rule with open for ${where}`, 'one rule, outer open', observed);
  await deleteAll(suite, domain);
}

/** Checks deletions of a port with rules, and of a rule that does not exist. */
async function checkDeletion(suite: Suite): Promise<void> {
  const { server, app, check, changePort, deletePort } = suite;
  const port = await openedPort(suite, suite.components[0]);
  const live = await deletePort(port);
  const stays = (await suite.portOf(port)) === undefined ? 'the port is gone' : 'the port stays';
  const answer = live.verdict === 'applied' ? ', answered as applied' : '';
  check('live-port', 'deletion of a port with an active rule', 'the port stays', `${stays}${answer}`);
  for (const action of ['close_outer', 'close_inner'] as const) await changePort(port, { action });
  await deletePort(port);
  const left = await countText(suite, suite.domain(`opens-${port}`));
  check('closed-port', 'deletion of a closed port: its rules go with it', 'no rule', left);
  const read = await server.client.read(getRule(UNKNOWN_RULE), app);
  const absent = read.readable && read.value === undefined ? 'absent' : 'a rule';
  check('read-unknown', 'reading a rule that does not exist', 'absent', absent);
  const { verdict } = await suite.deleteRule(UNKNOWN_RULE);
  check('delete-unknown', 'deletion of a rule that does not exist: it is gone', 'applied', verdict);
}

async function idOf({ rulesOf }: Ground, domain: string): Promise<string | undefined> {
  return (await rulesOf(domain))[0]?.ruleId;
}

async function deleteAll({ server, deleteRules }: Ground, ...domains: readonly string[]): Promise<void> {
  await deleteRules(...domains);
  server.take();
}

/** Returns the total number of rules of the domains, in words. */
async function countText({ rules }: Ground, ...domains: readonly string[]): Promise<string> {
  return amountText((await rules()).filter(({ domain }) => domains.includes(domain)).length);
}

function amountText(rules: number): string {
  if (rules === 0) return 'no rule';
  return rules === 1 ? 'one rule' : `${rules} rules`;
}

function wireText(value: unknown): string {
  return value === undefined ? 'absent' : canonicalJson(value as Json);
}
