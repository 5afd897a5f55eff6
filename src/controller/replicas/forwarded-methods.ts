import { subjectOf } from '../../ledger/commands.ts';
import type { Command, LeaseUnit } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import { parseScopeKey, type ResourceId, type ScopeKey } from '../../model/ids.ts';
import type { Json } from '../../model/json.ts';
import { after, type Clock, NOT_NEEDED, unlessAborted } from '../../runtime/clock.ts';
import { type ControllerApi, notOrphaned, unknownApplication } from '../api.ts';
import type { Core } from '../core.ts';
import { platformUnit, sourceUnit } from './leadership.ts';

const SHORT_MS = 3_000;
const PATIENCE_MS = 10_000;
/** A decision waits for the pass of its application, up to 20 s. */
const DECISION_MS = 25_000;
/** The platform is read, or written. The route has a limit of its own. */
const LONG_MS = 110_000;

interface Forwarded {
  /** The first argument names it. */
  readonly of: 'application' | 'scope' | 'platform' | 'source';
  readonly isRead: boolean;
  readonly patienceMs: number;
  /** Its last argument is the signal of its caller. */
  readonly hasSignal: boolean;
  /** It decides nothing: another leader may carry it out once more, also while the first one still does. */
  readonly isRequest?: boolean;
}

const read = (of: Forwarded['of'], patienceMs: number, hasSignal = false): Forwarded => {
  return { of, isRead: true, patienceMs, hasSignal };
};
const command = (of: Forwarded['of'], patienceMs: number, hasSignal = false): Forwarded => {
  return { of, isRead: false, patienceMs, hasSignal };
};
/** Confirmed once it is recorded. */
const request = (of: Forwarded['of']): Forwarded => {
  return { of, isRead: false, patienceMs: 0, hasSignal: false, isRequest: true };
};

/**
 * Methods of the controller that only the leader of a unit can carry out. A command may be carried out twice, when its leader was
 * killed before it recorded the result. No harm is done: `sync`, `resume`, `rebind` and `retry` change nothing the second time;
 * `suspend` keeps the time of the first; `approve`, `adopt` and `prune` have a digest; `resolve`, `forget`, `adoptById` and
 * `forgetOrphan` do not find what they are about any more, and are refused. Such a refusal says that a former leader may have
 * carried the command out. Commands about one application, from users of all replicas, run one after another, and none is carried out
 * after a commit has moved the application, even if another one has moved it back. So none is carried out again after a later one.
 */
export const METHODS = {
  details: read('application', SHORT_MS),
  resource: read('application', PATIENCE_MS),
  doubts: read('application', PATIENCE_MS),
  monitoring: read('application', LONG_MS),
  planAdoption: read('application', LONG_MS, true),
  planPrune: read('scope', LONG_MS, true),
  plan: read('platform', LONG_MS, true),
  planManifests: read('platform', LONG_MS, true),
  findCommit: read('source', PATIENCE_MS),
  descent: read('source', PATIENCE_MS),
  sync: request('platform'),
  retrySource: request('source'),
  pokeSource: request('source'),
  suspend: command('application', PATIENCE_MS),
  resume: command('application', PATIENCE_MS),
  approve: command('application', PATIENCE_MS),
  rebind: command('platform', PATIENCE_MS),
  resolve: command('application', DECISION_MS, true),
  retry: command('application', DECISION_MS, true),
  forget: command('application', DECISION_MS, true),
  adoptById: command('application', DECISION_MS, true),
  adopt: command('application', DECISION_MS, true),
  prune: command('scope', LONG_MS, true),
  forgetOrphan: command('scope', DECISION_MS, true),
} as const satisfies Readonly<Record<string, Forwarded>>;

export type MethodName = keyof typeof METHODS;

