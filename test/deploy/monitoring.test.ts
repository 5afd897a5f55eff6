/** Files for operators: each is read, and held against what the program really has. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseAddress } from '../../src/ledger/postgres/address.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { commandPaths } from '../cli/command-tree.ts';
import { runHere } from '../cli/running.ts';
import { parseExposition } from '../server/exposition.ts';
import { renderTemplate } from './helm.ts';
import { ENDS_S, type Part } from './kubernetes.ts';
import { selectorsIn } from './promql.ts';

const DEPLOY = 'examples/deploy';
const read = (...path: string[]): string => readFileSync(join(DEPLOY, ...path), 'utf8');
const RULES = 'monitoring/prometheus-rules.yaml';

const alerts = (parse(read(RULES)) as Part).groups.flatMap(({ rules }: Part) => rules) as readonly Part[];
const dashboard = JSON.parse(read('monitoring/grafana-dashboard.json')) as Part;

/** The series of git-sync v4 that alerts use, by its source: prometheus.NewCounterVec, with the label status. */
const OF_GIT_SYNC = ['git_sync_count_total'];

/** Every name of a series that the daemon has, with those of a histogram. */
async function seriesNames(): Promise<ReadonlySet<string>> {
  const metrics = createMetrics({ clock: systemClock, concurrency: () => 8, version: '1', node: '24', process: true });
  const { text } = await metrics.render();
  return new Set(
    [...parseExposition(text)].flatMap(([name]) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
  );
}

/** Names of the series in an expression. @throws Error where it is not PromQL. */
const namesIn = (expression: string): readonly string[] =>
  selectorsIn(expression).map((selector) => selector.replace(/\{.*$/s, ''));

/** With what Grafana puts in the place of its variables. */
const asQueried = (expression: string): string => expression.replaceAll('$__rate_interval', '5m');

test('Prometheus can read the alerts and the dashboard, and the daemon has every series in them', async () => {
  const known = new Set([...(await seriesNames()), ...OF_GIT_SYNC]);
  const expressions = [
    ...alerts.map(({ expr }) => expr as string),
    ...dashboard.panels.flatMap(({ targets }: Part) => targets.map(({ expr }: Part) => asQueried(expr as string))),
  ];
  expect(expressions.length).toBeGreaterThan(20);
  for (const expression of expressions) {
    const names = namesIn(expression);
    expect(names.length, expression).toBeGreaterThan(0);
    expect(
      names.filter((name) => !known.has(name)),
      expression,
    ).toEqual([]);
  }
  expect(namesIn('sum by (no_label) (rate(portolan_nothing{a="b_c"}[5m]))')).toEqual(['portolan_nothing']);
  for (const wrong of ['sum((portolan_nothing)', 'rate(portolan_nothing[5 parrots])', 'portolan_nothing >'])
    expect(() => namesIn(wrong), wrong).toThrow('not PromQL');
});

/** Names of the labels in an expression, of matchers and of groups. */
function labelsIn(expression: string): readonly string[] {
  const names: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, from, to }) => void (type.name === 'LabelName' && names.push(expression.slice(from, to))),
  });
  return names;
}

test('alerts and panels about leases use the labels that those series have', async () => {
  const metrics = createMetrics({ clock: systemClock, concurrency: () => 8, version: '1', node: '24', process: false });
  metrics.observer.units(['platform:east']);
  metrics.observer.led({ unit: 'platform:east', from: 'expired', validUntilMs: () => 0 });
  const { text } = await metrics.render();
  const scraped = ['job', 'namespace', 'instance'];
  const labelsOf = (name: string): readonly (string | undefined)[] =>
    [...(new RegExp(`^${name}\\{(.*)\\}`, 'm').exec(text)?.[1] ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label);
  const expressions = [
    ...alerts.map(({ expr }) => expr as string),
    ...dashboard.panels.flatMap(({ targets }: Part) => targets.map(({ expr }: Part) => asQueried(expr as string))),
  ].filter((expression) => /portolan_(?:lease|fenced|records|database|shared)/.test(expression));
  expect(new Set(expressions.flatMap(labelsIn))).toEqual(new Set([...scraped, 'unit', 'from', 'because']));
  for (const expression of expressions)
    for (const name of namesIn(expression))
      for (const label of labelsIn(expression)) expect([...scraped, ...labelsOf(name)], expression).toContain(label);
});

/** Groupings in an expression that would mix two installations: an aggregation without labels, or a list without both of theirs. */
function mixingIn(expression: string): readonly string[] {
  const mixing: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, from, to, node }) => {
      const text = expression.slice(from, to);
      const isBare = type.name === 'AggregateExpr' && node.getChild('AggregateModifier') === null;
      const isList = type.name === 'GroupingLabels' && !text.startsWith('(job, namespace');
      if (isBare || isList) mixing.push(text);
    },
  });
  return mixing;
}

