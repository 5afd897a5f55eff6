import { isPostgres, ledgerArgument } from '../../ledger/address.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import type { ReplicaGroup, ReplicaState, UnitState } from '../../model/replicas.ts';
import { isSilent } from '../../model/silent.ts';
import { safeLine } from '../../model/text.ts';
import { openServer } from '../server/client.ts';
import { addServerOptions, type ServerFlags } from '../server/options.ts';
import { defineCommand, type Surroundings } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { outputOption } from '../session/options.ts';
import { relativeTime, shortDuration } from '../terminal/age.ts';
import { renderTable } from '../terminal/table.ts';
import { count } from '../terminal/text.ts';
import { type Output, writeJson } from '../terminal/terminal.ts';

interface ReplicasOptions extends ServerFlags {
  readonly ledger?: string | undefined;
}

export const replicasCommand = defineCommand({
  about:
    'Lists the controllers that share a ledger (replicas), and the leader of each platform and source, since when and under which epoch. Asks a running controller, or reads the ledger itself if none answers. Read-only.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['status', 'regions', 'ledger verify'],
  examples: `
Only the leader of a platform changes it. If a leader gives no sign, another replica takes the platform over once the lease has
expired. A token for --server must cover everything. Read from the ledger, the list also has replicas that gave no sign for
up to an hour (silent), and has only units that were led before.

Examples:
  portolan replicas --server http://127.0.0.1:7780
  portolan replicas --ledger 'postgres://portolan@db.example.com/portolan?passwordFile=/run/secrets/database-password'
  portolan replicas -o json | jq -r '.units[] | select(.leader == null and .isConfigured) | .unit'`,
  parameters: (command) =>
    addServerOptions(command.option('--ledger <path>', 'the ledger: a postgres:// URL', ledgerArgument)).addOption(
      outputOption(['text', 'json', 'yaml']),
    ),
  async run(surroundings, { output, ...options }) {
    const { group, copy } = await readGroup(options, surroundings);
    const { terminal, clock } = surroundings;
    if (output === 'json') writeJson(group, terminal);
    else if (output === 'yaml') terminal.out.write((await import('yaml')).stringify({ formatVersion: 1, ...group }));
    else terminal.out.write(groupText(group, copy, clock.now(), terminal.out));
    return EXIT.ok;
  },
});

interface FoundGroup {
  readonly group: ReplicaGroup;
  /** Location of the ledger to which the one that was read was copied; undefined: it was not copied. */
  readonly copy?: string | undefined;
}

/** Asks the controller, or reads the ledger if no controller is named or none answers. */
async function readGroup(options: ReplicasOptions, surroundings: Surroundings): Promise<FoundGroup> {
  const { server, ledger } = options;
  if (server === undefined) return fromLedger(requiredLedger(ledger), surroundings);
  try {
    return { group: (await openServer(options, surroundings).get('replicas', 'units')) as ReplicaGroup };
  } catch (error) {
    const isAway = error instanceof PortolanError && error.code === 'cli/server-unreachable';
    if (!isAway || !isPostgres(ledger)) throw error;
    surroundings.terminal.err.write(`note: ${safeLine(error.message)} This is read from the ledger.\n`);
    return fromLedger(ledger, surroundings);
  }
}

async function fromLedger(url: string, surroundings: Surroundings): Promise<FoundGroup> {
  const [{ postgresAccess }, { ledgerWarnings }, { readReplicaGroup }] = await Promise.all([
    import('../session/postgres.ts'),
    import('../session/ledger-warnings.ts'),
    import('../../ledger/postgres/group.ts'),
  ]);
  const access = postgresAccess(url, surroundings);
  const { group, holder, retired } = await readReplicaGroup(access);
  if (retired !== undefined) ledgerWarnings(surroundings.terminal).onRetired(access.address.location, retired);
  if (holder !== undefined)
    surroundings.terminal.err.write(
      `note: ${safeLine(holder)} has the whole ledger; no replica can lead until it ends.\n`,
    );
  return { group, copy: retired?.copy };
}

