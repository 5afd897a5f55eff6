import type { PostgresAddress } from './address.ts';

/**
 * Returns the password for an address in a password file of libpq: lines of `host:port:database:user:password`, where `*`
 * matches everything and a backslash escapes a colon or a backslash.
 */
export function passwordIn(
  text: string,
  { host, port, database, user }: Pick<PostgresAddress, 'host' | 'port' | 'database' | 'user'>,
): string | undefined {
  // libpq looks for a socket under the name localhost.
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const password = fields[wanted.length];
    if (password !== undefined && wanted.every((value, at) => fields[at] === '*' || fields[at] === value))
      return password;
  }
  return undefined;
}

function fieldsOf(line: string): readonly string[] {
  const fields = [''];
  for (const [character] of line.matchAll(/\\?[^]/g)) {
    if (character === ':') fields.push('');
    else fields.push(`${fields.pop() ?? ''}${character.length > 1 ? character.slice(1) : character}`);
  }
  return fields;
}
