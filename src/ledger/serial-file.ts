import { createEmpty, fileExists, moveInto, openInPlace, readText, remove } from './files.ts';
import type { Standing } from './migrations.ts';

/** Lineage, serial and epoch of a ledger at its last request, from the file beside it. */
export type SerialMark = Pick<Standing, 'lineage' | 'serial' | 'epoch'>;

/** `<ledger>.serial`: beside the ledger, so that an older copy of the ledger in its place is noticed. */
export function serialPath(ledger: string): string {
  return `${ledger}.serial`;
}

const FORMAT = /^portolan-serial 1 ([0-9a-f]+) serial (\d{16}) epoch (\d{16})\n$/;

/** Always of one length: it is written in place, in one piece, at the beginning of the file. */
function textOf({ lineage, serial, epoch }: SerialMark): string {
  return `portolan-serial 1 ${lineage} serial ${String(serial).padStart(16, '0')} epoch ${String(epoch).padStart(16, '0')}\n`;
}

/** The mark beside a ledger; undefined where there is none, or none that can be read: that proves nothing. */
export function readSerialMark(ledger: string): SerialMark | undefined {
  const path = serialPath(ledger);
  const [, lineage, serial, epoch] = (fileExists(path) && FORMAT.exec(readText(path))) || [];
  return lineage === undefined ? undefined : { lineage, serial: Number(serial), epoch: Number(epoch) };
}

/** Returns whether a ledger is older than the mark beside it: it was replaced with an older copy. */
export function isOlder({ lineage, serial }: SerialMark, mark: SerialMark | undefined): mark is SerialMark {
  return mark !== undefined && mark.lineage === lineage && mark.serial > serial;
}

/** Keeps the mark beside an open ledger. The ledger commits first, so the mark is never ahead of what the ledger has. */
export interface SerialFile {
  /** @param durable the mark must survive a power cut before this returns. */
  write(serial: number, durable: boolean): void;
  close(): void;
}

/** Writes the mark of a ledger that was just opened, and keeps the file open. */
export function openSerialFile(ledger: string, standing: SerialMark): SerialFile {
  const path = serialPath(ledger);
  const text = textOf(standing);
  const present = fileExists(path) ? readText(path) : undefined;
  if (present?.length !== text.length) create(path);
  const file = openInPlace(path);
  const write = (serial: number, durable: boolean): void => file.write(textOf({ ...standing, serial }), durable);
  write(standing.serial, true);
  return { write, close: () => file.close() };
}

/** A new file takes the place of the old one as a whole. */
function create(path: string): void {
  const unfinished = `${path}.creating`;
  remove(unfinished);
  createEmpty(unfinished);
  moveInto(unfinished, path);
}