test('no alert mixes two installations', () => {
  expect(alerts.flatMap(({ expr }) => mixingIn(expr as string))).toEqual([]);
  for (const mixed of ['sum(a)', 'sum by (unit) (a)', 'max by (job, namespace, b) (a) and on (b) c'])
    expect(mixingIn(mixed), mixed).toHaveLength(1);
});

test('an alert on a series that other programs have, too, is only for the jobs of Portolan', () => {
  const others = alerts.filter(({ expr }) => namesIn(expr as string).some((name) => !name.startsWith('portolan_')));
  expect(others.map(({ alert }) => alert)).toEqual(['PortolanGitSyncFailing', 'PortolanPassHangs']);
  for (const { expr } of others)
    expect(expr).toMatch(/ and on \(job, namespace(?:, instance)?\) [^<>=]*portolan_build_info\)?$/);
});

test('takeovers are counted for each unit: one end of a leader of many platforms is no alert', () => {
  const { expr } = alerts.find(({ alert }) => alert === 'PortolanTakeovers');
  expect(expr).toMatch(/^max by \(job, namespace\) \(sum by \(job, namespace, unit\) \(increase\(.*\)\)\) > 2\.5$/);
});

test('every alert says what is wrong, and its runbook starts with commands that there are', async () => {
  expect(alerts.length).toBeGreaterThan(8);
  const commands = commandPaths().map((path) => path.join(' '));
  for (const { alert, for: lasting, labels, annotations } of alerts) {
    expect(alert).toMatch(/^Portolan[A-Za-z]+$/);
    expect(lasting).toMatch(/^\d+[mh]$/);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(annotations.summary, alert).toMatch(/\.$/);
    expect(annotations.runbook, alert).toMatch(/\.$/);
    for (const [, words = ''] of annotations.runbook.matchAll(/\bportolan ((?:(?:ledger|orphans) )?[a-z]+)/g))
      expect(commands, `${alert}: portolan ${words}`).toContain(words);
  }
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
});

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

test.runIf(hasPromtool)('promtool takes the alert rules', () => {
  expect(execFileSync('promtool', ['check', 'rules', join(DEPLOY, RULES)]).toString()).toContain('SUCCESS');
});

test('panels of the dashboard do not overlap, and take their data source from its variable', () => {
  const taken = new Set<string>();
  for (const { gridPos, title, datasource, targets } of dashboard.panels as readonly Part[]) {
    expect(datasource, title).toEqual({ type: 'prometheus', uid: '${datasource}' });
    expect(targets.every((target: Part) => target.datasource.uid === '${datasource}')).toBe(true);
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.has(`${x},${y}`), title).toBe(false);
        taken.add(`${x},${y}`);
      }
  }
  const ids = (dashboard.panels as readonly Part[]).map(({ id }) => id as number);
  expect(new Set(ids).size).toBe(ids.length);
});

/** Values of the chart with what an operator must give. */
function values(): Part {
  const given = parse(read('helm/values.yaml')) as Part;
  given.image.repository = 'registry.example.com/portolan';
  given.git.repo = 'https://git.example.com/acme/shop.git';
  return given;
}

test('the ServiceMonitors scrape the service, with a token of the secret', () => {
  const service = parse(read('kubernetes/service.yaml')) as Part;
  const plain = parse(read('monitoring/servicemonitor.yaml')) as Part;
  const given = values();
  const template = read('helm/templates/servicemonitor.yaml');
  const context = { Values: given, Release: { Name: 'portolan', Namespace: 'apps' } };
  expect(renderTemplate(template, context).trim()).toBe('');
  given.serviceMonitor.enabled = true;
  const charted = parse(renderTemplate(template, context)) as Part;
  for (const { spec } of [plain, charted]) {
    const { [`app.kubernetes.io/name`]: name } = spec.selector.matchLabels;
    expect(service.metadata.labels['app.kubernetes.io/name']).toBe(name);
    expect(service.spec.ports.map((port: Part) => port.name)).toContain(spec.endpoints[0].port);
    expect(spec.endpoints[0]).toMatchObject({
      path: '/metrics',
      authorization: { credentials: { key: 'metrics-token' } },
    });
  }
});

