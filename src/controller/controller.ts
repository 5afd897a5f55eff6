import { PortolanError } from '../model/errors.ts';
import { createRemovalBudget } from '../reconcile/removal-budget.ts';
import { budgetLimits } from '../reconcile/policies/run.ts';
import type { SourceState } from '../source/feed.ts';
import { createAccount } from './account.ts';
import type { ControllerApi } from './api.ts';
import { type Core, expected } from './core.ts';
import { createEventLog } from './events.ts';
import { follow } from './following.ts';
import { createGates } from './gates.ts';
import { createIntake } from './intake.ts';
import { type ControllerConfiguration, type ControllerOptions, durationsOf } from './options.ts';
import { createApi } from './operations.ts';
import { keepRecord } from './keeping.ts';
import { createWorkQueue } from './queue.ts';
import type { AppRecord } from './record.ts';
import { AGE_EVERY_MS, watch } from './removal-age.ts';
import { createSlots } from './slots.ts';
import { work } from './worker.ts';

/** The daemon without a process around it: keeps a platform as a source says until it is told to end. */
export interface Controller {
  readonly api: ControllerApi;
  start(): void;
  /**
   * Begins nothing new; resolves when what was under way is finished and recorded, and the feed is closed.
   * @returns false: some of it took longer than the settings allow, and was left as it is.
   */
  drain(): Promise<boolean>;
  /** Another configuration from now on; resolves when no pass uses the former one any more. */
  reload(configuration: ControllerConfiguration): Promise<void>;
  /** Resolves when the ledger is no longer ours: nothing may be sent any more. */
  readonly lost: Promise<PortolanError>;
}

/** How long the first reading may take before what an earlier process accepted is gone on with. */
const FIRST_READING_MS = 5_000;
/** Passes that may begin before the event loop turns. */
const BURST_MAX = 8;
/** So many minutes the time of the budgets is written down. */
const BUDGET_EVERY = 10;
/** When what could not be taken in is tried again. */
const AGAIN_MS = 5_000;

