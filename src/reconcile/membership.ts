import type { ApplyWorld } from './apply/world.ts';
import { listPorts } from '../kinds/component/readings.ts';
import { PortolanError } from '../model/errors.ts';
import type { Scope } from '../model/ids.ts';
import { keyOf, type Readable } from '../model/reading.ts';
import { listComponents } from '../platform/readings.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { CachingReader } from './scope-reader.ts';

type Members = (serviceId: string) => Belonging;

const MEMBER: Belonging = { type: 'member' };
const STRANGER: Belonging = { type: 'stranger' };

/**
 * Membership by the listing of components, read at most once per `observationMaxAgeMs` while something is written. A
 * server that lists none checks each request by itself, unless the application has no components: their number decides.
 */
export function createMembership(
  { client, clock, timing }: Pick<ApplyWorld, 'client' | 'clock' | 'timing'>,
  scope: Scope,
) {
  const strangers = new Set<string>();
  let asked: { readonly atMs: MonotonicMs; readonly members: Promise<Members> } | undefined;

  async function read(): Promise<Members> {
    const listed = await client.read(listComponents, scope);
    if (listed.readable) {
      const ids = new Set(listed.value.map(({ serviceId }) => serviceId));
      return (serviceId) => (ids.has(serviceId) ? MEMBER : STRANGER);
    }
    const application = await client.application(scope);
    return () => ((application?.componentCount ?? 0) > 0 ? MEMBER : STRANGER);
  }

  function members(): Promise<Members> {
    const nowMs = clock.monotonic();
    if (asked === undefined || nowMs - asked.atMs > timing.observationMaxAgeMs) {
      asked = { atMs: nowMs, members: read().catch((error: unknown) => unread(error)) };
    }
    return asked.members;
  }

  return {
    /** Returns a reader that knows which of the components that were asked about are not in the application. */
    inform: async (reader: CachingReader): Promise<CachingReader> => {
      const answers = [...strangers].map(async (id) => [listPorts(id), await answerFor(reader, id)] as const);
      return reader.knowing({ answers: await Promise.all(answers) });
    },
    /**
     * Read from the platform, never inferred from an answer to a write: an application without components lets a request
     * for the component of another one through.
     */
    of: async (serviceId: string): Promise<Belonging> => {
      const belonging = (await members())(serviceId);
      if (belonging.type === 'stranger') strangers.add(serviceId);
      return belonging;
    },
  };
}

/** The ports of a component that is not in the application: what the platform said of its absence, where it was asked. */
async function answerFor(reader: CachingReader, stranger: string): Promise<Readable<never>> {
  const ports = listPorts(stranger);
  if (reader.askedMs(keyOf(ports)) === undefined) return { readable: false };
  const known = await reader.read(ports).catch(() => undefined);
  return known?.readable === false && known.absent !== undefined ? known : { readable: false };
}

function unread(error: unknown): Members {
  if (!(error instanceof PortolanError)) throw error;
  const { message, remedy } = error;
  return () => ({ type: 'unknown', message, remedy });
}

/** Whether components belong to the application that is written to. */
export type Membership = Pick<ReturnType<typeof createMembership>, 'of'>;

type Belonging =
  | { readonly type: 'member' }
  | { readonly type: 'stranger' }
  /** It could not be read: nothing is sent then. */
  | { readonly type: 'unknown'; readonly message: string; readonly remedy: string };
