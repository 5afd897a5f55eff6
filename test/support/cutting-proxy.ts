import { connect, createServer, type Server, type Socket } from 'node:net';

/** Forwards bytes to a server, and ends connections where it is told to. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: number;
  /** Bytes of requests and answers that may pass until everything is cut; undefined: no limit. */
  #left: { direction: 'requests' | 'answers'; bytes: number } | undefined;
  /** Refuses connections: the server is out of reach. */
  #isRefusing = false;
  cuts = 0;
  /** Bytes of requests and answers that passed so far. */
  requested = 0;
  answered = 0;
  #onCut: (() => void) | undefined;
  /** Sent in place of the bytes that would pass last. */
  #last: Buffer | undefined;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async before(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /**
   * Cuts every connection once this many bytes have passed in a direction, in the middle of a message.
   * @param last sent in place of the part that has these last bytes, as by a pooler that says why.
   */
  cutAfter(direction: 'requests' | 'answers', bytes: number, onCut?: () => void, last?: Buffer): void {
    this.#left = { direction, bytes };
    this.#onCut = onCut;
    this.#last = last;
  }

  /** Ends every connection, and each new one at once. */
  refuse(): void {
    this.#isRefusing = true;
    this.cut();
  }

  heal(): void {
    this.#left = undefined;
    this.#isRefusing = false;
  }

  cut(): void {
    this.cuts += 1;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    if (this.#isRefusing) {
      client.on('error', () => {});
      client.destroy();
      return;
    }
    const server = connect(this.#target, '127.0.0.1');
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('error', () => {});
    }
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    client.on('close', end);
    server.on('close', end);
    client.on('data', (data) => this.#pass('requests', data, server));
    server.on('data', (data) => this.#pass('answers', data, client));
  }

  #pass(direction: 'requests' | 'answers', data: Buffer, to: Socket): void {
    if (direction === 'answers') this.answered += data.length;
    else this.requested += data.length;
    const left = this.#left;
    if (left?.direction !== direction) {
      to.write(data);
      return;
    }
    if (data.length < left.bytes) {
      left.bytes -= data.length;
      to.write(data);
      return;
    }
    // What was written before the cut arrives.
    this.#left = undefined;
    to.write(this.#last ?? data.subarray(0, left.bytes), () => {
      this.cut();
      this.#onCut?.();
    });
  }
}
