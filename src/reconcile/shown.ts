import type { ReconciledKinds } from '../kinds/define.ts';
import { linesOf, type ViewReader } from '../kinds/view.ts';
import { PortolanError } from '../model/errors.ts';
import { keyOf } from '../model/reading.ts';
import type { ShownLine } from '../model/shown.ts';
import type { Seen } from './work.ts';

/**
 * Returns the lines that kinds show for an observation, one for each key.
 * @param reads `all` asks for what the plan had no need of; `known` only takes what was read.
 * @returns with what could not be seen, for people.
 */
export async function shownLines(
  { reader, work, live, ledgerView }: Pick<Seen, 'reader' | 'work' | 'live' | 'ledgerView'>,
  kinds: ReconciledKinds,
  reads: 'all' | 'known',
): Promise<{ readonly lines: readonly ShownLine[]; readonly unseen: readonly string[] }> {
  const unseen = new Set<string>();
  const read: ViewReader['read'] = async (reading, what) => {
    if (reads === 'known' && reader.askedMs(keyOf(reading)) === undefined) return undefined;
    try {
      const answer = await reader.read(reading);
      if (answer.readable) return answer.value;
      if (reading.component === undefined) unseen.add(`${what}: this server does not list them`);
    } catch (error) {
      const isStopped = error instanceof PortolanError && error.code === 'platform/stopped';
      if (!(error instanceof PortolanError) || (isStopped && reads === 'all')) throw error;
      unseen.add(`${what}: ${error.message}`);
    }
    return undefined;
  };
  const context = { resources: work.resources, live, ledgerView, reader: { read } };
  const inOrder = [...kinds.values()].toSorted((left, right) => left.order - right.order);
  const byKey = new Map<string, ShownLine>();
  for (const kind of inOrder)
    for (const line of await linesOf(kind, context))
      if (line.isStandIn !== true || !byKey.has(line.key)) byKey.set(line.key, line);
  return { lines: [...byKey.values()], unseen: [...unseen] };
}
