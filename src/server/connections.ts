import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import type { ServerSettings } from '../configuration/settings/server-spec.ts';
import type { ServerLimits } from './limits.ts';

/** Connections in all, and of one address that is not a trusted proxy. */
type Limits = Pick<ServerLimits, 'connections'>;
type Settings = Pick<ServerSettings, 'connectionsPerAddress' | 'trustedProxies'>;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** A request is there as a whole and is being answered: it is never closed to make room. */
  isAnswering: boolean;
}

/**
 * Bounds the connections of a server so that a flood of half-sent requests cannot keep others out. A new connection over a
 * limit takes the place of the one that has waited longest without a whole request; where every one is being answered, the
 * new one is closed. A probe or a command is whole within milliseconds, so it always finds a place.
 */
export function limitConnections(server: Server, { connections }: Limits, settings: Settings) {
  /** By remote address and port: a TLS socket and the one below it share them. Oldest first. */
  const open = new Map<string, Connection>();
  const currentOf = ({ connectionsPerAddress, trustedProxies }: Settings) => {
    return { connectionsPerAddress, proxies: proxyList(trustedProxies) };
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
    const isProxy = isIP(address) !== 0 && current.proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
    const ofAddress = (): Connection[] => [...open.values()].filter((other) => other.address === address);
    const { connectionsPerAddress } = current;
    const hasRoom =
      (isProxy || makeRoom(() => ofAddress().length >= connectionsPerAddress, ofAddress)) &&
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
    /** Takes other limits and proxies; connections that are open stay. */
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

/** @param proxies addresses and networks, as the schema of Settings lets them through. */
function proxyList(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
