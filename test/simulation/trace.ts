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
