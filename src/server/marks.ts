import type { ControllerApi } from '../controller/api.ts';
import type { ResourceId } from '../model/ids.ts';
import type { MonitoringHistory, MonitoringMark } from '../model/monitoring.ts';
import type { HistoryRow } from '../model/owned.ts';
import type { EpochMs } from '../model/time.ts';
import { historyEntries } from '../views/history.ts';
import { markOf } from '../views/monitoring.ts';

const PAGE = 200;
const ROWS_MAX = 2_000;
const MARKS_MAX = 200;

/** Returns changes and drift of an application in a time, oldest first. */
export async function marksOf(
  api: Pick<ControllerApi, 'history'>,
  application: ResourceId,
  { fromMs, toMs }: { readonly fromMs: EpochMs; readonly toMs: EpochMs },
): Promise<Pick<MonitoringHistory, 'marks' | 'marksComplete'>> {
  const marks: MonitoringMark[] = [];
  const reading = { rows: 0 };
  for await (const entry of historyEntries(rowsSince(api, application, fromMs, reading))) {
    const mark = entry.atMs < fromMs || entry.atMs > toMs ? undefined : markOf(entry);
    if (mark !== undefined) marks.push(mark);
  }
  const newest = marks.sort((left, right) => right.atMs - left.atMs).slice(0, MARKS_MAX);
  return { marks: newest.reverse(), marksComplete: marks.length <= MARKS_MAX && reading.rows < ROWS_MAX };
}

/** Yields the rows since a time, newest first, up to a limit. */
async function* rowsSince(
  api: Pick<ControllerApi, 'history'>,
  application: ResourceId,
  fromMs: EpochMs,
  reading: { rows: number },
): AsyncGenerator<HistoryRow> {
  let beforeSerial: number | undefined;
  for (let limit = PAGE; reading.rows < ROWS_MAX; ) {
    const page = await api.history({
      application,
      limit,
      ...(beforeSerial === undefined ? {} : { beforeSerial }),
    });
    const last = page.at(-1);
    const isEnd = page.length < limit || last === undefined;
    // The rows of one transaction have one serial, and the page may end among them.
    const whole = isEnd ? page : page.filter(({ serial }) => serial !== last.serial);
    for (const row of whole) {
      if (row.atMs < fromMs) return;
      reading.rows += 1;
      yield row;
    }
    if (isEnd) return;
    // Without a whole transaction, the page was too short for one.
    limit = whole.length === 0 ? limit * 2 : PAGE;
    if (whole.length > 0) beforeSerial = last.serial + 1;
  }
}
