import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A connection to a server that a test can cut. */
export interface Line {
  /** Address of this end. */
  readonly url: string;
  /** Breaks all connections, and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Opens a line to a server; closed when the test ends. */
export async function openLine(to: string): Promise<Line> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  const accept = (near: Socket): void => {
    const far = connect(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  };
  let server = await listen(accept, 0);
  const own = (server.address() as AddressInfo).port;
  const cut = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  onTestFinished(async () => {
    if (server.listening) await cut();
  });
  return {
    url: `http://127.0.0.1:${own}`,
    cut,
    mend: async () => {
      server = await listen(accept, own);
    },
  };
}

async function listen(accept: (socket: Socket) => void, port: number): Promise<Server> {
  const server = createServer(accept).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