/** Returns the unit whose leader carries a method out. @throws PortolanError when the source does not have the application. */
export function unitOf(
  local: Pick<ControllerApi, 'application'>,
  { of }: Pick<Forwarded, 'of'>,
  subject: unknown,
  source: string,
): LeaseUnit {
  switch (of) {
    case 'application': {
      const found = local.application(subject as ResourceId);
      if (found === undefined) throw unknownApplication(subject as ResourceId);
      return platformUnit(found.platform);
    }
    case 'scope': {
      const scope = parseScopeKey(subject as ScopeKey);
      if (scope === undefined) throw notOrphaned(subject as ScopeKey);
      return platformUnit(scope.platform);
    }
    case 'platform':
      return platformUnit(subject as string);
    case 'source':
      return sourceUnit(source);
  }
}

/** The arguments of a method, the scope by which its user was permitted, and what `heldTo` returned. */
export function orderedArgs(args: Json): {
  readonly args: readonly [string, ...Json[]];
  readonly scope?: ScopeKey | null;
  readonly takeovers?: number;
} {
  return args as unknown as ReturnType<typeof orderedArgs>;
}

/** Returns the scope that permissions for a method depend on; undefined: none of an application. */
export function scopeSeen(
  local: Pick<ControllerApi, 'application'>,
  method: MethodName,
  subject: unknown,
): ScopeKey | null | undefined {
  return METHODS[method].of === 'application' ? local.application(subject as ResourceId)?.scope : undefined;
}

/**
 * Returns what a command depends on: it does harm where a later one was carried out before it, because another leader took the application
 * over.
 */
export function heldTo(records: Records, method: MethodName, subject: unknown): { readonly takeovers?: number } {
  const { of, isRead } = METHODS[method];
  const record =
    of !== 'application' || isRead || onlyStops({ method }) ? undefined : records.get(subject as ResourceId);
  return record === undefined ? {} : { takeovers: record.kept.takeovers };
}

/**
 * Returns whether an application is where it was when a command was given. While it was led elsewhere, later commands were carried out
 * there, which this one would undo.
 * @param takeovers as `heldTo` returned it then. A replica of an earlier version does not say it.
 */
function hasStayed(records: Records, subject: unknown, takeovers: number | undefined): boolean {
  const record = records.get(subject as ResourceId);
  if (takeovers === undefined || record === undefined) return true;
  return record.moved === undefined && record.kept.takeovers === takeovers;
}

/**
 * Returns a command of this process that is refused if its application moves before its turn comes. One that has moved already is taken over
 * from another leader first, and with it what was decided there.
 */
export function unlessMoved<Answer>(
  records: Records,
  method: MethodName,
  subject: unknown,
  own: () => Promise<Answer>,
): () => Promise<Answer> {
  if (records.get(subject as ResourceId)?.moved !== undefined) return own;
  const { takeovers } = heldTo(records, method, subject);
  return async () => {
    if (!hasStayed(records, subject, takeovers)) throw hasMoved(subject as string);
    return own();
  };
}

/** Returns the thing that a command is about, for the order of commands; undefined for reads. */
export function thingOf(command: Command): string | undefined {
  const forwarded = METHODS[command.method as MethodName] as Forwarded | undefined;
  if (forwarded === undefined || forwarded.isRead) return undefined;
  return forwarded.of === 'application' || forwarded.of === 'scope' ? subjectOf(command) : command.unit;
}

/** Returns whether a hand-over waits for the end of a command: it writes. */
export function isAwaited({ method }: Command): boolean {
  const forwarded = METHODS[method as MethodName] as Forwarded | undefined;
  return forwarded !== undefined && !forwarded.isRead && forwarded.isRequest !== true;
}

/** Returns whether a command may take minutes: it reads or writes the platform. */
export function isLong({ method }: Command): boolean {
  const forwarded = METHODS[method as MethodName] as Forwarded | undefined;
  return forwarded?.patienceMs === LONG_MS;
}

/** Returns whether a command can only stop work, so that it does no harm when it is late. */
export function onlyStops({ method }: Pick<Command, 'method'>): boolean {
  return method === 'suspend';
}

