import { expect, test } from 'vitest';
import { isPostgres, ledgerArgument } from '../../src/ledger/address.ts';
import { parseAddress } from '../../src/ledger/postgres/address.ts';
import { CommitUnanswered, driverError, explainPostgres } from '../../src/ledger/postgres/faults.ts';
import { passwordIn } from '../../src/ledger/postgres/password-file.ts';
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

function thrownBy(work: () => unknown): PortolanError {
  try {
    work();
  } catch (error) {
    if (error instanceof PortolanError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

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
  [`postgres://ann:${PASSWORD}@db1:5432,db2:5432/fleet`, 'ledger/bad-address'],
] as const)('%s is refused, and no message shows a password', ([url, code]) => {
  const found = thrownBy(() => parseAddress(url));
  expect([found.code, found.disposition]).toEqual([code, 'invalid']);
  expect(`${found.message} ${found.remedy}`).not.toContain(PASSWORD);
});

test.for(['POSTGRES://ann@db/fleet', 'PostgreSQL://ann@db/fleet'])('%s is a database', (url) => {
  expect([isPostgres(url), ledgerArgument(url)]).toEqual([true, url]);
  expect(parseAddress(url)).toMatchObject({ location: 'postgres://ann@db/fleet' });
});

test.for([
  'postgress://ann@db/fleet',
  'pgsql://ann@db/fleet',
  'mysql://ann@db/fleet',
  'jdbc:postgresql://db/fleet',
  'jdbc:postgresql:fleet',
  'postgres:/ann@db/fleet',
  'Postgres:ann@db/fleet',
  'postgres//ann@db/fleet',
  'postgres@db/fleet',
  ' postgres://ann@db/fleet',
  '"postgres://ann@db/fleet"',
  "'postgres:ann@db/fleet'",
  'file:///var/lib/portolan.db',
  'host=db dbname=fleet user=ann',
])('%s is neither a file nor a database, and no message shows a password', (text) => {
  const given = text.replace('ann', `ann:${PASSWORD}`);
  expect(isPostgres(given)).toBe(false);
  const error = thrownBy(() => ledgerArgument(given));
  expect([error.code, error.disposition]).toEqual(['ledger/bad-address', 'invalid']);
  expect(`${error.message} ${error.remedy}`).not.toContain(PASSWORD);
});

test.for([
  'none',
  'portolan.db',
  './postgres:/x',
  '/var/lib/postgres',
  'Postgres.db',
  'C:\\portolan.db',
  'postgres/x.db',
])('%s is taken as it is', (ledger) => expect([ledgerArgument(ledger), isPostgres(ledger)]).toEqual([ledger, false]));

test.for([
  'postgres://ann@db1,db2/fleet',
  'postgres://ann@db1:5432,db2:5433/fleet',
  'postgres://ann@db/fleet?host=db1,db2',
])('%s names several hosts, and the remedy says what to name', (url) => {
  expect(() => parseAddress(url)).toThrow(
    expect.objectContaining({
      code: 'ledger/bad-address',
      message: 'The URL of the ledger cannot be used: it names several hosts. Nothing was opened.',
      remedy:
        'Name one host that always leads to the primary server, such as a name or an address that moves with it, or a proxy.',
    }),
  );
});

test('a comma in the name of a user, a database or the folder of a socket is no second host', () => {
  expect(parseAddress('postgres://ann,bob@db/fleet,two')).toMatchObject({ host: 'db', user: 'ann,bob' });
  expect(parseAddress('postgres://ann@localhost/fleet?host=/run/a,b')).toMatchObject({ host: '/run/a,b' });
});

test.for([undefined, 'none', 'portolan.db', './postgres:/x', '/var/lib/postgres', 'Postgres.db'])(
  '%s is a file',
  (ledger) => expect(isPostgres(ledger)).toBe(false),
);

test.for([
  ['db:5432:fleet:ann:secret', 'secret'],
  ['# db:5432:fleet:ann:secret', undefined],
  ['other:5432:fleet:ann:one\n*:*:*:ann:two\n*:*:*:*:three', 'two'],
  ['db:5433:fleet:ann:secret', undefined],
  ['db:5432:fleet:ann:a\\:b\\\\c', 'a:b\\c'],
  ['db:5432:fleet:ann:with: a colon', 'with'],
  ['db:5432:fleet', undefined],
  ['\r\ndb:5432:fleet:ann:secret\r\n', 'secret'],
  ['', undefined],
] as const)('the password in %j', ([text, password]) =>
  expect(passwordIn(text, { host: 'db', port: 5432, database: 'fleet', user: 'ann' })).toBe(password),
);

/** An error as the server reports it. */
function serverError(code: string, severity = 'ERROR'): Error {
  return Object.assign(new Error('what the server says'), { code, severity });
}

/** An error as the driver throws it. */
function thrown(message: string, code?: string): unknown {
  return driverError(Object.assign(new Error(message), code === undefined ? {} : { code }), false);
}

test.for([
  [serverError('55P03'), 'ledger/busy', 'retry'],
  [serverError('40001'), 'ledger/busy', 'retry'],
  [serverError('40P01'), 'ledger/busy', 'retry'],
  [serverError('53200'), 'ledger/busy', 'retry'],
  [serverError('53300', 'FATAL'), 'ledger/unreachable', 'retry'],
  [serverError('57P01', 'FATAL'), 'ledger/unreachable', 'retry'],
  [serverError('57P03', 'FATAL'), 'ledger/unreachable', 'retry'],
  [serverError('25P03', 'FATAL'), 'ledger/unreachable', 'retry'],
  [serverError('58030'), 'ledger/unreachable', 'retry'],
  [serverError('53100'), 'ledger/full', 'retry'],
  [serverError('25006'), 'ledger/refused', 'retry'],
  [serverError('28P01', 'FATAL'), 'ledger/refused', 'invalid'],
  [serverError('3D000', 'FATAL'), 'ledger/refused', 'invalid'],
  [serverError('42501'), 'ledger/refused', 'invalid'],
  [serverError('42P01'), 'ledger/corrupt', 'give-up'],
  [serverError('XX001'), 'ledger/corrupt', 'give-up'],
  [serverError('25P04', 'FATAL'), 'ledger/unreachable', 'retry'],
  [serverError('55000', 'FATAL'), 'ledger/unreachable', 'retry'],
  // The severity is a word in the language of the server.
  [serverError('55000', 'ВАЖНО'), 'ledger/unreachable', 'retry'],
  [serverError('55006'), 'ledger/unreachable', 'retry'],
  [serverError('0A000', 'FATAL'), 'ledger/unreachable', 'retry'],
  [serverError('42501', 'FATAL'), 'ledger/refused', 'invalid'],
  [serverError('54000'), 'ledger/refused', 'retry'],
  [serverError('55P02'), 'ledger/refused', 'retry'],
  [serverError('22P02'), 'ledger/corrupt', 'give-up'],
  [thrown('connect ECONNREFUSED', 'ECONNREFUSED'), 'ledger/unreachable', 'retry'],
  [thrown('getaddrinfo', 'EAI_AGAIN'), 'ledger/unreachable', 'retry'],
  [thrown('self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT'), 'ledger/refused', 'invalid'],
  [thrown('The server does not support SSL connections'), 'ledger/refused', 'invalid'],
  [thrown('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), 'ledger/refused', 'invalid'],
  [thrown('Connection terminated unexpectedly'), 'ledger/unreachable', 'retry'],
  // A server that could not start a process for the connection.
  [thrown('There was an error establishing an SSL connection'), 'ledger/unreachable', 'retry'],
  [new CommitUnanswered('no answer'), 'ledger/unanswered', 'retry'],
] as const)('%s has a code and a remedy', ([error, code, disposition]) => {
  const found = explainPostgres(error, 'postgres://ann@db/fleet');
  if (!(found instanceof PortolanError)) throw new Error('it is not explained');
  expect([found.code, found.disposition]).toEqual([code, disposition]);
  expect(found.remedy.length).toBeGreaterThan(20);
});

test('an error of ours stays what it is', () => {
  for (const error of [new TypeError('a bug'), serverError('42601'), serverError('23514')])
    expect(explainPostgres(driverError(error, true), 'x')).toBe(error);
  const error = new Error('a bug outside of the driver');
  expect(explainPostgres(error, 'x')).toBe(error);
});
