import type { LedgerOperation } from '../../src/ledger/ledger.ts';
import type { Timeline } from './timeline.ts';

/** What happened, line by line. Its hash is always made; the lines are kept where somebody will read them. */
export class Trace {
  readonly lines: string[] = [];
  readonly #timeline: Timeline;
  readonly #keepsLines: boolean;
  #hash = 0x811c9dc5;

  constructor(timeline: Timeline, keepsLines: boolean) {
    this.#timeline = timeline;
    this.#keepsLines = keepsLines;
  }

  note(text: string): void {
    const { nowMs } = this.#timeline;
    let hash = this.#hash ^ nowMs;
    for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    this.#hash = hash;
    if (this.#keepsLines) this.lines.push(`${String(nowMs).padStart(9)} ms  ${text}`);
  }

  get hash(): number {
    return this.#hash >>> 0;
  }
}

/** An operation in the trace. */
export function inShort(operation: LedgerOperation): string {
  switch (operation.op) {
    case 'set-fact':
      return operation.key.startsWith('account') ? `${operation.key} ${operation.value}` : operation.key.slice(0, 40);
    case 'accept-snapshot':
      return `accept ${operation.snapshot.id.slice(0, 8)}`;
    case 'record':
      return operation.event;
    default:
      return operation.op;
  }
}