/** Methods that replicas ask each other for, and users do not. */
export interface LeaderMethods {
  /** Reads the source again, after it exceeded a limit. Resolves when that is done. */
  retrySource(source: string): Promise<void>;
  /** Returns the relation of a commit to another. */
  descent(source: string, id: string, descendant: string): Promise<unknown>;
  /** Syncs these applications of a platform; `all`: every one of them. */
  sync(platform: string, ids: readonly ResourceId[] | 'all', by: string): Promise<void>;
  /** Makes the plan of these applications of a platform. */
  plan(platform: string, ids: readonly ResourceId[], signal: AbortSignal): Promise<unknown>;
  /** Makes the plan of manifests, as far as they are about these applications. */
  planManifests(platform: string, request: Json, signal: AbortSignal): Promise<unknown>;
  findCommit(source: string, prefix: string): Promise<unknown>;
  pokeSource(source: string, because: string): Promise<void>;
}

type Records = Pick<Core['records'], 'get'>;

interface Carriers {
  readonly local: ControllerApi;
  readonly leader: LeaderMethods;
  readonly records: Records;
  readonly source: string;
  readonly clock: Clock;
}

/** Carries out what another replica ordered. @throws PortolanError when it is refused. */
export async function carryOut(
  { local, leader, records, source, clock }: Carriers,
  command: Command,
  signal: AbortSignal,
): Promise<Json | undefined> {
  const { method, args, unit, addedAgoMs } = command;
  const forwarded = METHODS[method as MethodName] as Forwarded | undefined;
  if (forwarded === undefined) throw unknownMethod(method);
  // The user has gone.
  if (forwarded.isRead && addedAgoMs > forwarded.patienceMs) throw tooLate(method);
  const ordered = orderedArgs(args);
  const [subject] = ordered.args;
  // The user was permitted by the scope that the other replica knows.
  const isSame = ordered.scope === scopeSeen(local, method as MethodName, subject);
  if (!isSame || unitOf(local, forwarded, subject, source) !== unit || !hasStayed(records, subject, ordered.takeovers))
    throw hasMoved(subject);
  const own = (leader as unknown as Methods)[method];
  const carrier = own === undefined ? (local as unknown as Methods) : (leader as unknown as Methods);
  const given = ordered.args.map((arg) => (arg === null ? undefined : arg));
  const carry = async (until: AbortSignal): Promise<unknown> =>
    carrier[method]?.(...given, ...(forwarded.hasSignal ? [until] : []));
  if (!forwarded.isRead) return (await carry(signal)) as Json | undefined;
  return (await inTime(clock, forwarded.patienceMs - addedAgoMs, tooLate(method), signal, carry)) as Json | undefined;
}

/** Ends a read that no user needs any more, so that other reads have their turn and the platform gets fewer requests. */
async function inTime<Answer>(
  clock: Clock,
  ms: number,
  error: PortolanError,
  signal: AbortSignal,
  read: (until: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const [late, ended] = [new AbortController(), new AbortController()];
  after(clock, ms, ended.signal, () => late.abort(error));
  try {
    return await unlessAborted(read(AbortSignal.any([signal, late.signal])), late.signal);
  } finally {
    ended.abort(NOT_NEEDED);
  }
}

type Methods = Readonly<Record<string, ((...args: unknown[]) => Promise<unknown>) | undefined>>;

function unknownMethod(method: string): PortolanError {
  return new PortolanError({
    code: 'controller/unknown-command',
    disposition: 'give-up',
    message: `The controller that leads it does not know the command ${method}. Nothing was done.`,
    remedy: 'Update all controllers to the same version; portolan replicas shows the versions.',
  });
}

function tooLate(method: string): PortolanError {
  return new PortolanError({
    code: 'controller/leader-silent',
    disposition: 'retry',
    message: `The question ${method} was found too late. Nothing was changed.`,
    remedy: 'Retry; portolan replicas shows the leaders.',
  });
}

function hasMoved(subject: string): PortolanError {
  return new PortolanError({
    code: 'controller/has-moved',
    disposition: 'retry',
    message: `A commit has moved ${subject} to another platform or scope after this command was given, or just before. Nothing was done.`,
    remedy: 'Look at its status, and retry in a few seconds.',
  });
}
