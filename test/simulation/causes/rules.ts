import { canonicalJson, type JsonObject } from '../../../src/model/json.ts';
import type { Hold } from '../../../src/model/plan.ts';
import type { HttpGatewayRuleSpec } from '../../../src/kinds/http-gateway-rule/spec.ts';
import { defaultTiming } from '../../../src/reconcile/apply/world.ts';
import type { RuleRow } from '../../../src/sandbox/state.ts';
import type { World } from '../world.ts';
import {
  type Causes,
  isForeign,
  isInApplication,
  placeOfWish,
  ruleWishOf,
  rulesAt,
  sentFor,
  serviceOf,
  when,
} from './cause.ts';

/** Holds of rules: each has its cause in the rule that stands in its place, in its port, or in what was sent for it. */
export const causesOfRules: Causes = {
  'rule/component-missing': (world, hold) =>
    when(!isInApplication(world, serviceOf(world, hold)), 'its component is not there'),
  'rule/port-missing': (world, hold, isHeld) => {
    const { row, wish, component } = portOf(world, hold);
    const isLeft = wish === undefined || isHeld(component);
    return when(row === undefined && isLeft, 'the port is not there, and nothing will add it');
  },
  'rule/port-closed': (world, hold, isHeld) => {
    const { row, wish, component } = portOf(world, hold);
    const isLeft = wish?.outer !== true || isHeld(component);
    return when(row?.outer !== true && isLeft, 'the port is closed, and nothing will open it');
  },
  'rule/inactive': (world, hold, isHeld) => {
    const { row, wish, component } = portOf(world, hold);
    const isInactive = rulesAt(world, placeOfWish(world, hold)).some(({ outer }) => !outer);
    const isHttp = row?.protocol === 'http';
    const isLeft = wish?.outer !== true || (wish.inner ?? row?.inner) !== true || isHeld(component);
    return (
      when(isInactive && !isHttp, 'the port enables no rule, because it is not http') ??
      when(isInactive && row?.outer === true && isLeft, 'it is inactive, and nothing will open its open port again')
    );
  },
  'rule/inner-closed': (world, hold, isHeld) => {
    const { row, wish, component } = portOf(world, hold);
    const isLeft = wish?.inner !== true || isHeld(component);
    return when(row?.inner !== true && isLeft, 'inner is closed, and nothing will open it');
  },
  'rule/not-ours': (world, hold) => {
    const rows = rulesAt(world, placeOfWish(world, hold));
    return (
      when(
        rows.some((row) => isForeign(world, row) || world.byHand.moved.has(row.id)),
        'somebody else made it, or gave it its key',
      ) ??
      when(
        rows.some((row) => wasShownAway(world, row)),
        'the platform showed twice that it was not there, when it was',
      )
    );
  },
  'rule/exists-not-ours': (world, hold) => {
    const place = placeOfWish(world, hold);
    const sent = place === undefined ? [] : sentFor(world, `rule/${place}`);
    return when(
      sent.some(({ rivals }) => rivals.length > 0),
      'somebody else had made it',
    );
  },
  'rule/duplicate': (world, hold) => {
    const rows = rulesAt(world, placeOfWish(world, hold));
    const isByHand = rows.some((row) => isForeign(world, row) || world.byHand.moved.has(row.id));
    return when(rows.length > 1 && isByHand, 'somebody else made the other, or gave it its key');
  },
  'rule/key-taken': (world, hold) => {
    const rows = rulesAt(world, placeOfWish(world, hold));
    return when(
      rows.some((row) => isForeign(world, row) || world.byHand.moved.has(row.id)),
      'a rule has the key that somebody else gave it',
    );
  },
  'rule/changed': (world, hold) => {
    const moved = [...world.server.state.rules.all()].filter(
      ({ id }) => world.byHand.moved.has(id) && hold.message.includes(id),
    );
    return when(moved.length > 0, 'somebody else gave it another key');
  },
  'rule/cannot-update': (world, hold) => {
    const spec = ruleWishOf(world, hold);
    if (world.dialect !== 'documented' || spec === undefined) return undefined;
    return when(!isAsSent(world, hold, spec), 'the dialect has no such call');
  },
  'rule/immutable': (world, hold) => {
    const spec = ruleWishOf(world, hold);
    const rows = rulesAt(world, placeOfWish(world, hold));
    if (spec === undefined) return undefined;
    return when(
      rows.some((row) => isFixedOtherwise(spec, row)),
      'only a creation applies what the manifest says',
    );
  },
  'rule/owed': (world, hold) => {
    const owed = [...world.books.objects.values()].filter(
      (row) => row.resource === hold.resource && row.obligation !== null,
    );
    const isClosed = owed.some(({ naturalKey }) => {
      const [, serviceId, port] = naturalKey.split('/');
      return world.server.state.ports.get(`${serviceId}/${port}`)?.outer !== true;
    });
    return when(isClosed, 'the port of the deleted rule is closed, or gone');
  },
  'rule/configuration-unknown': (world, hold) => {
    const spec = ruleWishOf(world, hold);
    const [row] = rulesAt(world, placeOfWish(world, hold));
    if (spec === undefined || row === undefined || !world.truth.adoptionAllowed) return undefined;
    if (spec.configuration === undefined && !isFixedOtherwise(spec, row)) return undefined;
    // Somebody gave it the key of this manifest before it was on record as that of another one.
    const isMoved = world.byHand.movedUnseen.has(row.id);
    const isAdopted = isForeign(world, row) || isMoved || wasShownAway(world, row);
    return when(isAdopted, 'nobody can read what it was made with');
  },
};

