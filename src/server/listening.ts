import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerSettings } from '../configuration/settings/server-spec.ts';
import { PortolanError } from '../model/errors.ts';
import { parseListen } from './hosts.ts';

/** Returns the error for an address that a server cannot use. */
export function cannotListen({ listen }: ServerSettings, error: unknown): PortolanError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new PortolanError({
    code: 'server/cannot-listen',
    disposition: 'give-up',
    message: `The server cannot listen on ${listen} (${code ?? message}).`,
    remedy: 'Free the address, or choose another one in spec.server.listen of Settings; port 0 selects a free port.',
    cause: error,
  });
}

/** Returns the URL of a server that listens. */
export function urlOf(server: Pick<Server, 'address'>, { listen, tls }: ServerSettings): string {
  const { host } = parseListen(listen);
  const { port } = server.address() as AddressInfo;
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}`;
}
