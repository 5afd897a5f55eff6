import type { ReconciledKinds } from '../kinds/define.ts';
import type { Readable, ScopeReading } from '../kinds/reconciled.ts';
import { linesOf, type ViewReader } from '../kinds/view.ts';
import { PortolanError } from '../model/errors.ts';
import type { ShownLine } from '../model/shown.ts';
import type { Seen } from './work.ts';

/**
 * What kinds show of an observation.
 * @param reads `all` asks for what the plan had no need of; `known` only takes what was read.
 * @returns with what could not be seen, for people.
 */
export async function shownLines(
  { reader, work, live, memory }: Pick<Seen, 'reader' | 'work' | 'live' | 'memory'>,
  kinds: ReconciledKinds,
  reads: 'all' | 'known',
): Promise<{ readonly lines: readonly ShownLine[]; readonly unseen: readonly string[] }> {
  const unseen = new Set<string>();
  const seen = async <T>(reading: ScopeReading, what: string, ask: () => Promise<T>): Promise<T | undefined> => {
    if (reads === 'known' && reader.askedMs(reading) === undefined) return undefined;
    try {
      return await ask();
    } catch (error) {
      const isStopped = error instanceof PortolanError && error.code === 'platform/stopped';
      if (!(error instanceof PortolanError) || (isStopped && reads === 'all')) throw error;
      unseen.add(`${what}: ${error.message}`);
      return undefined;
    }
  };
  const listed = async <T>(reading: ScopeReading, what: string, ask: () => Promise<Readable<T>>) => {
    const answer = await seen(reading, what, ask);
    if (answer?.readable === false) unseen.add(`${what}: this server does not list them`);
    return answer?.readable === true ? answer.value : undefined;
  };
  const viewed: ViewReader = {
    components: () => listed('components', 'components that no manifest names', reader.components),
    rules: () => listed('rules', 'rules that no manifest names', reader.rules),
    ports: (serviceId) => seen(`ports ${serviceId}`, `ports of component ${serviceId}`, () => reader.ports(serviceId)),
  };
  const context = { resources: work.resources, live, memory, reader: viewed };
  const inOrder = [...kinds.values()].toSorted((left, right) => left.order - right.order);
  const lines: ShownLine[] = [];
  for (const kind of inOrder) lines.push(...(await linesOf(kind, context)));
  return { lines, unseen: [...unseen] };
}