test('the network policy of the chart lets Prometheus in where it scrapes', () => {
  const given = values();
  const allowed = (): readonly Part[] => {
    const context = { Values: given, Release: { Name: 'portolan', Namespace: 'apps' } };
    return (parse(renderTemplate(read('helm/templates/networkpolicy.yaml'), context)) as Part).spec.ingress[0].from;
  };
  expect(allowed()).toHaveLength(1);
  given.serviceMonitor.enabled = true;
  expect(allowed().slice(1)).toEqual([
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
  ]);
});

test('the schema of the chart takes its values, and refuses each mistake', () => {
  const valid = new Ajv({ strict: false }).compile(JSON.parse(read('helm/values.schema.json')));
  expect(valid(values()), JSON.stringify(valid.errors)).toBe(true);
  const mistakes: readonly ((given: Part) => void)[] = [
    (given) => (given.replicas = 2),
    (given) => (given.git.repo = 'git@example.com:shop'),
    (given) => (given.git.path = '/manifests'),
    (given) => (given.git.volumeSize = '4 GB'),
    (given) => (given.git.resources.memory = '1Gi'),
    (given) => delete given.secretName,
    (given) => (given.ledger.size = '2 GB'),
    (given) => (given.networkPolicy.enabled = 'yes'),
    (given) => (given.networkPolicy.egressPorts[0].port = 70_000),
    (given) => (given.serviceMonitor.interval = '30'),
    (given) => (given.configuration = {}),
  ];
  for (const mistake of mistakes) {
    const given = values();
    mistake(given);
    expect(valid(given), mistake.toString()).toBe(false);
  }
});

test('the unit of systemd starts a command that there is, and gives it no rights', async () => {
  const unit = read('systemd/portolan.service');
  const setting = (name: string): string | undefined => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];
  const { out: help } = await runHere(['run', '--help']);
  for (const [flag] of (setting('ExecStart') ?? '').matchAll(/--[a-z-]+/g)) expect(help).toContain(flag);
  expect(setting('CapabilityBoundingSet')).toBe('');
  for (const name of ['NoNewPrivileges', 'PrivateTmp', 'PrivateDevices', 'ProtectHome', 'DynamicUser'])
    expect(setting(name), name).toBe('yes');
  expect(setting('ProtectSystem')).toBe('strict');
  expect(Number(setting('TimeoutStopSec'))).toBeGreaterThan(ENDS_S);
  // V8 compiles code while it runs.
  expect(setting('MemoryDenyWriteExecute')).toBeUndefined();
  // Without /proc/sys, no time counts for the removal budget. Node lists the addresses of the machine with AF_NETLINK.
  expect(setting('ProcSubset')).toBeUndefined();
  expect(setting('RestrictAddressFamilies')?.split(' ')).toContain('AF_NETLINK');
});

test('the unit of systemd and the page hand the password of the database over in one place', () => {
  const unit = read('systemd/portolan.service');
  const [, url = ''] = /--ledger '(postgres:[^']*)'/.exec(unit) ?? [];
  const { passwordFile } = parseAddress(url);
  expect(passwordFile).toBe('/run/credentials/portolan.service/database-password');
  const enabled = unit.replace('#LoadCredential', 'LoadCredential');
  const credentials = [...enabled.matchAll(/^LoadCredential=([\w-]+):\/etc\/portolan\/credentials\/\1$/gm)];
  expect(credentials.map(([, name]) => name)).toEqual(['platform-token', 'api-token', 'database-password']);
  const page = readFileSync('docs/how-to/several-controllers.md', 'utf8');
  expect(page).toContain(`?passwordFile=${passwordFile}`);
  const [, folder = ''] = /^StateDirectory=(.*)$/m.exec(unit) ?? [];
  expect(page).toContain(`chown --reference=/var/lib/${folder} /var/lib/${folder}/back.db*`);
  expect(readFileSync('docs/runbook/ledger-lost.md', 'utf8')).toContain(
    `chown --reference=/var/lib/${folder} /var/lib/${folder}/portolan.db*`,
  );
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).error === undefined;

test('systemd takes the unit, and finds it hardened', (context) => {
  if (!hasSystemd) return context.skip('systemd-analyze is missing: the Debian package systemd has it');
  const unit = join(DEPLOY, 'systemd', 'portolan.service');
  const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  expect(verified.stderr).not.toMatch(/portolan\.service/);
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unit], {
    encoding: 'utf8',
  });
  expect(Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThan(2);
});
