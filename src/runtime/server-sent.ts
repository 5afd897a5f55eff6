/** One event of a stream, as the standard of server-sent events defines it. */
export interface ServerSentEvent {
  /** `message` where the stream gives no type. */
  readonly type: string;
  /** Empty for a sign of life. */
  readonly data: string;
  /** Id of this event, or of the last one that had an id. */
  readonly lastId: string;
}

/** Longer than any event. A stream with an endless line would fill the memory. */
const LINE_MAX = 8 * 1024 * 1024;

/**
 * Reads a stream. A comment or a bare field yields an event without data, so that the reader knows the stream is alive.
 */
export async function* serverSentEvents(bytes: AsyncIterable<Uint8Array>): AsyncIterable<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let lastId = '';
  let type = 'message';
  let data: string[] = [];
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > LINE_MAX) throw new Error('the stream has a line without an end');
    const lines = rest.split(/\r\n|\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        yield { type, data: data.join('\n'), lastId };
        type = 'message';
        data = [];
        continue;
      }
      const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === 'data') data.push(value);
      else if (field === 'event') type = value;
      else if (field === 'id') lastId = value;
    }
  }
}
