import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { currentIntent, currentObject, formerUid } from '../../src/kinds/http-gateway-rule/former-keys.ts';
import { intentRow, objectRow } from '../../src/ledger/schema.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import { type Sandbox, SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { configurationFor, folderOf, sandboxFor } from '../cli/platform.ts';
import { type Run, runHere } from '../cli/running.ts';
import { PushedClock } from '../cli/scene.ts';
import { intent, object } from './fixtures.ts';

const SETTLED_MS = 20 * 60_000;
const fixture = (name: string): string => join(import.meta.dirname, 'at-540081a', name);

/** A ledger that the program at 540081a wrote, before a platform as it was then. */
class Upgrade {
  readonly #clock = new PushedClock();
  readonly #folder: string;
  readonly #sandbox: Sandbox;

  private constructor(sandbox: Sandbox, folder: string) {
    this.#sandbox = sandbox;
    this.#folder = folder;
  }

  static async of(dialect: Dialect): Promise<Upgrade> {
    const seed = JSON.parse(readFileSync(fixture(`${dialect}.seed.json`), 'utf8')) as Seed;
    const sandbox = await sandboxFor({ dialect, seed });
    const folder = folderOf({ 'portolan.yaml': configurationFor(sandbox.url) });
    const raw = new DatabaseSync(join(folder, 'ledger.db'));
    raw.exec(readFileSync(fixture(`${dialect}.sql`), 'utf8'));
    raw.close();
    return new Upgrade(sandbox, folder);
  }

