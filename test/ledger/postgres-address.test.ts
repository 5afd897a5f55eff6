import { expect, test } from 'vitest';
import { isPostgres } from '../../src/ledger/address.ts';
import { parseAddress } from '../../src/ledger/postgres/address.ts';
import { PortolanError } from '../../src/model/errors.ts';

test.for([
  ['postgres://ann@db.example.com/fleet', 'db.example.com', 5432, 'verify-full', 'portolan'],
  ['postgresql://ann@db.example.com:6432/fleet?sslmode=verify-ca', 'db.example.com', 6432, 'verify-ca', 'portolan'],
  ['postgres://ann@10.0.0.7/fleet?schema=prod_1', '10.0.0.7', 5432, 'verify-full', 'prod_1'],
  ['postgres://ann@localhost/fleet', 'localhost', 5432, 'disable', 'portolan'],
  ['postgres://ann@127.0.0.1:5433/fleet', '127.0.0.1', 5433, 'disable', 'portolan'],
  ['postgres://ann@[::1]/fleet', '::1', 5432, 'disable', 'portolan'],
  ['postgres://ann@127.0.0.1/fleet?sslmode=verify-full', '127.0.0.1', 5432, 'verify-full', 'portolan'],
  ['postgres://ann@localhost/fleet?host=/run/postgresql', '/run/postgresql', 5432, 'disable', 'portolan'],
  ['postgres://ann@127.0.0.1.example.com/fleet', '127.0.0.1.example.com', 5432, 'verify-full', 'portolan'],
] as const)('%s', ([url, host, port, tls, schema]) => {
  const address = parseAddress(url);
  expect(address).toMatchObject({ host, port, tls, schema, user: 'ann', database: 'fleet' });
  expect(isPostgres(url)).toBe(true);
  expect(parseAddress(address.location)).toMatchObject({ host, port, schema, user: 'ann', database: 'fleet' });
});

const PASSWORD = 'canary-password-4711';

test.for([
  [`postgres://ann:${PASSWORD}@db/fleet`, 'ledger/inline-password'],
  [`postgres://ann@db/fleet?password=${PASSWORD}`, 'ledger/inline-password'],
  [`postgres://ann:${PASSWORD}@db:notaport/fleet`, 'ledger/bad-address'],
  [`postgres://ann@db/fleet?sslpassword=${PASSWORD}`, 'ledger/bad-address'],
  ['postgres://db/fleet', 'ledger/bad-address'],
  ['postgres://ann@db', 'ledger/bad-address'],
  ['postgres://ann@/fleet', 'ledger/bad-address'],
  ['postgres://ann@db/fleet?sslmode=require', 'ledger/bad-address'],
  ['postgres://ann@db/fleet?sslmode=prefer', 'ledger/bad-address'],
  ['postgres://ann@db/fleet?schema=a;drop', 'ledger/bad-address'],
  ['postgres://ann@db/%zz', 'ledger/bad-address'],
] as const)('%s is refused, and no message shows a password', ([url, code]) => {
  let found: unknown;
  try {
    parseAddress(url);
  } catch (error) {
    found = error;
  }
  if (!(found instanceof PortolanError)) throw new Error('it was accepted');
  expect([found.code, found.disposition]).toEqual([code, 'invalid']);
  expect(`${found.message} ${found.remedy}`).not.toContain(PASSWORD);
});

test.for([undefined, 'none', 'portolan.db', './postgres:/x', '/var/lib/postgres', 'Postgres.db'])(
  '%s is a file',
  (ledger) => expect(isPostgres(ledger)).toBe(false),
);
