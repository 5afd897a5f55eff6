/**
 * A process that holds a ledger, for tests that kill it. Usage: `writer.ts PATH once|forever`. Prints `locked`, or
 * `open <epoch>` and then `done <n>` after each acknowledged commit; errors as `refused <code>`.
 */
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { intent, object, real, record, transaction } from './fixtures.ts';

const [path = '', mode = 'once'] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

async function write(): Promise<void> {
  const ledger = await openSqliteLedger(path, { ...real, actor: `writer, pid ${process.pid}` });
  say(`open ${ledger.epoch}`);
  for (let n = 1; mode === 'forever' || n <= 3; n += 1) {
    const id = `e${ledger.epoch}-${n}`;
    try {
      const begun = intent({ id, uid: id, epoch: ledger.epoch });
      await ledger.commit(transaction([{ op: 'open-intent', intent: begun }, record('began', id)]));
      const put = object({ naturalKey: id, lastApplied: { filler: 'x'.repeat(500) } });
      await ledger.commit(
        transaction([
          { op: 'move-intent', id, state: 'applied' },
          { op: 'put-object', object: put },
          record('ended', id),
        ]),
      );
      say(`done ${id}`);
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      say(`refused ${error.code}`);
      await systemClock.sleep(20);
    }
  }
  await ledger.close();
  say('closed');
}

await write().catch((error: unknown) => {
  if (!(error instanceof PortolanError)) throw error;
  say(`refused ${error.code}: ${error.message}`);
});
