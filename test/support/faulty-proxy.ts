import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

type Direction = 'requests' | 'answers';

/** A network to a server that fails like a real one: it is slow, or loses all packets in one direction, and no end is told. */
export class FaultyProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  /** Directions in which nothing passes. Bytes are kept, as by the resending of TCP, and arrive late. */
  readonly #silent = new Set<Direction>();
  #waking: (() => void)[] = [];
  /** Before each piece of an answer. */
  delayMs = 0;

  private constructor(target: number) {
    this.#target = target;
    // A socket that is not half open would confirm the end of the other side by itself.
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  static async before(target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Lets nothing pass in these directions, until `heal`. */
  silence(...directions: readonly Direction[]): void {
    for (const direction of directions) this.#silent.add(direction);
  }

  /** Ends every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  heal(): void {
    this.#silent.clear();
    this.delayMs = 0;
    for (const wake of this.#waking.splice(0)) wake();
  }

  async close(): Promise<void> {
    this.cut();
    this.heal();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    }
    void this.#pass('requests', client, server);
    void this.#pass('answers', server, client);
  }

  async #pass(direction: Direction, from: Socket, to: Socket): Promise<void> {
    try {
      for await (const data of from) {
        if (direction === 'answers' && this.delayMs > 0) await sleep(this.delayMs);
        while (this.#silent.has(direction)) await new Promise<void>((resolve) => this.#waking.push(resolve));
        to.write(data as Buffer);
      }
    } catch {
      // The connection was cut.
    }
    // The end of a connection is a packet, too.
    while (this.#silent.has(direction)) await new Promise<void>((resolve) => this.#waking.push(resolve));
    to.destroy();
  }
}
