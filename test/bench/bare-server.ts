/**
 * Answers every GET with the same bytes, as fast as Node can, so that whoever asks is what is measured. A process of its own,
 * started by `transport.ts`, which sends it the body and is told the port.
 */
import { type AddressInfo, createServer } from 'node:net';

const END_OF_REQUEST = Buffer.from('\r\n\r\n');

process.once('message', (body: string) => {
  const bytes = Buffer.byteLength(body);
  const answer = Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\nconnection: keep-alive\r\n\r\n${body}`,
  );
  const server = createServer({ noDelay: true }, (socket) => {
    let rest = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => {
      rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
      for (let end = rest.indexOf(END_OF_REQUEST); end !== -1; end = rest.indexOf(END_OF_REQUEST)) {
        rest = rest.subarray(end + END_OF_REQUEST.length);
        socket.write(answer);
      }
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
process.once('disconnect', () => process.exit(0));
