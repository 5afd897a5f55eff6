import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that a system gives to connections and to servers that name none (from 32768 on Linux, 49152 on
 * macOS): another test, which opens hundreds of those, cannot take the port before its server listens.
 */
const PORTS = { from: 20_000, below: 32_768 };
const ATTEMPTS = 20;

/** A port of this machine that nothing listens on, for a server whose address must be known before it starts. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(PORTS.from, PORTS.below);
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempt === ATTEMPTS) throw cause;
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
