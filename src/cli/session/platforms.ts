import type { PlatformSettings } from '../../configuration/platform/spec.ts';
import type { StoreSpec } from '../../configuration/store/spec.ts';
import type { Configuration } from '../../configuration/configuration.ts';
import type { StoreAccess } from '../../kinds/reconciled.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { createRequestBudget } from '../../platform/budget.ts';
import type { PlatformClient } from '../../platform/client.ts';
import { createHttpTransport, type HttpTransport } from '../../platform/http.ts';
import { createPlatformClient, type PlatformClientOptions } from '../../platform/platform-client.ts';
import { checkPlatformUrl } from '../../platform/url.ts';
import type { Log } from '../../runtime/log.ts';
import type { Surroundings } from './command.ts';
import { readNamedFile } from './files.ts';
import { openSecret } from './secrets.ts';
import type { OperatorConfiguration } from './configuration.ts';
import type { ExitCode } from './exit-codes.ts';
import { createLog, type LogOptions } from './logging.ts';
import { refuseFaults } from './problems.ts';

/** Gives access to the platforms and stores of the operator's configuration. */
export interface Platforms {
  readonly names: readonly string[];
  /**
   * Returns the client of a platform. Each is made when it is first requested, so that a missing secret of another
   * platform does not matter.
   * @throws PortolanError `invalid` when there is no such platform, or something that it refers to is missing.
   */
  client(name: string): PlatformClient;
  /** Returns the clients that were made so far. */
  opened(): readonly PlatformClient[];
  /** Returns a store as requests need it. @throws PortolanError `invalid`, as above. */
  store(name: string): StoreAccess;
  /** Waits for requests in flight and closes the sockets. */
  close(): Promise<void>;
}

/**
 * `onRequest` is called for every request that left, `onSlow` for a read without an answer for a while. Absent `retry`:
 * that of a command.
 */
export interface PlatformsOptions extends Pick<PlatformClientOptions, 'onRequest' | 'onSlow' | 'retry'> {
  readonly configuration: Configuration;
  /** The configuration file, for messages; undefined: there is none. */
  readonly file: string | undefined;
  readonly surroundings: Surroundings;
  readonly log: Log;
  /** The capabilities that an earlier process found out about a platform. */
  readonly remembered?: (name: string) => PlatformClientOptions['remembered'];
}

export function openPlatforms(options: PlatformsOptions): Platforms {
  const { configuration, file, surroundings } = options;
  maskStoreKeys(options);
  const clients = new Map<string, PlatformClient>();
  const transports: HttpTransport[] = [];
  return {
    names: [...configuration.platforms.keys()],
    client(name) {
      const known = clients.get(name);
      if (known !== undefined) return known;
      const spec = configuration.platforms.get(name);
      if (spec === undefined) throw noSuch('Platform', name, [...configuration.platforms.keys()], file);
      const { client, transport } = openPlatform(name, spec, options);
      transports.push(transport);
      clients.set(name, client);
      return client;
    },
    opened: () => [...clients.values()],
    store(name) {
      const spec = configuration.stores.get(name);
      if (spec === undefined) throw noSuch('Store', name, [...configuration.stores.keys()], file);
      return openStore(name, spec, surroundings);
    },
    async close() {
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}

/** Masks every readable key of a store from the start: a server may show the key although this run never sends it. */
function maskStoreKeys({ configuration, surroundings }: PlatformsOptions): void {
  for (const [name, { accessKey }] of configuration.stores) {
    if (accessKey === undefined) continue;
    try {
      openSecret(accessKey, `Store/${name} spec.accessKey`, surroundings);
    } catch (error) {
      // A missing key does not matter before an install needs it.
      if (!(error instanceof PortolanError)) throw error;
    }
  }
}

function openPlatform(
  name: string,
  spec: PlatformSettings,
  { surroundings, log, remembered, onRequest, onSlow, retry }: PlatformsOptions,
): { readonly client: PlatformClient; readonly transport: HttpTransport } {
  const { clock, random, signal } = surroundings;
  const { url, warning } = checkPlatformUrl(spec.url, spec.allowPlainHttp);
  if (warning !== null) log.warn(warning, { platform: name });
  const { concurrency, requestsPerSecond, timeoutMs } = spec.limits;
  const caFile = spec.tls?.caFile;
  const caPem =
    caFile === undefined ? undefined : new TextDecoder().decode(readNamedFile(caFile, `the CA of Platform/${name}`));
  const auth = spec.auth && {
    header: spec.auth.header,
    value: openSecret(spec.auth.value, `Platform/${name} spec.auth.value`, surroundings, log),
  };
  const transport = createHttpTransport({ url, connections: concurrency, clock, auth, caPem });
  const client = createPlatformClient({
    name,
    url,
    transport: transport.send,
    clock,
    random,
    log,
    dialect: spec.dialect,
    budget: createRequestBudget({ concurrency, requestsPerSecond }, clock),
    limits: { timeoutMs },
    signal,
    redact: surroundings.redaction.redact,
    onRequest,
    onSlow,
    retry,
    remembered: remembered?.(name),
  });
  return { client, transport };
}

function openStore(name: string, spec: StoreSpec, surroundings: Surroundings): StoreAccess {
  const { url, domain, type, accessKey: key } = spec;
  const accessKey = key === undefined ? null : openSecret(key, `Store/${name} spec.accessKey`, surroundings)();
  return { url, domain, type, accessKey };
}

function noSuch(kind: string, name: string, existing: readonly string[], file: string | undefined): PortolanError {
  const where = file === undefined ? 'There is no configuration' : `${file} has no ${kind}`;
  const have = existing.length === 0 ? '' : ` It has: ${existing.join(', ')}.`;
  return invalidInput(
    'configuration/missing',
    `${where} called ${name}.${have} Nothing was sent.`,
    `Add \`kind: ${kind}\` with metadata.name ${name} to the configuration (--config FILE, default: portolan.yaml).`,
  );
}

/**
 * Opens the platforms of a configuration for a command that needs no manifests, and closes the sockets afterwards
 * whatever happens.
 * @throws FaultyInput where the configuration has faults.
 */
export async function withPlatforms(
  { configuration, file, problems }: OperatorConfiguration,
  options: LogOptions,
  surroundings: Surroundings,
  work: (platforms: Platforms, log: Log) => Promise<ExitCode>,
): Promise<ExitCode> {
  refuseFaults(problems);
  if (configuration.platforms.size === 0) throw noPlatform(file);
  const log = await createLog(options, surroundings);
  const platforms = openPlatforms({ configuration, file, surroundings, log });
  try {
    return await work(platforms, log);
  } finally {
    await platforms.close();
  }
}

/** Returns the error for a configuration without platforms. It is reported once, not for every application. */
export function noPlatform(file: string | undefined): PortolanError {
  return invalidInput(
    'configuration/no-platform',
    file === undefined
      ? 'There is no configuration (portolan.yaml in the working directory, or --config FILE), so there is no platform. Nothing was sent.'
      : `${file} names no platform. Nothing was sent.`,
    'Add a document of kind Platform with spec.url and spec.auth; examples/portolan.yaml of the package is an example.',
  );
}