  get ledger(): string {
    return join(this.#folder, 'ledger.db');
  }

  run(...args: readonly string[]): Promise<Run> {
    const env = {
      PORTOLAN_TOKEN: SANDBOX_TOKEN,
      PORTOLAN_LEDGER: this.ledger,
      PORTOLAN_CONFIG: join(this.#folder, 'portolan.yaml'),
    };
    return runHere(args, { env, clock: this.#clock });
  }

  wait(): void {
    this.#clock.push(SETTLED_MS);
  }

  writes(): number {
    return this.#sandbox.requests().filter(({ method }) => method !== 'GET').length;
  }

  domains(): readonly string[] {
    return [...this.#sandbox.state.rules.all()].map(({ domain, protocol }) => `${protocol}://${domain}`).sort();
  }

  async rules(): Promise<readonly OwnedObject[]> {
    const { objects } = JSON.parse((await this.run('ledger', 'list', '-o', 'json')).out) as { objects: OwnedObject[] };
    return objects.filter(({ kind }) => kind === 'HttpGatewayRule');
  }
}

const SETTLED = ['-f', fixture('settled.yaml')] as const;
const IN_DOUBT = ['-f', fixture('in-doubt.yaml')] as const;

for (const dialect of ['extended', 'documented'] as const) {
  test(`a ledger written at 540081a gives an empty plan, before and after it was migrated (${dialect})`, async () => {
    const upgrade = await Upgrade.of(dialect);
    const before = upgrade.domains();
    const schema = () => {
      const raw = new DatabaseSync(upgrade.ledger, { readOnly: true });
      const row = raw.prepare("SELECT v FROM meta WHERE k = 'schema'").get() as { v: string };
      raw.close();
      return row.v;
    };
    for (const more of [[], ['--prune']]) {
      const plan = await upgrade.run('plan', ...SETTLED, ...more);
      expect(plan.out).toMatch(/^No changes\. 8 resources in sync/m);
      expect(plan.code).toBe(0);
    }
    expect((await upgrade.run('plan', ...IN_DOUBT)).out).toMatch(/^No changes, 3 held\./m);
    expect(schema(), 'a plan only reads').toBe('1');

    expect((await upgrade.run('apply', ...SETTLED, '--yes', '--prune')).code).toBe(0);
    expect(upgrade.writes()).toBe(0);
    expect(schema()).toBe('3');
    expect((await upgrade.run('plan', ...SETTLED, '--prune')).out).toMatch(/^No changes\. 8 resources in sync/m);
    expect(upgrade.domains()).toEqual(before);
    const rules = await upgrade.rules();
    expect(rules.map(({ naturalKey }) => naturalKey.replace(/^rule\/a10*\/8080\//, '')).sort()).toEqual(
      [
        'http://adopted.example.com/',
        dialect === 'extended' ? 'https://adopted-tls.example.com/' : 'http://adopted-tls.example.com/',
        'http://mixed.example.com/a/b',
        'https://tls.example.com/',
        'https://told.example.com/',
        dialect === 'extended' ? 'https://was-http.example.com/' : 'http://was-http.example.com/',
        'http://www.example.com/',
      ].sort(),
    );
    if (dialect === 'extended')
      expect(rules.filter(({ remoteAux }) => remoteAux['protocolUnrecorded'] === true)).toEqual([]);
    const history = await upgrade.run('ledger', 'show', 'HttpGatewayRule/www');
    expect(history.out, 'its history from before is its history still').toMatch(
      /applied +default:HttpGatewayRule:.*8080\/www\.example\.com/,
    );
    expect((await upgrade.run('ledger', 'verify')).code).toBe(0);
  });

  test(`creations in doubt at 540081a are settled, and nothing is created twice (${dialect})`, async () => {
    const upgrade = await Upgrade.of(dialect);
    const before = upgrade.domains();
    await upgrade.run('apply', ...IN_DOUBT, '--yes');
    upgrade.wait();
    await upgrade.run('apply', ...IN_DOUBT, '--yes');
    expect(upgrade.domains()).toEqual([...before, 'http://before.example.com'].sort());
    expect((await upgrade.run('plan', ...IN_DOUBT)).out).toMatch(/^No changes\. 6 resources in sync/m);
    const rules = (await upgrade.rules()).filter(({ resource }) => /after|before|killed/.test(resource));
    expect(
      rules.map(({ origin, state, naturalKey }) => [origin, state, naturalKey.split('/').slice(3).join('/')]),
    ).toEqual([
      ['created', dialect === 'extended' ? 'present' : 'unverified', 'https://after.example.com/'],
      ['created', 'present', 'http://before.example.com/'],
      ['created', dialect === 'extended' ? 'present' : 'unverified', 'https://killed.example.com/'],
    ]);
  });
}

const row = (values: Partial<OwnedObject>) => objectRow(object(values), 1);

test('the key of a rule gets the protocol of the certificate that was last applied', () => {
  const naturalKey = 'rule/svc/8080/http/x';
  const https = currentObject(row({ naturalKey, lastApplied: { certificateId: 7 } }));
  expect([https.natural_key, JSON.parse(https.remote_aux)]).toEqual([
    'rule/svc/8080/https://http/x',
    { former: { weight: 100 } },
  ]);
  expect(https.uid).toBe(`default:default/team-a/region-1/42:HttpGatewayRule:${https.natural_key}`);
  const adopted = currentObject(row({ naturalKey, lastApplied: {}, remoteAux: { adopted: { certificateId: 8 } } }));
  expect([adopted.natural_key, JSON.parse(adopted.remote_aux)]).toMatchObject([
    'rule/svc/8080/https://http/x',
    { protocolUnrecorded: true },
  ]);
  expect(currentObject(https), 'once is enough').toBe(https);
  const port = row({ kind: 'Component', naturalKey: 'port/svc/8080' });
  expect(currentObject(port)).toBe(port);
  expect(formerUid(https.uid)).toBe(object({ naturalKey }).uid);
  expect(formerUid(port.uid)).toBeUndefined();
});

test('an intent gets the key of the rule that it was for', () => {
  const naturalKey = 'rule/svc/8080/www.example.test/';
  const stored = (step: object, changes: readonly object[] = []) =>
    currentIntent(
      intentRow(intent({ uid: object({ naturalKey }).uid, action: { object: naturalKey, step, changes } as never }), 1),
    );
  const key = (row: ReturnType<typeof stored>) => [
    JSON.parse(row.action).object,
    row.uid.split(':').slice(3).join(':'),
  ];
  const https = 'rule/svc/8080/https://www.example.test/';
  expect(key(stored({ type: 'create', rule: { certificateId: 7 } }))).toEqual([https, https]);
  const http = 'rule/svc/8080/http://www.example.test/';
  expect(key(stored({ type: 'create', rule: {} }))).toEqual([http, http]);
  const deleted = stored({ type: 'delete', ruleId: '1', key: naturalKey }, [{ path: 'certificateId', before: 7 }]);
  expect(key(deleted)).toEqual([https, https]);
  expect(JSON.parse(deleted.action).step.key).toBe(https);
});
