import type { ScopeReader, ScopeReading } from '../kinds/reconciled.ts';
import { PortolanError } from '../model/errors.ts';
import type { ApplicationRecord } from '../platform/records.ts';
import { keyOf, type Readable, type Reading } from '../model/reading.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { AppAddress } from '../platform/writes.ts';
import type { Clock } from '../runtime/clock.ts';

/** Code of the error for an application that disappeared during a pass. */
export const VANISHED = 'application/vanished';

/** A reader of one scope that asks the platform at most once for each thing, however many kinds want it. */
export interface CachingReader extends ScopeReader {
  /** A reader that has forgotten these readings and keeps the others; without arguments, all but the application. */
  without(readings?: ReadonlySet<ScopeReading>): CachingReader;
  /** A reader that has forgotten the application and what answers for other applications too, and asks for itself alone. */
  alone(): CachingReader;
  /** A reader that has these answers as well. */
  knowing(known: AlreadyRead): CachingReader;
  /** When this was asked for; undefined: it was not. Without a clock, every answer counts as old. */
  askedMs(reading: ScopeReading): MonotonicMs | undefined;
  /** Asks for what was asked for already. */
  reread(reading: ScopeReading): Promise<unknown>;
}

interface Answered {
  readonly askedMs: MonotonicMs;
  readonly answer: Promise<unknown>;
}

type Answers = Map<ScopeReading, Answered>;

/** Answers that were read already. They are not read again while they are fresh. */
export interface AlreadyRead {
  readonly application?: ApplicationRecord;
  readonly answers?: readonly (readonly [Reading<unknown>, Readable<unknown>])[];
}

/** Parts of a reader besides the platform. */
export interface ReaderContext {
  /** Gives answers an age. Callers that write need it. */
  readonly clock?: Clock;
  /** Readings that answer for other applications too, in the place of the client's; undefined: it does not share that. */
  readonly shared?: <T>(reading: Reading<T>) => Promise<Readable<T>> | undefined;
}

export function createScopeReader(
  client: PlatformClient,
  app: AppAddress,
  known: AlreadyRead,
  context: ReaderContext = {},
): CachingReader {
  return reader({ client, app, readings: new Map() }, new Map(), context).knowing(known);
}

interface Asked {
  readonly client: PlatformClient;
  readonly app: AppAddress;
  /** Readings by key, to read them again. */
  readonly readings: Map<ScopeReading, Reading<unknown>>;
}

function reader(asked: Asked, answers: Answers, context: ReaderContext): CachingReader {
  const { client, app, readings } = asked;
  const nowMs = (): MonotonicMs => context.clock?.monotonic() ?? Number.NEGATIVE_INFINITY;
  const once = <T>(reading: ScopeReading, ask: () => Promise<T>): Promise<T> => {
    const known = answers.get(reading);
    if (known !== undefined) return known.answer as Promise<T>;
    const answered = { askedMs: nowMs(), answer: ask() };
    answers.set(reading, answered);
    return answered.answer;
  };
  const { shared: _, ...alone } = context;
  const self: CachingReader = {
    isShared: context.shared !== undefined,
    read: (reading) => {
      const key = keyOf(reading);
      readings.set(key, reading);
      return once(key, () => ask(asked, answers, context, reading));
    },
    readFresh: (reading) => client.read(reading, app),
    application: () => once('application', () => existing(client, app)),
    has: async (listing) => (await client.probe(listing, app)) === 'yes',
    without: (forgotten) => {
      const kept = forgotten === undefined ? [] : [...answers].filter(([reading]) => !forgotten.has(reading));
      // A repeated reading is for this application alone.
      return reader(asked, new Map(kept), forgotten === undefined ? alone : context);
    },
    alone: () => {
      const isOwn = (key: ScopeReading): boolean => {
        const { below, shared } = readings.get(key) ?? {};
        return key !== 'application' && below === undefined && shared === undefined;
      };
      return reader(asked, new Map([...answers].filter(([key]) => isOwn(key))), alone);
    },
    knowing: (known) => reader(asked, new Map([...answers, ...knownAnswers(known, readings, nowMs())]), context),
    askedMs: (reading) => answers.get(reading)?.askedMs,
    reread: (reading) => {
      if (reading === 'application') return self.application();
      const known = readings.get(reading);
      if (known === undefined) throw new Error(`${reading} was not asked for`);
      return self.read(known);
    },
  };
  return self;
}

/** Reads what the reader of an application does not have yet. */
async function ask<T>(
  { client, app }: Asked,
  answers: Answers,
  { shared }: ReaderContext,
  reading: Reading<T>,
): Promise<Readable<T>> {
  if (reading.component !== undefined) {
    // An application without components answers for those of any other, and a write there really writes.
    const application = (await answers.get('application')?.answer) as ApplicationRecord | undefined;
    if (application?.componentCount === 0) return { readable: false };
  }
  try {
    return await (shared?.(reading) ?? client.read(reading, app));
  } catch (error) {
    const isRefused = error instanceof PortolanError && error.disposition !== 'retry';
    if (reading.mayBeRefused !== true || !isRefused) throw error;
    return { readable: false };
  }
}

/** @param readings what was asked for: known answers are noted there as well */
function knownAnswers(
  { application, answers = [] }: AlreadyRead,
  readings: Asked['readings'],
  askedMs: MonotonicMs,
): Answers {
  const known: Answers = new Map();
  const add = (key: ScopeReading, answer: unknown): void =>
    void known.set(key, { askedMs, answer: Promise.resolve(answer) });
  if (application !== undefined) add('application', application);
  for (const [reading, answer] of answers) {
    readings.set(keyOf(reading), reading);
    add(keyOf(reading), answer);
  }
  return known;
}

async function existing(client: PlatformClient, app: AppAddress): Promise<ApplicationRecord> {
  const application = await client.application(app);
  if (application === undefined) {
    throw new PortolanError({
      code: VANISHED,
      disposition: 'retry',
      message: `application ${app.team}/${app.region}/${app.appId} was listed and is not there when asked for at ${client.url}; nothing was done for it`,
      remedy: 'Run the same command again; if it stays, look for the application in the console.',
    });
  }
  return application;
}
