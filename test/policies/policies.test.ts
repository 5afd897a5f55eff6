import { expect, test } from 'vitest';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { evaluatePolicies } from '../../src/policies/evaluate.ts';
import type { PolicySpec } from '../../src/policies/spec.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Bench } from '../source/threads.ts';

const SETTINGS = 'apiVersion: portolan/v1\nkind: Settings\nspec:\n  policies:\n';

test('a faulty expression is reported at its line and column when the configuration is loaded', () => {
  const content = `${SETTINGS}    - name: a
      message: m
      expression: manifest.metadata.lables.owner == "x"
    - name: b
      message: m
      expression: |
        manifest.kind == "Component" &&
          siblings.exists(s, s.knd == "a")
    - name: c
      message: m
      expression: "plan.summary.delete < 3"
    - name: c
      subject: plan
      message: m
      expression: >-
        plan.scopes.all(s,
          s.actions.exists(a, a.vreb == "delete"))
    - { name: d, subject: plan, message: m, expression: plan.summary }
    - { name: e, message: m, expression: 'manifest.kind == ' }
`;
  const { problems } = loadConfiguration(kindDeclarations, content, 'c.yaml');
  const shown = problems.map(({ code, position: { line, column }, message, hint }) => [
    `${line}:${column} ${code}`,
    message,
    hint,
  ]);
  const fault = 'settings/policy-expression';
  expect(shown).toEqual([
    [`7:37 ${fault}`, 'the expression of policy a has a fault: No such key: lables', undefined],
    [`12:32 ${fault}`, 'the expression of policy b has a fault: No such key: knd', undefined],
    [
      `15:20 ${fault}`,
      'the expression of policy c has a fault: Unknown variable: plan',
      'set subject: plan, or use the variables of a manifest',
    ],
    ['16:13 settings/policy-name', 'two policies are called c', undefined],
    [`21:33 ${fault}`, 'the expression of policy c has a fault: No such key: vreb', undefined],
    [
      `22:57 ${fault}`,
      'the expression of policy d has a fault: it returns a value of type PlanSummary, not a bool',
      undefined,
    ],
    [`23:60 ${fault}`, 'the expression of policy e has a fault: Unexpected token: EOF', undefined],
  ]);
});

const policy = (name: string, expression: string, action: PolicySpec['action'] = 'deny'): PolicySpec => ({
  name,
  subject: 'manifest',
  expression,
  message: `not ${name}`,
  action,
});

const ID = 'a'.repeat(32);
const { desired } = loadManifests({
  kinds: kindDeclarations,
  files: [
    {
      path: 'a.yaml',
      content: `apiVersion: portolan/v1
kind: Application
metadata: { name: shop, labels: { valueOf: x } }
spec: { team: t, region: r, appId: 1 }
---
apiVersion: portolan/v1
kind: Component
metadata: { name: web }
spec: { application: shop, serviceId: ${ID}, ports: [ { port: 8080, protocol: http, outer: true } ] }
`,
    },
  ],
});
const manifests = [...desired.values()];
const evaluate = (policies: readonly PolicySpec[]): readonly string[] =>
  evaluatePolicies({ policies, manifests }, systemClock).map(
    ({ policy: name, action, resource, message }) => `${name} ${action} ${resource}: ${message}`,
  );

test('an expression that is false denies or warns, and an error always denies', () => {
  const results = evaluate([
    policy('allowed', 'manifest.metadata.name != ""'),
    policy('whole-numbers', 'manifest.kind == "Application" || manifest.spec.ports.all(p, p.port % 2 == 0)'),
    policy('siblings', 'siblings.size() == 1 && siblings.all(s, s.kind != manifest.kind)'),
    policy('members-of-objects', '!("toString" in manifest.metadata.labels) && !has(manifest.spec.toString)'),
    policy('denied', 'manifest.kind != "Component"'),
    policy('warned', 'manifest.kind != "Component"', 'warn'),
    policy('broken', 'manifest.kind == "Application" || manifest.spec.nope == 1', 'warn'),
    policy('no-bool', 'manifest.kind == "Application" || manifest.spec.ports[0].port', 'warn'),
  ]);
  expect(results).toEqual([
    'denied deny Component/web: not denied',
    'warned warn Component/web: not warned',
    'broken deny Component/web: the expression cannot be evaluated: No such key: nope',
    expect.stringMatching(/^no-bool deny Component\/web: the expression cannot be evaluated: /),
  ]);
});

test('an error quotes a value of a manifest without control characters, and not at any length', () => {
  const hostile = manifests.map((one) => ({ ...one, labels: { ttl: `\u001b[2J\r${'a'.repeat(100_000)}` } }));
  const ttl = policy('ttl', 'duration(manifest.metadata.labels.ttl) > duration("1h")');
  const [result] = evaluatePolicies({ policies: [ttl], manifests: hostile }, systemClock);
  expect(result?.message).toMatch(
    /^the expression cannot be evaluated: Invalid duration string: \\u001b\[2J\\u000da{200,300}$/,
  );
});

test('policies that take long one by one are ended together, and deny what they have not looked at', () => {
  const many = Array.from({ length: 50 }, () => manifests).flat();
  let nowMs = 0;
  // Each evaluation seems to take 300 ms.
  const clock = { monotonic: () => (nowMs += 300) };
  const results = evaluatePolicies(
    { policies: [policy('first', 'true'), policy('second', 'true')], manifests: many },
    clock,
    1_000,
    3_000,
  );
  expect(nowMs).toBeLessThan(6_000);
  expect(results).toEqual(
    ['first', 'second'].map((name) => ({
      policy: name,
      action: 'deny',
      // An error without a manifest could not be shown at its file and line.
      resource: expect.stringContaining('/') as string,
      message: 'the expression cannot be evaluated: the policies of the application take longer than 3000 ms',
      isError: true,
    })),
  );
});

test('an expression that backtracks for ages is ended and denies, and the others are evaluated', () => {
  const slow = policy('slow', `("${'a'.repeat(60)}" + manifest.metadata.name).matches("^(a+)+$")`, 'warn');
  const question = { policies: [slow, policy('denied', 'false')], manifests };
  const results = evaluatePolicies(question, systemClock, 1_000);
  expect(results.map(({ policy: name, action, isError }) => `${name} ${action} ${isError}`)).toEqual([
    'slow deny true',
    'denied deny false',
    'denied deny false',
  ]);
  expect(results[0]?.message).toBe('the expression cannot be evaluated: it takes longer than 1000 ms');
});

test('the thread that parses sources evaluates policies, and an evaluation without end fails with a remedy', async () => {
  const bench = new Bench();
  const { workbench, limits } = bench;
  const question = { policies: [policy('denied', 'manifest.kind != "Component"')], manifests };
  expect(await workbench.judge(question)).toEqual(evaluatePolicies(question, systemClock));
  const endless = Array.from({ length: 50 }, (_, at) =>
    policy(`p${at}`, `("${'a'.repeat(60)}${at}" + manifest.kind).matches("^(a+)+$")`),
  );
  bench.limits = { ...limits, timeoutMs: 1_000 };
  await expect(workbench.judge({ policies: endless, manifests })).rejects.toMatchObject({
    code: 'policy/not-evaluated',
    message: 'The evaluation of the policies took too long. Nothing was sent.',
  });
  bench.limits = limits;
  expect(await workbench.judge(question)).toHaveLength(1);
});
