import { PortolanError } from '../model/errors.ts';
import type { CertificateRecord, ComponentSeries, RuleRecord, TcpEndpoint } from '../model/observed.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { Answer, Redact } from './answer.ts';
import type { RequestBudget } from './budget.ts';
import { allCertificates, CERTIFICATES_PER_PAGE, decodeCertificates } from './certificates.ts';
import { classify, classifyFailure, type UnseenAnswer } from './classifier.ts';
import type { Capability, CapabilityState, ComponentPorts, MonitorQuery, PlatformClient, Readable } from './client.ts';
import {
  decodeApplication,
  decodeApplicationSummaries,
  decodeComponents,
  decodeEndpoints,
  decodeInstalled,
  decodePlacedRules,
  decodePorts,
  decodeRule,
  decodeRules,
} from './decode.ts';
import { decodeMonitors, decodeSeries } from './decode-monitor.ts';
import {
  createDialect,
  type DialectKnowledge,
  type DialectSetting,
  deniesEndpoint,
  provedBy,
  type ReadCapability,
} from './dialect.ts';
import type { Reading } from '../model/reading.ts';
import { createEventReads } from './events.ts';
import { missingCapability, storeFailure } from './failures.ts';
import { isForeignRefusal } from './foreign.ts';
import { createRequestGate, type RequestFacts, type RequestGate } from './gate.ts';
import { paths } from './operations.ts';
import { createReader, type ReadCall, type Reader, type SlowRead } from './reader.ts';
import { createRegionReads } from './region-reads.ts';
import { hashOf, writeRequest } from './requests.ts';
import { defaultRetryPolicy, type RetryPolicy } from './retrying.ts';
import { type PlatformRequest, type Transport, TransportError } from './transport.ts';
import type { AppAddress, WriteRequest } from './writes.ts';

export interface PlatformClientOptions {
  /** Name of the operator's `Platform` document. */
  readonly name: string;
  /** As `checkPlatformUrl` returned it; for messages only, the transport knows its own. */
  readonly url: string;
  /** Sends once: `createHttpTransport`, a sandbox, or a simulation. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly dialect: DialectSetting;
  /** What an earlier process found out; only used with `auto`. */
  readonly remembered?: Readonly<Partial<Record<Capability, 'yes' | 'no'>>>;
  /** One for all clients of the same platform. */
  readonly budget: RequestBudget;
  /** `timeoutMs`: of one attempt of a read. Writes have their own. */
  readonly limits: { readonly timeoutMs: number };
  readonly retry?: RetryPolicy;
  /** Ends waiting reads when the process stops. Writes are never given up half way. */
  readonly signal?: AbortSignal;
  /** Masks secrets in what the server says, before it is shown or recorded: servers repeat what they were sent. */
  readonly redact?: Redact;
  /** A read that has a deadline of its own goes unanswered: the status of an application, mostly. */
  readonly onSlow?: (slow: SlowRead) => void;
  /** Called once for each request that left, when it was answered or has failed; each attempt counts. */
  readonly onRequest?: (facts: RequestFacts) => void;
  /** An answer to a write that the classifier's table does not know. */
  readonly onUnseen?: (unseen: UnseenAnswer) => void;
}

/** A client of one server of the API. */
export function createPlatformClient(options: PlatformClientOptions): PlatformClient {
  const { name, url, clock, log } = options;
  const dialect = createDialect(options.dialect, options.remembered);
  const gate = createRequestGate({
    platform: name,
    transport: options.transport,
    budget: options.budget,
    clock,
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
  });
  const reader = createReader({
    url,
    gate,
    clock,
    log,
    random: options.random,
    timeoutMs: options.limits.timeoutMs,
    policy: options.retry ?? defaultRetryPolicy,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.redact === undefined ? {} : { redact: options.redact }),
    ...(options.onSlow === undefined ? {} : { onSlow: options.onSlow }),
  });
  return clientOf(reader, gate, dialect, options);
}

function clientOf(
  reader: Reader,
  gate: RequestGate,
  dialect: DialectKnowledge,
  options: PlatformClientOptions,
): PlatformClient {
  const { name, url, clock, log } = options;
  const listings = createListings(createReadable(reader, dialect, options));
  return {
    withPermit: (permit) => {
      const read: Reader['read'] = async (call) => {
        permit();
        return await reader.read(call);
      };
      return clientOf({ ...reader, read }, gate, dialect, options);
    },
    name,
    url,
    capability: dialect.state,
    capabilities: dialect.known,
    probe: async (capability, app) => {
      if (dialect.state(capability) !== 'unknown') return dialect.state(capability);
      try {
        await listings[provedBy(capability)](app);
      } catch (error) {
        if (!(error instanceof PortolanError)) throw error;
        log.debug('capability stays unknown', { platform: name, capability, why: error.message });
      }
      return dialect.state(capability);
    },
    regions: createRegionReads(url, reader, clock),
    ...documentedReads(reader),
    regionSeries: createSeriesRead(reader, options.dialect),
    applications: listings.inTeam,
    components: listings.listComponents,
    rules: listings.listRules,
    allRules: () => listings.listAllRules(),
    installed: listings.listInstalled,
    certificates: listings.ofTeam,
    ...createEventReads({
      reader,
      clock,
      redact: options.redact,
      isExtended: () => dialect.state('listComponents') === 'yes',
    }),
    rule: (app, ruleId) => readRule(reader, dialect, app, ruleId),
    endpoints: (app) => readEndpoints(reader, dialect, app),
    ...writes(options, gate, reader, dialect),
  };
}

