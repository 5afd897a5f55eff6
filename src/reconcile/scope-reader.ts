import type { Readable, ScopeReader, ScopeReading } from '../kinds/reconciled.ts';
import { PortolanError } from '../model/errors.ts';
import type {
  ApplicationRecord,
  CertificateRecord,
  InstalledModel,
  PlacedRule,
  RuleRecord,
} from '../model/observed.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { Reading } from '../model/reading.ts';
import type { AppAddress } from '../platform/writes.ts';
import type { Clock } from '../runtime/clock.ts';

/** Of an application that was there a moment ago. */
export const VANISHED = 'application/vanished';

/** A reader of one scope that asks the platform at most once for each thing, however many kinds want it. */
export interface CachingReader extends ScopeReader {
  installed(): Promise<Readable<readonly InstalledModel[]>>;
  /** A reader that has forgotten these readings and keeps the others; without arguments, all but the application. */
  without(readings?: ReadonlySet<ScopeReading>): CachingReader;
  /** A reader that has these answers as well. */
  knowing(known: AlreadyRead): CachingReader;
  /** When this was asked for; undefined: it was not. Without a clock, every answer counts as old. */
  askedMs(reading: ScopeReading): MonotonicMs | undefined;
  read(reading: ScopeReading): Promise<unknown>;
}

interface Answered {
  readonly askedMs: MonotonicMs;
  readonly answer: Promise<unknown>;
}

type Answers = Map<ScopeReading, Answered>;

/** What was read already: not asked again while it is fresh. */
export interface AlreadyRead {
  readonly application?: ApplicationRecord;
  readonly rules?: Readable<readonly RuleRecord[]>;
  readonly certificates?: Readable<readonly CertificateRecord[]>;
  readonly 'every-rule'?: Readable<readonly PlacedRule[]>;
  /** A component that is not in the application. */
  readonly [reading: `ports ${string}`]: undefined;
}

/** Reads of the team, for several of its applications. */
export interface SharedReads {
  certificates(): Promise<Readable<readonly CertificateRecord[]>>;
}

/** What a reader has besides the platform. */
export interface ReaderContext {
  /** Of whoever writes upon the answers: it gives them an age. */
  readonly clock?: Clock;
  /** Reads that answer for other applications too, in the place of the client's. */
  readonly shared?: SharedReads;
}

export function createScopeReader(
  client: PlatformClient,
  app: AppAddress,
  known: AlreadyRead,
  context: ReaderContext = {},
): CachingReader {
  return reader(
    { client, app, absences: new Map(), declared: new Map() },
    new Map(knownAnswers(known, nowOf(context))),
    context,
  );
}

function nowOf({ clock }: ReaderContext): MonotonicMs {
  return clock?.monotonic() ?? Number.NEGATIVE_INFINITY;
}

function knownAnswers(known: AlreadyRead, askedMs: MonotonicMs): [ScopeReading, Answered][] {
  return Object.entries(known).map(([reading, answer]) => [
    reading as ScopeReading,
    { askedMs, answer: Promise.resolve(answer) },
  ]);
}

interface Asked {
  readonly client: PlatformClient;
  readonly app: AppAddress;
  /** The platform's message by component that is not in the application. */
  readonly absences: Map<string, string>;
  /** Declared readings that were asked for, to ask for them again. */
  readonly declared: Map<ScopeReading, Reading<unknown>>;
}

function reader(asked: Asked, answers: Answers, context: ReaderContext): CachingReader {
  const { client, app, absences, declared } = asked;
  const once = <T>(reading: ScopeReading, ask: () => Promise<T>): Promise<T> => {
    const known = answers.get(reading);
    if (known !== undefined) return known.answer as Promise<T>;
    const answered = { askedMs: nowOf(context), answer: ask() };
    answers.set(reading, answered);
    return answered.answer;
  };
  /** An application without components answers for those of any other, and a write there really writes. */
  const isEmpty = async (): Promise<boolean> => {
    const application = (await answers.get('application')?.answer) as ApplicationRecord | undefined;
    return application?.componentCount === 0;
  };
  const self: CachingReader = {
    ports: (serviceId) =>
      once(`ports ${serviceId}`, async () => {
        if (await isEmpty()) return undefined;
        const answer = await client.componentPorts(app, serviceId);
        if (answer.isThere) return answer.ports;
        absences.set(serviceId, answer.message);
        return undefined;
      }),
    absence: (serviceId) => absences.get(serviceId),
    rule: (ruleId) => client.rule(app, ruleId),
    rules: () => once('rules', () => client.rules(app)),
    everyRule: () => once('every-rule', () => everyRule(client)),
    certificates: () => once('certificates', () => context.shared?.certificates() ?? client.certificates(app.team)),
    builds: (serviceId) => client.builds(app, serviceId),
    declared: <T>(reading: Reading<T>) => {
      declared.set(`declared ${reading.operation}`, reading);
      return once(`declared ${reading.operation}`, () => client.declared(reading, app));
    },
    eventLog: (eventId) => client.eventLog(app, eventId),
    components: () => once('components', () => client.components(app)),
    endpoints: () => once('endpoints', () => client.endpoints(app)),
    installed: () => once('installed', () => client.installed(app)),
    application: () => once('application', () => existing(client, app)),
    can: async (ability) => (await client.probe(ability, app)) === 'yes',
    without: (readings) => {
      const kept = readings === undefined ? [] : [...answers].filter(([reading]) => !readings.has(reading));
      // What is asked again is asked for this application alone.
      const isAskedAgain = readings === undefined || readings.has('certificates');
      const { shared: _, ...alone } = context;
      return reader(asked, new Map(kept), isAskedAgain ? alone : context);
    },
    knowing: (known) => reader(asked, new Map([...answers, ...knownAnswers(known, nowOf(context))]), context),
    askedMs: (reading) => answers.get(reading)?.askedMs,
    read: (reading) => readAgain(self, declared, reading),
  };
  return self;
}

/** Asks for a reading by its name. */
function readAgain(
  reader: CachingReader,
  declared: ReadonlyMap<ScopeReading, Reading<unknown>>,
  reading: ScopeReading,
): Promise<unknown> {
  const [, serviceId] = /^ports (.+)$/.exec(reading) ?? [];
  if (serviceId !== undefined) return reader.ports(serviceId);
  const known = declared.get(reading);
  if (known !== undefined) return reader.declared(known);
  const named: Readonly<Record<Exclude<ScopeReading, `${string} ${string}`>, () => Promise<unknown>>> = {
    application: reader.application,
    certificates: reader.certificates,
    components: reader.components,
    endpoints: reader.endpoints,
    installed: reader.installed,
    rules: reader.rules,
    'every-rule': reader.everyRule,
  };
  return named[reading as keyof typeof named]();
}

/** A server that lists one application's rules may refuse those of everybody, or hold one that nobody can read. */
async function everyRule(client: PlatformClient): Promise<Readable<readonly PlacedRule[]>> {
  try {
    return await client.allRules();
  } catch (error) {
    if (!(error instanceof PortolanError) || error.disposition === 'retry') throw error;
    return { readable: false };
  }
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
