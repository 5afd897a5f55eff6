import { parseAddress, type PostgresAddress } from '../../ledger/postgres/address.ts';
import { UnusableFile } from '../../ledger/postgres/faults.ts';
import { openPostgresLedger, type PostgresLedgerOptions } from '../../ledger/postgres/open.ts';
import { passwordIn } from '../../ledger/postgres/password-file.ts';
import { type Certificates, faultOfCertificates, type PostgresAccess } from '../../ledger/postgres/pool.ts';
import type { SqlLedger } from '../../ledger/sql-ledger.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { Secret } from '../../model/secret.ts';
import type { Surroundings } from './command.ts';
import { readFileIfThere, readNamedFile } from './files.ts';
import { ledgerWarnings } from './ledger-warnings.ts';
import { openSecret } from './secrets.ts';

/** Opens the ledger that a URL names. @throws PortolanError of `openPostgresLedger`, and `invalid` for a URL that is wrong. */
export async function openPostgres(
  url: string,
  options: Pick<PostgresLedgerOptions, 'actor' | 'readOnly' | 'mustExist'>,
  surroundings: Surroundings,
): Promise<SqlLedger> {
  const { clock, random, terminal } = surroundings;
  const { onRetired } = ledgerWarnings(terminal);
  return openPostgresLedger(postgresAccess(url, surroundings), { clock, random, onRetired, ...options });
}

/**
 * Returns what a connection takes. Files are read now, so that a mistake is reported at once, and for each connection.
 * @throws PortolanError `invalid` for a wrong URL, or a file that cannot be used.
 */
export function postgresAccess(
  url: string,
  surroundings: Pick<Surroundings, 'env' | 'clock' | 'redaction'>,
): PostgresAccess {
  const address = parseAddress(url);
  readCertificates(address);
  return {
    address,
    password: passwordOf(address, surroundings),
    certificates: () => {
      try {
        return readCertificates(address);
      } catch (error) {
        if (!(error instanceof PortolanError)) throw error;
        throw new UnusableFile(error.message.replace(/\. Nothing was done\.$/, ''), { cause: error });
      }
    },
  };
}

function readCertificates({ rootCertificate, clientCertificate, clientKey }: PostgresAddress): Certificates {
  const text = (path: string | undefined, what: string): string | undefined =>
    path === undefined ? undefined : new TextDecoder().decode(readNamedFile(path, what));
  const certificates = {
    root: text(rootCertificate, 'the CA of the database'),
    client: text(clientCertificate, 'the client certificate for the database'),
    key: text(clientKey, 'the key of the client certificate'),
  };
  const fault = faultOfCertificates(certificates);
  if (fault === undefined) return certificates;
  const files = [rootCertificate, clientCertificate, clientKey].filter((path) => path !== undefined).join(', ');
  throw invalidInput(
    'ledger/refused',
    `The certificates for the database cannot be used (${fault}): ${files}. Nothing was done.`,
    'Correct the files: a CA, a client certificate and the key of that certificate, in PEM form.',
  );
}

/** Finds the password as libpq does, after the file that the URL names. */
function passwordOf(
  address: PostgresAddress,
  surroundings: Pick<Surroundings, 'env' | 'clock' | 'redaction'>,
): () => Secret | undefined {
  const { env } = surroundings;
  const where = `the ledger ${address.location}`;
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