/** A read that the server may not have. Success proves the capability; only a denial of the endpoint disproves it. */
function createReadable(reader: Reader, dialect: DialectKnowledge, options: PlatformClientOptions): ReadWhatMayBe {
  return async <T>(capability: ReadCapability, call: ReadCall<T>) => {
    if (dialect.state(capability) === 'no') return { readable: false };
    return await reader.read<Readable<T>>({
      ...call,
      decode: (json, where) => {
        const value = call.decode(json, where);
        dialect.confirm(capability);
        return { readable: true, value };
      },
      otherwise: (answer) => {
        const where = `GET ${options.url}${call.path}`;
        const because = capability === 'listInstalled' ? storeFailure(where, answer) : undefined;
        if (because !== undefined) {
          dialect.confirm(capability);
          return { value: { readable: false, because } };
        }
        if (!deniesEndpoint(answer)) return undefined;
        // Another server has no such endpoint either: that says nothing of the platform, and would be remembered of it.
        if (isForeignRefusal(answer) && !reader.isProven()) return undefined;
        if (options.dialect === 'extended') throw missingCapability(where, answer);
        dialect.deny(capability);
        return { value: { readable: false } };
      },
    });
  };
}

/** What every server answers. */
function documentedReads(
  reader: Reader,
): Pick<PlatformClient, 'application' | 'ports' | 'componentPorts' | 'monitor' | 'declared'> {
  const componentPorts: PlatformClient['componentPorts'] = (app, serviceId) =>
    reader.read<ComponentPorts>({
      operation: 'listPorts',
      path: paths.ports(app, serviceId),
      decode: (json, where) => ({ isThere: true, ports: decodePorts(json, where) }),
      otherwise: (answer) =>
        isUnknownComponent(answer) ? { value: { isThere: false, message: answer.summary.message } } : undefined,
    });
  return {
    declared: <T>({ operation, segments, decode }: Reading<T>, app: AppAddress) =>
      reader.read<Readable<T>>({
        operation,
        path: paths.below(app, segments),
        decode: (json, where) => ({ readable: true, value: decode(json, where) }),
        otherwise: (answer) => (deniesEndpoint(answer) ? { value: { readable: false } } : undefined),
      }),
    application: (app) =>
      reader.read({
        operation: 'getApplication',
        path: paths.app(app),
        decode: decodeApplication,
        otherwise: (answer) => (isUnknownApplication(answer) ? { value: undefined } : undefined),
      }),
    ports: async (app, serviceId) => {
      const answer = await componentPorts(app, serviceId);
      return answer.isThere ? answer.ports : undefined;
    },
    componentPorts,
    monitor: (app, query) =>
      reader.read({
        operation: 'monitor',
        path: paths.monitor(app),
        query: monitorQuery(query),
        decode: decodeMonitors,
      }),
  };
}

/** The range query of a region's metrics, until the server says that it has none. */
function createSeriesRead(reader: Reader, dialect: DialectSetting): PlatformClient['regionSeries'] {
  let isMissing = dialect === 'documented';
  return async (region, { expression, start, end, stepSeconds }) => {
    if (isMissing) return { readable: false };
    return await reader.read<Readable<readonly ComponentSeries[]>>({
      operation: 'queryRegion',
      path: paths.regionMetrics(),
      query: {
        region_name: region,
        query: expression,
        start: String(start),
        end: String(end),
        step: String(stepSeconds),
      },
      decode: (json, where) => ({ readable: true, value: decodeSeries(json, where) }),
      otherwise: (answer) => {
        if (!deniesEndpoint(answer)) return undefined;
        isMissing = true;
        return { value: { readable: false } };
      },
    });
  };
}

async function readRule(
  reader: Reader,
  dialect: DialectKnowledge,
  app: AppAddress,
  ruleId: string,
): Promise<Readable<RuleRecord | undefined>> {
  if (dialect.state('listRules') === 'no') return { readable: false };
  return await reader.read<Readable<RuleRecord | undefined>>({
    operation: 'getRule',
    path: paths.rule(app, ruleId),
    decode: (json, where) => ({ readable: true, value: decodeRule(json, where) }),
    otherwise: (answer) => unreadRule(answer, dialect.state('listRules')),
  });
}