function portOf(world: World, hold: Hold) {
  const spec = ruleWishOf(world, hold);
  const name = spec?.component ?? '';
  const serviceId = world.truth.serviceOf(name, world.wishes);
  return {
    row: world.server.state.ports.get(`${serviceId}/${spec?.port}`),
    wish: world.wishes.components.get(name)?.ports.find(({ port }) => port === spec?.port),
    component: `Component/${name}`,
  };
}

/**
 * The creation that made this rule was in doubt, and was taken for not done because two listings, as far apart as an
 * absence needs, left this rule out although it was there.
 */
function wasShownAway(world: World, row: RuleRow): boolean {
  const { books, truth, server } = world;
  const maker = truth.sent.find(({ rules }) => rules.includes(row.id));
  const intent = maker === undefined ? undefined : books.intents.get(maker.intent.id);
  const decidedMs = books.decidedMs.get(intent?.id ?? '') ?? 0;
  if (intent?.state !== 'rejected' || intent.resolvedBy !== 'observation') return false;
  const lies = server.concealed.filter(({ atMs, rules }) => atMs <= decidedMs && rules.includes(row.id));
  const [first, last] = [lies[0]?.atMs ?? 0, lies.at(-1)?.atMs ?? 0];
  return lies.length > 1 && last - first >= defaultTiming.absenceApartMs;
}

/** What no update changes is not as the manifest says. */
function isFixedOtherwise(spec: HttpGatewayRuleSpec, row: RuleRow): boolean {
  if (spec.header !== undefined && spec.header !== row.header) return true;
  const size = (row.configuration as { readonly proxy_body_size?: number } | null)?.proxy_body_size;
  return spec.configuration !== undefined && spec.configuration.proxyBodySize !== size;
}

/** What was last sent for the rule, and not refused, says what its manifest says. */
function isAsSent(world: World, hold: Hold, spec: HttpGatewayRuleSpec): boolean {
  const sent = sentFor(world, `rule/${placeOfWish(world, hold)}`).findLast(({ fate }) => fate === 'applied');
  const rule = (sent?.action.step['rule'] ?? {}) as JsonObject;
  const { weight, cookie, header, autoSsl, configuration } = spec;
  const wanted = { weight, cookie, header, autoSsl: autoSsl?.enabled, configuration };
  return Object.entries(wanted).every(
    ([field, value]) =>
      value === undefined || canonicalJson(value as JsonObject) === canonicalJson(rule[field] ?? null),
  );
}
