import type { ReconciledKinds } from '../kinds/define.ts';
import type { LiveApplication, LiveComponent } from '../kinds/export.ts';
import type { Readable } from '../model/reading.ts';
import type { ScopeReader } from '../kinds/reconciled.ts';
import { PortolanError } from '../model/errors.ts';
import type { Scope } from '../model/ids.ts';
import type { PlacedRule, RuleRecord } from '../kinds/http-gateway-rule/wire.ts';
import type { ApplicationRecord, CertificateRecord, ComponentRecord } from '../platform/records.ts';
import type { PlatformClient } from '../platform/client.ts';
import { portsOf } from '../kinds/component/readings.ts';
import { listAllRules, listRules } from '../kinds/http-gateway-rule/readings.ts';
import { listInstalled } from '../kinds/store-install/readings.ts';
import { listApplications, listCertificates, listComponents } from '../platform/readings.ts';
import { createScopeReader } from './scope-reader.ts';

/** An application to export as manifests. */
export interface ExportTarget {
  readonly scope: Scope;
  /** Only these components, by id. undefined: all that can be found. */
  readonly only: readonly string[] | undefined;
  /** The record of the application, if it was read already. */
  readonly record?: ApplicationRecord;
  /** Names from existing manifests, and ids that a server without a listing cannot give. */
  readonly known: { readonly name?: string; readonly components: ReadonlyMap<string, string> };
}

const UNREADABLE = { readable: false } as const;

/**
 * Reads applications for export, with as few requests as the server allows: what a listing answers for several of them is
 * asked once.
 */
export interface ApplicationReader {
  /** @throws PortolanError where it is not there, or cannot be read. */
  read(target: ExportTarget): Promise<ReadApplication>;
}

/** An application as it was read, and what read it: a proof asks that for the rest that a plan reads. */
export interface ReadApplication {
  readonly live: LiveApplication;
  readonly reader: ScopeReader;
}

/** @param targets all that will be read of this platform. */
export function createApplicationReader(
  kinds: ReconciledKinds,
  client: PlatformClient,
  targets: readonly ExportTarget[],
): ApplicationReader {
  const { sharedRules, certificatesOf } = platformReadings(client, targets);
  const [components, ownRules, installs] = [inTurn(), inTurn(), inTurn()];

  return {
    async read({ scope, only, known, record }) {
      // A plan of what is written reads the application itself, so its answer must be one that a plan can read.
      const application = record ?? (await client.application(scope));
      if (application === undefined) throw noApplication(client, scope);
      const shared = await sharedRules(scope);
      const reader = createScopeReader(client, scope, {
        application,
        ...(shared === undefined ? {} : { answers: [[listRules, shared]] }),
      });
      const listed = await components(() => reader.read(listComponents));
      const ids =
        only ?? (listed.readable ? listed.value.map(({ serviceId }) => serviceId) : [...known.components.keys()]);
      // Where there is no listing, ids are the only way to name any, and say nothing of the rest.
      const isPart = only !== undefined && listed.readable;
      const componentOf = componentReader(client, scope, reader, listed, known.components);
      const found = await Promise.all([...new Set(ids)].map(componentOf));
      const [rules, installed] = await Promise.all([
        ownRules(() => reader.read(listRules)),
        isPart ? ('not-asked' as const) : installs(() => reader.read(listInstalled)),
      ]);
      const hasCertificates = rules.readable && rules.value.some(({ certificateId }) => (certificateId ?? 0) > 0);
      const certificates = hasCertificates ? await certificatesOf(scope.team) : 'not-asked';
      const live: LiveApplication = {
        scope,
        name: application.name,
        k8sApp: application.k8sApp,
        ...(known.name === undefined ? {} : { manifestName: known.name }),
        components: found.filter((component) => component !== undefined),
        extent: isPart ? 'named' : listed.readable ? 'listed' : 'unlisted',
        rules,
        certificates,
        installed,
        ...(isPart ? {} : { ofKinds: await readByKinds(kinds, reader) }),
      };
      return {
        live,
        reader: certificates === 'not-asked' ? reader : reader.knowing({ answers: [[listCertificates, certificates]] }),
      };
    },
  };
}

