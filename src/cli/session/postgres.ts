import { parseAddress, type PostgresAddress } from '../../ledger/postgres/address.ts';
import { openPostgresLedger, type PostgresLedgerOptions } from '../../ledger/postgres/open.ts';
import { passwordIn } from '../../ledger/postgres/password-file.ts';
import type { PostgresAccess } from '../../ledger/postgres/pool.ts';
import type { SqlLedger } from '../../ledger/sql-ledger.ts';
import { Secret } from '../../model/secret.ts';
import type { Surroundings } from './command.ts';
import { readFileIfThere, readNamedFile } from './files.ts';
import { openSecret } from './secrets.ts';

/** Opens the ledger that a URL names. @throws PortolanError of `openPostgresLedger`, and `invalid` for a URL that is wrong. */
export async function openPostgres(
  url: string,
  options: Pick<PostgresLedgerOptions, 'actor' | 'readOnly' | 'mustExist'>,
  surroundings: Surroundings,
): Promise<SqlLedger> {
  const { clock, random } = surroundings;
  return openPostgresLedger(postgresAccess(url, surroundings), { clock, random, ...options });
}

/** Returns what a connection takes. @throws PortolanError `invalid` for a wrong URL, or a file that cannot be read. */
export function postgresAccess(url: string, surroundings: Surroundings): PostgresAccess {
  const address = parseAddress(url);
  const certificate = (path: string | undefined, what: string): string | undefined =>
    path === undefined ? undefined : new TextDecoder().decode(readNamedFile(path, what));
  return {
    address,
    password: passwordOf(address, surroundings),
    certificates: {
      root: certificate(address.rootCertificate, 'the CA of the database'),
      client: certificate(address.clientCertificate, 'the client certificate for the database'),
      key: certificate(address.clientKey, 'the key of the client certificate'),
    },
  };
}

/** Finds the password as libpq does, after the file that the URL names. */
function passwordOf(address: PostgresAddress, surroundings: Surroundings): () => Secret | undefined {
  const { env } = surroundings;
  const where = `The ledger ${address.location}`;
  if (address.passwordFile !== undefined) return openSecret({ file: address.passwordFile }, where, surroundings);
  if (env['PGPASSWORD'] !== undefined) return openSecret({ env: 'PGPASSWORD' }, where, surroundings);
  const file = env['PGPASSFILE'] ?? (env['HOME'] === undefined ? undefined : `${env['HOME']}/.pgpass`);
  if (file === undefined) return () => undefined;
  return () => {
    const content = readFileIfThere(file, 'the password of the ledger');
    const password = content && passwordIn(new TextDecoder().decode(content), address);
    if (password === undefined) return undefined;
    surroundings.redaction.add(password);
    return new Secret(password, `file ${file}`);
  };
}