export function createController(options: ControllerOptions): Controller {
  const { clock, random, ledger, source, actor, log, feed, version, observer } = options;
  const stop = new AbortController();
  const lost = Promise.withResolvers<PortolanError>();
  const events = createEventLog(options);
  const keeping = { ledger, clock, source, actor };
  /** Passes under way. */
  const passes = new Set<Promise<void>>();
  /** One change of the source or of the configuration at a time. */
  let turn: Promise<void> = Promise.resolve();
  let isAgainDue = false;
  /** Passes that began since the last one that let the event loop turn. */
  let burst = 0;
  let turned: Promise<void> | undefined;
  /** The source could not be read, or taken, since anybody was last told to go on removing. */
  let hasWaited = false;

  const slots = createSlots(() => core.configuration.settings.controller.concurrency);
  const records: Core['records'] = new Map();
  const queue = createWorkQueue({
    clock,
    random,
    concurrency: slots.concurrency,
    observer,
    onError: (key, error) => log.error(`a fault of Portolan itself: ${faultOf(error)}`, { application: key }),
  });
  const core: Core = {
    options,
    events,
    keeping,
    slots,
    gates: createGates({ clock, log, events, records, queue, configuration: () => core.configuration }),
    intake: createIntake({ ...options, keeping, events, configuration: () => core.configuration }),
    queue,
    records,
    claims: new Map(),
    stop: stop.signal,
    configuration: options.configuration,
    account: createAccount({ snapshot: '', owned: 0, changed: 0, removed: 0 }),
    budget: createRemovalBudget({
      ledger,
      clock,
      source,
      actor,
      limits: () => budgetLimits(core.configuration.settings),
      isDaemon: true,
    }),
    shared: undefined,
    retrySource: () =>
      void inTurn(async () => {
        if (!(await options.workbench.forgetFailures())) return;
        log.info('the source is read again: somebody asked for it');
        const taken = await intake.retry();
        feed.retry();
        await follow(core, taken);
      }),
    lose: lost.resolve,
  };
  const { intake } = core;

  /** Passes that find everything in shared readings wait for nothing: after a few of them the event loop turns. */
  async function breathe(): Promise<void> {
    burst += 1;
    if (burst <= BURST_MAX) return;
    turned ??= clock.sleep(0).then(() => {
      burst = 0;
      turned = undefined;
    });
    await turned;
  }

  /** The ledger could not be written, say: the feed tells nothing twice, so the last reading is taken in again by ourselves. */
  function againSoon(): void {
    if (isAgainDue) return;
    isAgainDue = true;
    clock.sleep(AGAIN_MS, stop.signal).then(
      () => {
        isAgainDue = false;
        return inTurn(async () => {
          await follow(core, await intake.again());
          goOnRemoving();
        });
      },
      () => {},
    );
  }

  /** One after another; what goes wrong on purpose is logged and ends nothing. */
  function inTurn(change: () => Promise<void>): Promise<void> {
    turn = turn.then(async () => {
      if (stop.signal.aborted) return;
      try {
        await change();
      } catch (error) {
        if (stop.signal.aborted && error instanceof PortolanError) return;
        if (error instanceof PortolanError) {
          expected(core, error);
          againSoon();
        } else log.error(`a fault of Portolan itself: ${faultOf(error)}`);
      }
    });
    return turn;
  }

  /** What waited to be removed waited for a source that can be read, too; by what is wanted and allowed now, not before. */
  function goOnRemoving(): void {
    if (!hasWaited || !intake.isStanding) return;
    hasWaited = false;
    for (const { id, kept } of records.values())
      if (Object.keys(kept.goneForMs).length > 0) queue.add(id, 'the source can be read again', 'routine');
  }

  /** What is to be removed grows older. */
  function growOlder(): readonly AppRecord[] {
    const { pruneAfterMs } = durationsOf(core.configuration.settings);
    const waiting = [...records.values()].filter(({ kept }) => Object.keys(kept.goneForMs).length > 0);
    for (const record of waiting) watch(record, clock.monotonic(), intake.isStanding, pruneAfterMs);
    return waiting;
  }

  /** Looks at the time for as long as the controller is there. */
  async function keepTime(): Promise<void> {
    for (let minutes = 1; !stop.signal.aborted; minutes += 1) {
      await clock.sleep(AGE_EVERY_MS, stop.signal);
      try {
        const platforms = new Set([...records.values()].map(({ status }) => status.platform));
        if (minutes % BUDGET_EVERY === 0) for (const platform of platforms) await core.budget.keepTime(platform);
        for (const record of growOlder()) await keepRecord(keeping, record);
      } catch (error) {
        expected(core, error);
      }
    }
  }

  const tell = (state: SourceState): Promise<void> =>
    inTurn(async () => {
      growOlder();
      const taken = await intake.take(state);
      hasWaited ||= !intake.isStanding;
      // A process that has just begun may find nothing it can take.
      await follow(core, taken ?? (intake.accepted === undefined ? await intake.restore() : undefined));
      goOnRemoving();
    });

  return {
    api: createApi(core, clock.now()),
    lost: lost.promise,
    start() {
      events.publish({
        type: 'controller.started',
        severity: 'info',
        message: `portolan ${version} watches ${feed.location}`,
        detail: { version, source },
      });
      queue.start(async (id, because) => {
        await breathe();
        const pass = work(core, id, because);
        passes.add(pass);
        await pass.finally(() => passes.delete(pass));
      });
      feed.start(tell);
      keepTime().catch((error: unknown) => {
        if (!stop.signal.aborted) log.error(`a fault of Portolan itself: ${faultOf(error)}`);
      });
      clock.sleep(FIRST_READING_MS, stop.signal).then(
        () => inTurn(async () => follow(core, await intake.restore())),
        () => {},
      );
    },
    async drain() {
      stop.abort(new Error('the controller ends'));
      events.publish({ type: 'controller.draining', severity: 'info', message: 'nothing new is begun' });
      const ended = Promise.all([feed.close(), queue.drain(), turn])
        .then(() => intake.settled())
        .then(() => true);
      const { drainMs } = durationsOf(core.configuration.settings);
      const isWhole = await within(ended, drainMs);
      if (!isWhole)
        log.error(
          `not all that was under way ended within ${drainMs / 1000} s; the next start settles it by observation`,
        );
      return isWhole;
    },
    async reload(configuration) {
      let former: readonly Promise<void>[] = [];
      await inTurn(async () => {
        former = [...passes];
        core.configuration = configuration;
        events.publish({ type: 'controller.reloaded', severity: 'info', message: 'the configuration was read again' });
        await follow(core, await intake.again());
        for (const id of records.keys()) queue.add(id, 'configuration');
      });
      await Promise.allSettled(former);
    },
  };

  /** @returns false when it takes longer. */
  async function within(whole: Promise<boolean>, limitMs: number): Promise<boolean> {
    const giveUp = new AbortController();
    const tooLate = clock.sleep(limitMs, giveUp.signal).then(
      () => false,
      () => false,
    );
    const isWhole = await Promise.race([whole, tooLate]);
    giveUp.abort();
    return isWhole;
  }
}

function faultOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
