import { onTestFinished } from 'vitest';
import type { SharedLedger } from '../../../src/ledger/shared.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { MemoryStore } from '../../support/memory-ledger.ts';
import { type DatabaseLink, LinkLost, MemoryDatabase } from '../../support/memory-database.ts';
import { openMemoryShared } from '../../support/memory-shared.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

/** Whether a statement is lost before the database has it, or its answer after that. */
type Cut = 'before' | 'after';

/** A database, and the links of processes to it, which a test cuts. */
export class SharedWorld {
  readonly clock = new VirtualClock();
  readonly database = new MemoryDatabase(new MemoryStore('alineage'), () => this.clock.now());
  readonly lines: string[] = [];
  /** By process: which statements are lost. */
  readonly cut = new Map<string, Cut | ((operation: string) => Cut | undefined)>();
  /** By process: its statements wait for this. */
  readonly hung = new Map<string, Promise<void>>();
  hasSignals = true;

  open(name: string): SharedLedger {
    const link: DatabaseLink = {
      run: async (operation, statement) => {
        await this.hung.get(name);
        const found = this.cut.get(name);
        const cut = typeof found === 'function' ? found(operation) : found;
        if (cut === 'before') throw new LinkLost(false);
        const answer = statement();
        if (cut === 'after') throw new LinkLost(true);
        return answer;
      },
      signal: (deliver) => {
        if (this.hasSignals) queueMicrotask(deliver);
      },
    };
    const options = { clock: this.clock, random: systemRandom, actor: name, replica: name, link };
    const shared = openMemoryShared(this.database, options);
    onTestFinished(() => {
      this.cut.delete(name);
      return shared.close();
    });
    return shared;
  }

  async until(isSo: () => boolean, what: string): Promise<void> {
    for (let turn = 0; turn < 20_000; turn += 1) {
      if (isSo()) return;
      await this.clock.sleep(5);
    }
    throw new Error(`it did not come to that: ${what}`);
  }
}
