import packageFile from '../../../package.json' with { type: 'json' };
import type { ControllerObserver } from '../../controller/api.ts';
import { bugText } from '../../controller/bugs.ts';
import { platformUnit, replicaClock, sourceUnit } from '../../controller/replicas/leadership.ts';
import { Replicas } from '../../controller/replicas/group.ts';
import { ReplicaLeadership } from '../../controller/replicas/replica-leadership.ts';
import { openSharedLedger } from '../../ledger/postgres/shared.ts';
import { formatDuration } from '../../model/duration.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { compareText } from '../../model/text.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import { rememberAll } from './capabilities.ts';
import type { Surroundings } from './command.ts';
import type { OpenedConfiguration } from './daemon-configuration.ts';
import { postgresAccess } from './postgres.ts';

/** Shortest lease: a slow database would end it again and again. */
const LEASE_MS_MIN = 1_000;

/** One of the controllers that share a ledger in PostgreSQL. */
export interface Replica {
  readonly replicas: Replicas;
  /** The clock of its passes. */
  readonly clock: Clock;
  /** Calls `listener` for each loss of records in the database that it notices from now on. */
  onLoss(listener: () => void): void;
}

interface ReplicaOptions {
  /** URL of the ledger. */
  readonly ledger: string;
  readonly name: string | undefined;
  readonly source: string;
  readonly actor: string;
  readonly leaseMs: number;
  readonly log: Log;
}

/**
 * Opens the ledger as one of several controllers.
 * @throws PortolanError of `openSharedLedger`, and `invalid` for a lease that is too short.
 */
export async function openReplica(
  options: ReplicaOptions,
  surroundings: Pick<Surroundings, 'clock' | 'random' | 'hostName' | 'env' | 'redaction'>,
): Promise<Replica> {
  const { clock, random, hostName = 'controller' } = surroundings;
  const { ledger, actor, leaseMs, source, log } = options;
  if (leaseMs < LEASE_MS_MIN)
    throw invalidInput(
      'controller/short-lease',
      `spec.controller.lease is ${formatDuration(leaseMs)}. Nothing was started.`,
      'Set it to 1s or more; the default is 15s.',
    );
  // A container that starts again has the same host name, and the leases of its former process may still be valid.
  const name = options.name ?? `${hostName.replaceAll(/[^A-Za-z0-9._-]/g, '-')}-${random.hex(2)}`;
  const access = postgresAccess(ledger, surroundings);
  const onRenewals = (failure: unknown): void => {
    const text = 'leases were not renewed for half of their length; once they end, another controller may take them';
    if (failure === undefined) log.info('leases are renewed again');
    else if (failure instanceof PortolanError)
      log.warn(`${text}: ${failure.message}`, { code: failure.code, remedy: failure.remedy });
    else log.error(`a bug in Portolan: ${text}: ${bugText(failure)}`);
  };
  const onStrongRole = (role: string): void =>
    log.warn(`the role ${role} may change and remove the history of the ledger, which a controller never does`, {
      remedy: 'Run controllers with a role that has only the privileges of examples/postgres/grants.sql.',
    });
  const lossListeners: (() => void)[] = [];
  const onLoss = (what: string): void => {
    log.error(`the database has lost records: ${what}; installs of all applications wait, also after a restart`, {
      code: 'ledger/replaced',
      remedy:
        'Restart no controller. Stop all of them, save what is there now with `portolan ledger backup FILE --ledger URL`, compare each ' +
        'application with the console, confirm it with `portolan ledger confirm SCOPE --ledger URL`, and start the controllers.',
    });
    for (const listener of lossListeners) listener();
  };
  const owned = { actor, leaseMs, replica: name, source };
  const shared = await openSharedLedger(access, { clock, random, ...owned, onRenewals, onLoss, onStrongRole });
  return {
    replicas: new Replicas(shared, { name, leaseMs, clock }),
    clock: replicaClock(clock, random),
    onLoss: (listener) => void lossListeners.push(listener),
  };
}

interface GroupParts {
  readonly observer: ControllerObserver;
  readonly log: Log;
  readonly source: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Returns the present configuration. A reload replaces it. */
  opened(): Pick<OpenedConfiguration, 'platforms' | 'configuration'>;
  /** Returns the URL of the API; null: it does not listen yet. */
  address(): string | null;
}

/** Joins the controllers that share the ledger. The leadership begins with its `start`. */
export function joinReplicas({ replicas, clock, onLoss }: Replica, parts: GroupParts) {
  const { observer, log, source, random, opened, address } = parts;
  onLoss(observer.recordsLost);
  const { name, leaseMs, shared } = replicas;
  const startedMs = clock.now();
  const leadership = new ReplicaLeadership({
    shared,
    clock,
    random,
    log,
    observer,
    leaseMs,
    source,
    units: () => [
      ...[...opened().configuration.platforms.keys()].sort(compareText).map(platformUnit),
      sourceUnit(source),
    ],
    report: () => ({ name, version: packageFile.version, address: address(), startedMs, facts: {} }),
    isCurrent: () => replicas.isCurrent(),
  });
  return {
    leadership,
    /** Options of the controller. */
    parts: { leadership, replicas, clock },
    /** Returns the ledger of the source; undefined while another controller leads it. */
    ledgerOfSource: () => leadership.held(sourceUnit(source))?.ledger,
    /** Records what was found out about a platform before another controller leads it. Call it once the controller is made. */
    follow(): void {
      leadership.onChange(async ({ type, lead: { unit, ledger } }) => {
        if (type === 'leaving' && unit.startsWith('platform:'))
          await rememberAll(ledger, opened(), parts.clock, unit.slice('platform:'.length));
      });
    },
  };
}