/** Readings that answer for several applications of a platform: each is read once. */
function platformReadings(client: PlatformClient, targets: readonly ExportTarget[]) {
  let allRules: Promise<Readable<readonly PlacedRule[]>> | undefined;
  const certificatesByTeam = new Map<string, Promise<Readable<readonly CertificateRecord[]>>>();

  /** Rules of all applications in one request, where that answers for several. */
  async function sharedRules(scope: Scope): Promise<Readable<readonly RuleRecord[]> | undefined> {
    if (targets.length > 1) {
      // A server may refuse the rules of everybody and list those of one application.
      allRules ??= client.read(listAllRules, {}).catch(unreadable);
      const all = await allRules;
      // By number, which is unique, and not by team: that may be named by its id here and by its name there.
      if (all.readable) {
        return {
          readable: true,
          value: all.value.flatMap(({ region, appId, rule }) =>
            region === scope.region && appId === scope.appId ? [rule] : [],
          ),
        };
      }
    }
    return undefined;
  }

  /** Certificates are identified by their aliases if the platform lists them, and otherwise by their numbers. */
  function certificatesOf(team: string): Promise<Readable<readonly CertificateRecord[]>> {
    const asked = certificatesByTeam.get(team) ?? client.read(listCertificates, { team }).catch(unreadable);
    certificatesByTeam.set(team, asked);
    return asked;
  }

  return { sharedRules, certificatesOf };
}

function unreadable(error: unknown): typeof UNREADABLE {
  if (error instanceof PortolanError && error.disposition !== 'unreachable') return UNREADABLE;
  throw error;
}

/** Reads one component; undefined: it was deleted since it was listed. */
function componentReader(
  client: PlatformClient,
  scope: Scope,
  reader: ScopeReader,
  listed: Readable<readonly ComponentRecord[]>,
  names: ReadonlyMap<string, string>,
): (serviceId: string) => Promise<LiveComponent | undefined> {
  return async (serviceId) => {
    const record = listed.readable ? listed.value.find((one) => one.serviceId === serviceId) : undefined;
    const ports = await portsOf(reader, serviceId);
    if (ports === undefined && record !== undefined) return undefined;
    if (ports === undefined) throw noComponent(client, scope, serviceId);
    const name = names.get(serviceId);
    return { serviceId, record, ports, ...(name === undefined ? {} : { name }) };
  };
}

/** Returns the readings that each kind needs for itself, by kind. */
async function readByKinds(kinds: ReconciledKinds, reader: ScopeReader): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const [name, { calls }] of kinds) {
    if (calls.observeForExport !== undefined) found.set(name, await calls.observeForExport(reader));
  }
  return found;
}

/** The first one finds out whether the server has a listing at all; the others wait for that, and need not ask. */
function inTurn(): <T>(ask: () => Promise<T>) => Promise<T> {
  let first: Promise<unknown> | undefined;
  return (ask) => {
    if (first !== undefined) return first.then(ask);
    const answer = ask();
    first = answer.catch(() => undefined);
    return answer;
  };
}

/** All applications of a team in a region. @throws PortolanError `give-up` where the server cannot list them. */
export async function applicationsOfTeam(
  client: PlatformClient,
  team: string,
  region: string,
): Promise<readonly Scope[]> {
  const answer = await client.read(listApplications, { team, region });
  if (answer.readable) {
    return answer.value.map(({ appId }) => ({ platform: client.name, team, region, appId }));
  }
  throw new PortolanError({
    code: 'export/cannot-list',
    disposition: 'give-up',
    message: `${client.url} does not list the applications of a team. Nothing was written.`,
    remedy: "Name them: --app TEAM/REGION/APP-ID for each, or --list FILE. The number stands in the console's address.",
  });
}

function noApplication(client: PlatformClient, { team, region, appId }: Scope): PortolanError {
  return new PortolanError({
    code: 'application/not-found',
    disposition: 'give-up',
    message: `${client.url} has no application ${appId} of team ${team} in region ${region}. Nothing was written for it.`,
    remedy: `Correct the name; portolan export --team ${team} writes all that the team has, where the server lists them.`,
  });
}

function noComponent(client: PlatformClient, { team, region, appId }: Scope, serviceId: string): PortolanError {
  return new PortolanError({
    code: 'export/no-component',
    disposition: 'give-up',
    message: `${client.url} has no component ${serviceId} in ${team}/${region}/${appId}. Nothing was written for this application.`,
    remedy: "Correct the id; it stands in the address of the component's page in the console.",
  });
}
