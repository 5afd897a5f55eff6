import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerSettings } from '../configuration/settings/server-spec.ts';
import type { ServerLimits } from './limits.ts';
import { trustedProxies } from './proxies.ts';

/** Limits of all connections, and of those from one address that is not a trusted proxy. */
type Limits = Pick<ServerLimits, 'connections'>;
type Settings = Pick<ServerSettings, 'connectionsPerAddress' | 'trustedProxies'>;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** A whole request has arrived and is being answered. Such a connection is never closed to make room. */
  isAnswering: boolean;
}

/**
 * Bounds the connections of a server so that a flood of half-sent requests cannot keep others out. A new connection over a
 * limit replaces the one that has waited longest without a whole request; if all of them are being answered, the new one is
 * closed. A probe or a command arrives within milliseconds, so it always gets a connection.
 */
export function limitConnections(server: Server, { connections }: Limits, settings: Settings) {
  /** Connections by remote address and port, which a TLS socket shares with the socket below it. Oldest first. */
  const open = new Map<string, Connection>();
  const currentOf = ({ connectionsPerAddress, trustedProxies: proxies }: Settings) => {
    return { connectionsPerAddress, isProxy: trustedProxies(proxies) };
  };
  let current = currentOf(settings);

  const makeRoom = (isOverLimit: () => boolean, candidates: () => Iterable<Connection>): boolean => {
    if (!isOverLimit()) return true;
    for (const connection of candidates()) {
      if (connection.isAnswering) continue;
      close(connection);
      return true;
    }
    return false;
  };
  const close = (connection: Connection): void => {
    open.delete(keyOf(connection.socket));
    connection.socket.destroy();
  };

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const ofAddress = (): Connection[] => [...open.values()].filter((other) => other.address === address);
    const { connectionsPerAddress, isProxy } = current;
    const hasRoom =
      (isProxy(address) || makeRoom(() => ofAddress().length >= connectionsPerAddress, ofAddress)) &&
      makeRoom(
        () => open.size >= connections,
        () => open.values(),
      );
    if (!hasRoom) {
      socket.destroy();
      return;
    }
    const key = keyOf(socket);
    const connection: Connection = { socket, address, isAnswering: false };
    open.set(key, connection);
    socket.once('close', () => {
      if (open.get(key) === connection) open.delete(key);
    });
  });

  server.on('request', (request, response) => followRequest(open, request, response));

  return {
    /** Replaces limits and proxies. Open connections stay open. */
    configure: (next: Settings): void => {
      current = currentOf(next);
    },
  };
}

function followRequest(open: Map<string, Connection>, request: IncomingMessage, response: ServerResponse): void {
  const key = keyOf(request.socket);
  const connection = open.get(key);
  if (connection === undefined) return;
  const isWhole = (): void => void (connection.isAnswering = true);
  if (hasBody(request)) request.once('end', isWhole);
  else isWhole();
  response.once('close', () => {
    connection.isAnswering = false;
    if (open.delete(key)) open.set(key, connection);
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