function requiredLedger(ledger: string | undefined): string {
  if (isPostgres(ledger)) return ledger;
  const isFile = ledger !== undefined && ledger !== 'none';
  throw invalidInput(
    'cli/no-replicas',
    isFile
      ? 'A ledger in a file has one controller and no replicas. Nothing was read.'
      : 'The command requires a server or a ledger in PostgreSQL.',
    'Pass --server with the address of a running controller, or --ledger with a postgres:// URL.',
  );
}

/** Formats the group as two tables, and what is wrong with it. */
function groupText(group: ReplicaGroup, copy: string | undefined, nowMs: number, out: Output): string {
  const { replicas, units } = group;
  const shownReplicas = replicas.map((replica) => [
    safeLine(replica.name),
    safeLine(replica.version),
    relativeTime(replica.startedMs, nowMs),
    `${shortDuration(replica.seenAgoMs)} ago`,
    String(replica.leads),
    isSilent(replica) ? 'silent' : replica.isDraining ? 'draining' : 'active',
    replica.address === null ? undefined : safeLine(replica.address),
  ]);
  const shownUnits = [...units.filter((unit) => !isAbandoned(unit)), ...units.filter(isAbandoned)].map(
    ({ type, name, leader, sinceMs, epoch, leaseLeftMs }) => [
      `${type} ${safeLine(name)}`,
      leader === null ? undefined : safeLine(leader),
      sinceMs === null ? undefined : relativeTime(sinceMs, nowMs),
      epoch === null ? undefined : String(epoch),
      leader === null || leaseLeftMs === null ? undefined : shortDuration(leaseLeftMs),
    ],
  );
  return [
    replicas.length === 0
      ? 'No replica runs.\n'
      : renderTable(['replica', 'version', 'since', 'last sign', 'leads', 'state', 'address'], shownReplicas, out),
    units.length === 0
      ? 'No platform and no source was led yet.\n'
      : renderTable(['unit', 'leader', 'since', 'epoch', 'lease left'], shownUnits, out),
    verdict(group, copy, nowMs),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function verdict(
  { isShared, isCurrent, asOfMs, replicas, units }: ReplicaGroup,
  copy: string | undefined,
  nowMs: number,
): string {
  if (!isShared) return 'The ledger belongs to this process alone. Several controllers need one in PostgreSQL.\n';
  const lines: string[] = [];
  if (!isCurrent)
    lines.push(
      `This replica cannot read the database; this is its state of ${relativeTime(asOfMs, nowMs)}.`,
      '  → Its log names the reason. It writes nothing meanwhile, and resumes by itself.',
    );
  const idle = units.filter((unit) => unit.leader === null && !isAbandoned(unit));
  const abandoned = units.filter(isAbandoned);
  if (idle.length > 0)
    lines.push(
      `${count(idle.length, 'unit')} ${idle.length === 1 ? 'has' : 'have'} no leader: ${idle.map(unitName).join(', ')}.`,
      remedyOf(replicas, copy),
    );
  if (lines.length === 0 && units.length > abandoned.length)
    lines.push(`Every ${abandoned.length > 0 ? 'configured ' : ''}platform and source has a leader.`);
  if (abandoned.length > 0)
    lines.push(
      `No live replica has ${abandoned.length === 1 ? 'this unit' : 'these units'} in its configuration any more: ${abandoned.map(unitName).join(', ')}.`,
      '  → This requires an action only if one should be led: add it to the configuration of the replicas.',
    );
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Returns whether a unit was led before, and no configuration of a live replica has it. An earlier server does not report that. */
function isAbandoned({ leader, isConfigured }: Pick<UnitState, 'leader'> & Partial<UnitState>): boolean {
  return leader === null && isConfigured === false;
}

function unitName({ unit }: UnitState): string {
  return safeLine(unit);
}

function remedyOf(replicas: readonly ReplicaState[], copy: string | undefined): string {
  if (copy !== undefined) return `  → No replica can lead in a ledger that was copied. Use ${safeLine(copy)}.`;
  return replicas.some((replica) => !replica.isDraining && !isSilent(replica))
    ? '  → A live replica takes it once its lease has expired. If it does not within a minute, read the log of the replicas.'
    : '  → Start a replica: portolan run --ledger with this URL.';
}