/** A server that lists rules may still have no listing of TCP endpoints: that is no failure, they are then unreadable. */
async function readEndpoints(
  reader: Reader,
  dialect: DialectKnowledge,
  app: AppAddress,
): Promise<Readable<readonly TcpEndpoint[]>> {
  if (dialect.state('listRules') === 'no') return { readable: false };
  return await reader.read<Readable<readonly TcpEndpoint[]>>({
    operation: 'listEndpoints',
    path: paths.endpoints(app),
    query: { query: 'tcp' },
    decode: (json, where) => ({ readable: true, value: decodeEndpoints(json, where) }),
    // Servers that list rules and no endpoints answer an unknown path with a page.
    otherwise: (answer) =>
      answer.status === 404 || answer.status === 405 ? { value: { readable: false } } : undefined,
  });
}

function writes(
  options: PlatformClientOptions,
  gate: RequestGate,
  reader: Reader,
  dialect: DialectKnowledge,
): Pick<PlatformClient, 'requestHash' | 'send'> {
  // The encoding follows what reads have proved, so a hash and the request it stands for are of one form.
  const requestOf = (write: WriteRequest): PlatformRequest =>
    writeRequest(write, dialect.state('listRules') === 'yes' ? 'objects' : 'strings');

  return {
    requestHash: (write) => hashOf(requestOf(write)),
    send: async (write, sending) => {
      const request = requestOf(write);
      reader.writeHappened();
      try {
        return classify(write, await gate.send(request, sending), options.clock, options.onUnseen, options.redact);
      } catch (error) {
        if (error instanceof TransportError) return classifyFailure(error, options.redact);
        throw error;
      } finally {
        reader.writeHappened();
      }
    },
  };
}

type ReadWhatMayBe = <T>(capability: ReadCapability, call: ReadCall<T>) => Promise<Readable<T>>;

/** The listings of the extended dialect, by the capability that each proves. */
function createListings(readable: ReadWhatMayBe) {
  const inTeam = (team: string, region: string) =>
    readable('listApplications', {
      operation: 'listApplications',
      path: paths.teamApps(team, region),
      decode: decodeApplicationSummaries,
    });
  const ofTeam = async (team: string): Promise<Readable<readonly CertificateRecord[]>> => {
    let isListed = true;
    const certificates = await allCertificates(async (page) => {
      const answer = await readable('listCertificates', {
        operation: 'listCertificates',
        path: paths.certificates(team),
        query: { page: String(page), page_size: String(CERTIFICATES_PER_PAGE) },
        decode: decodeCertificates,
      });
      isListed &&= answer.readable;
      return answer.readable ? answer.value : { certificates: [], total: 0 };
    });
    return isListed ? { readable: true, value: certificates } : { readable: false };
  };
  return {
    inTeam,
    ofTeam,
    listCertificates: (app: AppAddress) => ofTeam(app.team),
    listApplications: (app: AppAddress) => inTeam(app.team, app.region),
    listComponents: (app: AppAddress) =>
      readable('listComponents', {
        operation: 'listComponents',
        path: paths.components(app),
        decode: decodeComponents,
      }),
    listRules: (app: AppAddress) =>
      readable('listRules', { operation: 'listRules', path: paths.rules(app), decode: decodeRules }),
    listAllRules: () =>
      readable('listAllRules', { operation: 'listAllRules', path: paths.allRules(), decode: decodePlacedRules }),
    listInstalled: (app: AppAddress) =>
      readable('listInstalled', { operation: 'listInstalled', path: paths.upgrade(app), decode: decodeInstalled }),
  };
}

/** Only the very words: any other 404 is about the team, the region or the address, and proves nothing of the application. */
function isUnknownApplication(answer: Answer): boolean {
  return answer.status === 404 && answer.isJson && answer.msg === 'no found app';
}

/** Of a component that was deleted, and of one that belongs to another application now. */
const UNKNOWN_COMPONENT: readonly string[] = ['no found component', 'component not belong to this app'];

function isUnknownComponent(answer: Answer): boolean {
  return answer.status === 404 && answer.isJson && (UNKNOWN_COMPONENT.includes(answer.msg) || answer.code === 4000);
}

/** The 404 of an explicit id is an absence where the server is known to have the endpoint. */
function unreadRule(
  answer: Answer,
  listing: CapabilityState,
): { readonly value: Readable<RuleRecord | undefined> } | undefined {
  const isAbsent = answer.status === 404 && (answer.code === 1404 || (listing === 'yes' && deniesEndpoint(answer)));
  if (isAbsent) return { value: { readable: true, value: undefined } };
  return listing !== 'yes' && deniesEndpoint(answer) ? { value: { readable: false } } : undefined;
}

function monitorQuery(query: MonitorQuery): Readonly<Record<string, string>> {
  return {
    start: String(query.start),
    end: String(query.end),
    step: String(query.stepSeconds),
    ...(query.outerOnly === true ? { is_outer: 'true' } : {}),
  };
}
