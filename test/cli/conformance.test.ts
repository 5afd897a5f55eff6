import { readdirSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { type ConformanceReport, conformanceSchema } from '../../src/cli/commands/conformance/report.ts';
import { LOSSES, startProxy } from '../../src/cli/commands/conformance/proxy.ts';
import type { FaultRule } from '../../src/sandbox/faults.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { type Sandbox, SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { sandboxFor, temporaryFolder } from './platform.ts';
import { type Run, runHere } from './running.ts';

const KEY = 'key-of-the-demo-store';
const env = { CONFORMANCE_TOKEN: SANDBOX_TOKEN, STORE_KEY: KEY, PORTOLAN_LEDGER: '/nowhere/of-the-person.db' };
const target = ['--token-env', 'CONFORMANCE_TOKEN', '--team', demo.team, '--region', demo.region];
const model = `${demo.mysqlModelId}@${demo.mysqlVersions[0]} --upgrade-to ${demo.mysqlVersions[1]}`;
const store =
  `--store-url ${demo.storeUrl} --store-domain ${demo.storeDomain} --store-key-env STORE_KEY --model ${model}`.split(
    ' ',
  );
const disposable = ['--app', String(demo.appId), '--disposable'];

function conformance({ url }: Sandbox, ...args: readonly string[]): Promise<Run> {
  return runHere(['conformance', '--url', url, ...target, ...args], { env });
}

function reportOf(run: Run): ConformanceReport {
  return JSON.parse(run.out) as ConformanceReport;
}

/** Of checks that do not conform. */
function idsOf(report: ConformanceReport): readonly string[] {
  return report.findings.flatMap(({ id, verdict }) => (verdict === 'differs' || verdict === 'failed' ? [id] : []));
}

test('the sandbox of the extended dialect conforms, in applications that the suite creates', async () => {
  const sandbox = await sandboxFor();
  const before = sandbox.state.applications.size;
  const temporary = temporaryFolder();
  const run = await runHere(['conformance', '--url', sandbox.url, ...target, ...store, '-o', 'json'], {
    env,
    temporaryFolder: temporary,
  });
  const report = reportOf(run);
  expect(
    idsOf(report),
    JSON.stringify(
      report.findings.filter(({ verdict }) => verdict === 'differs'),
      null,
      1,
    ),
  ).toEqual([]);
  expect(run.code).toBe(0);
  expect(report).toMatchObject({ dialect: 'extended', isComplete: true, summary: { failed: 0 } });
  expect(report.summary.conforms).toBeGreaterThan(250);
  expect(new Set(report.findings.map(({ area }) => area)).size).toBe(6);
  // Every operation of the client was sent.
  const sent = new Set(sandbox.requests().map(({ operation }) => operation));
  expect([...sent]).toEqual(
    expect.arrayContaining([
      'addPort',
      'updatePort',
      'deletePort',
      'createRule',
      'updateRule',
      'deleteRule',
      'install',
      'upgrade',
    ]),
  );
  // Its folders are gone.
  expect(readdirSync(temporary)).toEqual([]);
  // What it could not remove is listed; what it could is gone.
  expect(sandbox.state.applications.size).toBe(before + 2);
  expect(report.remaining.filter((what) => what.startsWith('application '))).toHaveLength(2);
  const rules = [...sandbox.state.rules.all()].filter(({ domain }) => domain.endsWith('.conformance.example'));
  expect(rules).toEqual([]);
  expect([...sandbox.state.ports.all()].filter(({ port }) => port > 21_000 && port < 22_000)).toEqual([]);
  const validate = new Ajv2020({ strict: false }).compile(conformanceSchema);
  expect(validate(report), JSON.stringify(validate.errors)).toBe(true);
});

test('the sandbox of the documented dialect conforms, in an application that is declared disposable', async () => {
  const sandbox = await sandboxFor({ dialect: 'documented' });
  const component = ['--component', demo.webServiceId, '--component', demo.apiServiceId];
  const run = await conformance(sandbox, ...disposable, ...component, ...store, '-o', 'json');
  const report = reportOf(run);
  expect(
    idsOf(report),
    JSON.stringify(
      report.findings.filter(({ verdict }) => verdict === 'differs'),
      null,
      1,
    ),
  ).toEqual([]);
  expect(run.code).toBe(0);
  expect(report).toMatchObject({ dialect: 'documented', appId: demo.appId, isComplete: true });
  expect(report.remaining.join('\n')).toMatch(/port 21001 of component/);
  expect(report.remaining.join('\n')).toMatch(/rule applies\./);
});

test('an application that is not declared disposable is not touched', async () => {
  const sandbox = await sandboxFor();
  const run = await conformance(sandbox, '--app', String(demo.appId));
  expect(run).toMatchObject({ code: 4, out: '' });
  expect(run.err).toMatch(/not declared disposable[^]*--disposable/);
  expect(sandbox.requests()).toEqual([]);
});

test('without an application and a store nothing is created', async () => {
  const sandbox = await sandboxFor();
  const run = await conformance(sandbox);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toMatch(/--store-url and --model/);
  expect(sandbox.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
  const half = await conformance(sandbox, '--store-url', demo.storeUrl);
  expect(half).toMatchObject({ code: 3, out: '' });
  expect(half.err).toContain('--model');
});

/** What a server that is not ours may do, and the checks that notice. */
const surprises: readonly {
  readonly what: string;
  readonly fault: FaultRule;
  readonly only: string;
  readonly noticed: string;
}[] = [
  {
    what: 'adds a port and says that it did not',
    only: 'ports',
    fault: {
      operation: 'addPort',
      times: 1,
      fault: {
        type: 'status',
        when: 'after',
        status: 404,
        body: { code: 404, msg: 'no found component', msg_show: '组件不存在', data: { bean: {}, list: [] } },
      },
    },
    noticed: 'the answer is a refusal',
  },
  {
    what: 'loses an update and says that it was done',
    only: 'rules',
    fault: { operation: 'updateRule', times: 1, fault: { type: 'status', when: 'before', status: 200, body: {} } },
    noticed: 'update of domain',
  },
  {
    what: 'takes the same rule twice',
    only: 'rules',
    fault: { operation: 'createRule', fault: { type: 'race' } },
    noticed: 'twice',
  },
];

test.for(surprises)('a server that $what differs, and the exchange is shown', async ({ fault, only, noticed }) => {
  const sandbox = await sandboxFor({ faults: [fault] });
  const run = await conformance(sandbox, ...disposable, '--only', only);
  expect(run.code, run.out).toBe(1);
  expect(run.out).toMatch(/^Differs: \d+ of \d+ checks/m);
  expect(run.out).toContain(noticed);
  expect(run.out).toMatch(/(PUT|POST) \/openapi\/v1\/.* → \d{3}/);
});

test('a refused install conforms where rules are listed and components are not', async () => {
  const body = { code: 404, msg: 'no such address' };
  const fault: FaultRule = {
    operation: 'listComponents',
    fault: { type: 'status', when: 'before', status: 404, body },
  };
  const sandbox = await sandboxFor({ faults: [fault] });
  const components = ['--component', demo.webServiceId, '--component', demo.apiServiceId];
  const run = await conformance(sandbox, ...disposable, ...components, ...store, '--only', 'installs', '-o', 'json');
  const refused = reportOf(run).findings.filter(({ id }) => /unknown-|refused-|unreachable-/.test(id));
  expect(refused.map(({ verdict }) => verdict)).toEqual(['conforms', 'conforms', 'conforms', 'conforms']);
});

test.for([
  ['ports', 'listRules', 10],
  ['rules', 'listRules', 9],
] as const)(
  'one listing that fails is one failed check of the %s, and the others go on',
  async ([only, operation, skip]) => {
    const body = { code: 400, msg: 'gone' };
    const fault: FaultRule = {
      operation,
      skip,
      times: 1,
      fault: { type: 'status', when: 'before', status: 400, body },
    };
    const sandbox = await sandboxFor({ faults: [fault] });
    const run = await conformance(sandbox, ...disposable, '--only', only, '-o', 'json');
    const { findings } = reportOf(run);
    const failed = findings.filter(({ verdict }) => verdict === 'failed');
    expect(failed.length, JSON.stringify(findings)).toBe(1);
    expect(failed[0]?.id).not.toBe(only);
    expect(findings.indexOf(failed[0]!)).toBeLessThan(findings.length - 5);
  },
);

test('a server that cannot be reached ends with 5, and a wrong token too', async () => {
  const sandbox = await sandboxFor();
  const args = [...disposable, '--only', 'reads'];
  const refused = await runHere(['conformance', '--url', sandbox.url, ...target, ...args], {
    env: { CONFORMANCE_TOKEN: 'not-the-token' },
  });
  expect(refused).toMatchObject({ code: 5, out: '' });
  expect(refused.err).not.toContain('not-the-token');
  const missing = await runHere(['conformance', '--url', sandbox.url, ...target, ...args], { env: {} });
  expect(missing).toMatchObject({ code: 3, out: '' });
  await sandbox.close();
  expect(await conformance(sandbox, ...args)).toMatchObject({ code: 5, out: '' });
});

test('secrets are in no output', async () => {
  // A server that repeats what it was sent.
  const body = { msg: `wrong: ${KEY} ${SANDBOX_TOKEN}` };
  const fault: FaultRule = {
    operation: 'install',
    skip: 2,
    fault: { type: 'status', when: 'before', status: 400, body },
  };
  for (const format of ['text', 'json']) {
    const sandbox = await sandboxFor({ faults: [fault] });
    const run = await conformance(sandbox, ...store, '--only', 'installs', '-o', format);
    expect(run.code).toBe(1);
    expect(run.out + run.err).toContain('[secret]');
    expect(run.out + run.err).not.toContain(KEY);
    expect(run.out + run.err).not.toContain(SANDBOX_TOKEN);
  }
});

test('a server that fails while the suite cleans up does not take the report with it', async () => {
  const listRules = { status: 500, body: { code: 10401, msg: 'gone' } } as const;
  const fault: FaultRule = { operation: 'listRules', skip: 3, fault: { type: 'status', when: 'before', ...listRules } };
  const sandbox = await sandboxFor({ faults: [fault] });
  const run = await conformance(sandbox, ...disposable, '--only', 'reads', '-o', 'json');
  expect(reportOf(run).remaining).toEqual([
    expect.stringMatching(/^rules and ports of this run: they could not be removed/),
  ]);
});

test('a signal ends it with 130, and it still cleans up', async () => {
  const sandbox = await sandboxFor();
  const interruption = new AbortController();
  const run = runHere(
    ['conformance', '--url', sandbox.url, ...target, ...disposable, '--only', 'ports', '-o', 'json'],
    {
      env,
      signal: interruption.signal,
    },
  );
  await expect.poll(() => sandbox.requests().length).toBeGreaterThan(40);
  interruption.abort(new Error('ended by SIGINT'));
  const { code, out } = await run;
  expect(code).toBe(130);
  expect(JSON.parse(out)).toMatchObject({ isComplete: false });
  expect([...sandbox.state.ports.all()].filter(({ port }) => port > 21_000)).toEqual([]);
});

test.for(LOSSES)('the proxy loses one answer, and no other: %s', async (loss) => {
  const sandbox = await sandboxFor();
  const proxy = await startProxy(sandbox.url, undefined);
  const path = `/openapi/v1/teams/${demo.team}/regions/${demo.region}/apps/${demo.appId}/services/${demo.webServiceId}/ports`;
  const add = (port: number): Promise<string> =>
    fetch(`${proxy.url}${path}`, {
      method: 'POST',
      headers: { authorization: SANDBOX_TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify({ port, protocol: 'http', is_inner_service: false }),
    }).then(
      async (answer) => ((await answer.text().catch(() => '')) === '' ? 'lost' : String(answer.status)),
      () => 'lost',
    );
  proxy.lose(loss, 2);
  const answers = [await add(21_001), await add(21_002), await add(21_003)];
  await proxy.close();
  const lost = { before: 'lost', after: 'lost', cut: 'lost', html502: '502', 'html502-after': '502', busy503: '503' }[
    loss
  ];
  expect(answers).toEqual(['200', lost, '200']);
  const arrived = ['after', 'cut', 'html502-after'].includes(loss);
  const ports = [...sandbox.state.ports.all()].map(({ port }) => port).filter((port) => port > 21_000);
  expect(ports).toEqual(arrived ? [21_001, 21_002, 21_003] : [21_001, 21_003]);
});
