import { connect } from 'node:net';
import type { Attempt } from './draft.ts';

/** What came back; `status` 0: nothing did, and the connection was closed. */
export interface Answered {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** All bytes that came, as latin1. */
  readonly raw: string;
}

/** Sends the bytes on a connection of its own, and reads one answer. */
export function exchange(port: number, { bytes, isCutShort, isStream }: Attempt): Promise<Answered> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const received: Buffer[] = [];
    const done = (): void => {
      socket.destroy();
      resolve(answerOf(finalAnswer(Buffer.concat(received))));
    };
    socket.on('connect', () => {
      if (isCutShort) socket.end(bytes);
      else socket.write(bytes);
    });
    socket.on('data', (data: Buffer) => {
      received.push(data);
      if (isStream || isWhole(finalAnswer(Buffer.concat(received)))) done();
    });
    socket.on('error', () => {}); // The server may close at any moment; what came until then counts.
    socket.on('close', done);
  });
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** Without interim answers, such as 100 Continue. */
function finalAnswer(bytes: Buffer): Buffer {
  const end = bytes.indexOf(END_OF_HEAD);
  const isInterim = end !== -1 && /^HTTP\/1\.1 1\d\d/.test(bytes.subarray(0, 12).toString('latin1'));
  return isInterim ? finalAnswer(bytes.subarray(end + END_OF_HEAD.length)) : bytes;
}

function isWhole(bytes: Buffer): boolean {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.subarray(0, end).toString('latin1'))?.[1];
  return length !== undefined && bytes.length >= end + END_OF_HEAD.length + Number(length);
}

function answerOf(bytes: Buffer): Answered {
  const raw = bytes.toString('latin1');
  const end = bytes.indexOf(END_OF_HEAD);
  const [first = '', ...lines] = raw.slice(0, Math.max(0, end)).split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0);
  return { status, headers, body: bytes.subarray(end + END_OF_HEAD.length).toString('utf8'), raw };
}
