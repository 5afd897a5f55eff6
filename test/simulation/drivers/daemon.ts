import { reconciledKinds } from '../../../src/kinds/registry.ts';
import { nothingAllowed } from '../../../src/controller/acceptance.ts';
import type { ControllerApi, ControllerObserver } from '../../../src/controller/api.ts';
import { Controller } from '../../../src/controller/controller.ts';
import type { Kept } from '../../../src/controller/ledger-records.ts';
import type { ControllerConfiguration, ControllerOptions } from '../../../src/controller/options.ts';
import { silentObserver } from '../../support/silent-observer.ts';
import type { LedgerTransaction } from '../../../src/ledger/ledger.ts';
import { PortolanError } from '../../../src/model/errors.ts';
import type { ResourceId } from '../../../src/model/ids.ts';
import type { Intent } from '../../../src/model/owned.ts';
import type { PlatformClient } from '../../../src/platform/client.ts';
import type { PlatformRequest } from '../../../src/platform/transport.ts';
import type { Log } from '../../../src/runtime/log.ts';
import { stores } from '../shop.ts';
import { type AppName, appNames, nameOfPath, nameOfScope, sizeOf } from './estate.ts';
import { SimulatedFeed } from './feed.ts';
import type { Commit, Git } from './git.ts';
import { type Authority, listingFor, type Pass, type Write } from './permissions.ts';
import { DriverProcess } from './process.ts';
import { type DriverSettings, operator } from './settings.ts';

/** Settings and from when to when they may be in force. */
interface Term {
  readonly settings: DriverSettings;
  /** When no pass uses it any more. */
  endMs: number;
}

export type Belief = Pick<Authority, 'commit' | 'unreadableSinceMs' | 'movedMs'>;

/** How the facts begin in which the controller keeps what it knows of an application. */
const STATUS = 'status default ';

export const idOf = (name: AppName): ResourceId => `Application/${name}`;
export const nameOfId = (id: ResourceId): AppName => id.slice('Application/'.length) as AppName;

/** `portolan run`: the real controller, as `src/cli/commands/run.ts` wires it, on virtual time. */
export class Daemon extends DriverProcess {
  readonly kind = 'daemon';
  readonly isAgreed = false;
  readonly allowsRewind = false;
  readonly #terms: Term[];
  protected readonly passes = new Map<AppName, Pass>();
  readonly #running = new Set<AppName>();
  #controller: Controller | undefined;
  #commit: Commit | undefined;
  #unreadableSinceMs: number | undefined;
  /** When work on each application began last. */
  readonly beganMs = new Map<AppName, number>();

  protected readonly platforms: ReadonlySet<string> = operator.platforms;

  constructor(...[world, number]: ConstructorParameters<typeof DriverProcess>) {
    super(world, number);
    this.#terms = [{ settings: world.settings, endMs: Number.POSITIVE_INFINITY }];
  }

  async live(): Promise<void> {
    const { world } = this;
    const ledger = await this.open();
    const controller = new Controller({
      kinds: reconciledKinds,
      clock: this.clock,
      random: this.chance,
      log: this.log(),
      ...ledger,
      feed: new SimulatedFeed(this.branch(), world.timeline, {
        told: (commit) => this.#told(commit),
        wallMs: () => this.wallMs(),
        monotonicMs: () => this.clock.monotonic(),
        isAlive: () => this.alive,
        isAwake: () => this.isAwake(),
        readingMs: world.readingMs,
      }),
      source: 'default',
      actor: `daemon ${this.number}`,
      version: '0.0.0',
      configuration: this.configuration(world.settings),
      observer: this.observer,
      allow: nothingAllowed,
      workbench: world.workbench,
      planWorkbench: world.workbench,
    });
    this.#controller = controller;
    controller.start();
    void controller.lost.then(() => {
      world.note(`p${this.number} has lost the ledger`);
      this.stop();
    });
  }

  /** Opens what it writes. */
  protected async open(): Promise<Pick<ControllerOptions, 'ledger'>> {
    return { ledger: await this.openLedger() };
  }

  /** The branch as it sees it. */
  protected branch(): Pick<Git, 'head' | 'isAway'> {
    return this.world.git;
  }

  protected isAwake(): boolean {
    return this.alive;
  }

  protected readonly observer: ControllerObserver = {
    ...silentObserver,
    began: (id) => this.#began(nameOfId(id)),
    ended: (id) => void this.#running.delete(nameOfId(id)),
  };

  /** What an operator reaches; undefined: it has not begun, or is dead. */
  get api(): ControllerApi | undefined {
    return this.alive && this.drainMs === undefined ? this.#controller?.api : undefined;
  }

  stop(): void {
    if (this.drainMs !== undefined || this.#controller === undefined) return this.kill();
    this.drainMs = this.world.timeline.nowMs;
    void this.close(this.#controller).then(() => this.kill());
  }

  /** As the program ends. */
  protected async close(controller: Controller): Promise<void> {
    await controller.drain();
  }

  reload(settings: DriverSettings): void {
    const former = this.#terms.at(-1);
    this.#terms.push({ settings, endMs: Number.POSITIVE_INFINITY });
    const done = this.#controller?.reload(this.configuration(settings));
    void done?.then(() => {
      if (former !== undefined) former.endMs = Math.min(former.endMs, this.world.timeline.nowMs);
    });
  }

  isAtWorkOn(name: AppName): boolean {
    return this.#running.has(name);
  }

  check(write: Write, atMs: number): boolean {
    const { world } = this;
    const { action, intent } = write;
    const name = nameOfScope(intent.scope);
    const pass = name === undefined ? undefined : this.passes.get(name);
    if (pass === undefined || !this.#running.has(pass.application)) {
      world.violate('I-PASS', `${action.summary} was sent outside of any pass`);
      return false;
    }
    const listing = listingFor(action);
    if (listing !== undefined && !pass.hasRead.has(listing) && world.server.dialect === 'extended')
      world.violate('I-SHARED', `${action.summary} upon what only a shared listing has said`);
    const authority = {
      number: this.number,
      pass,
      settings: this.#terms.filter(({ endMs }) => endMs >= pass.beganMs).map(({ settings }) => settings),
      ...this.believes(intent),
      approved: world.approved.get(pass.application),
      watchedMs: (fromMs: number) => world.watchedMs(intent.scope, fromMs, atMs),
    };
    return world.permissions.sends(write, authority, atMs, this.seenWallMs());
  }

  protected seenWallMs(): number {
    return this.world.seenWallMs;
  }

  /** What it takes the source to say. */
  protected believes(_intent: Intent): Belief {
    return { unreadableSinceMs: this.#unreadableSinceMs, commit: this.#commit };
  }

  override hasCommitted({ operations }: LedgerTransaction): void {
    for (const operation of operations) {
      if (operation.op !== 'set-fact' || !operation.key.startsWith(STATUS)) continue;
      const { kept } = JSON.parse(operation.value) as { readonly kept: Kept };
      const { approved } = this.world;
      const name = nameOfId(operation.key.slice(STATUS.length) as ResourceId);
      const digest = approved.get(name);
      const pass = this.passes.get(name);
      if (operations.some((one) => one.op === 'record' && one.event === 'approval-ended'))
        this.world.permissions.ends(name, digest ?? '');
      else if (digest !== undefined && kept.approved === null && pass !== undefined)
        this.world.permissions.takesUp(digest, { number: this.number, pass });
      if (digest === undefined && kept.approved !== null) this.world.permissions.putsBack(name, kept.approved.digest);
      if (kept.approved === null) approved.delete(name);
      else approved.set(name, kept.approved.digest);
    }
  }

  hasRead({ path, operation }: PlatformRequest): void {
    const name = nameOfPath(path);
    const pass = name === undefined ? undefined : this.passes.get(name);
    pass?.hasRead.add(operation);
  }

  #began(name: AppName): void {
    const { nowMs } = this.world.timeline;
    if (this.#running.has(name)) this.world.violate('I-QUEUE', `two passes of ${name} at once`);
    this.#running.add(name);
    this.beganMs.set(name, nowMs);
    const number = (this.passes.get(name)?.number ?? 0) + 1;
    const { spent } = this.world.permissions;
    this.passes.set(name, { application: name, number, beganMs: nowMs, spent, hasRead: new Set() });
    this.world.began(this);
    this.world.note(`p${this.number} pass of ${name}`);
  }

  #told(commit: Commit | undefined): void {
    const { world } = this;
    // A source that names nothing is a mistake, unless nothing of it is on record.
    const isSound = commit !== undefined && (sizeOf(commit.content) > 0 || world.books.objects.size === 0);
    const isTaken = isSound && !commit.content.isFaulty;
    world.note(`p${this.number} is told ${commit === undefined ? 'nothing' : `commit ${commit.number}`}`);
    if (!isTaken) {
      this.#unreadableSinceMs ??= world.timeline.nowMs;
      return;
    }
    this.#unreadableSinceMs = undefined;
    if (this.#commit !== undefined && this.#commit !== commit) world.sourceChanges += 1;
    this.#commit = commit;
    this.heard(commit);
  }

  /** A commit that it can take in. */
  protected heard(commit: Commit): void {
    this.world.permissions.told(commit, this.world.timeline.nowMs);
  }

  protected configuration(settings: DriverSettings): ControllerConfiguration {
    const platforms = [...this.platforms];
    const clients = new Map(platforms.map((name) => [name, this.openClient(name)]));
    return {
      settings: settings.spec,
      operator: { ...operator, platforms: this.platforms },
      variables: new Map(),
      stores,
      client: (name) => clients.get(name) as PlatformClient,
    };
  }

  /** A bug in Portolan is only logged by the controller: here it fails the schedule. */
  protected log(): Log {
    const { world } = this;
    return {
      debug() {},
      info() {},
      warn() {},
      error: (message) => {
        if (message.includes('a bug in Portolan')) world.violate('BUG', message);
      },
    };
  }

  /** What an operator does. What is refused on purpose is an answer like any other. */
  async operate(act: 'approve' | 'approve-late' | 'suspend' | 'resume' | 'sync' | 'reload' | 'poke'): Promise<void> {
    const { api, world, chance } = this;
    if (api === undefined) return;
    const name = chance.pick(appNames);
    try {
      switch (act) {
        case 'approve':
        case 'approve-late':
          return void (await this.approve(chance.int(appNames.length), act === 'approve-late'));
        case 'suspend':
          return await this.#suspend(name);
        case 'resume':
          return await this.resume(name);
        case 'sync':
          return void (await api.sync(chance.happens(0.5) ? 'all' : [idOf(name)], 'a person'));
        case 'poke':
          return await api.pokeSource('a person');
        case 'reload':
          return this.reload((world.settings = world.anySettings(chance)));
      }
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
    }
  }

  /** Applications that it knows. */
  applications(): readonly AppName[] {
    return appNames.filter((name) => this.api?.application(idOf(name)) !== undefined);
  }

  async #suspend(name: AppName): Promise<void> {
    const { permissions, timeline } = this.world;
    const confirmed = permissions.suspensions.suspends(name);
    await this.api?.suspend(idOf(name), 'a person', '');
    confirmed(timeline.nowMs);
  }

  async resume(name: AppName): Promise<void> {
    const answered = this.world.permissions.suspensions.resumes(name, () => this.alive);
    try {
      await this.api?.resume(idOf(name), 'a person');
      answered(false);
    } catch (error) {
      answered(!isUndecided(error));
      throw error;
    }
  }

  /** Looks at a plan that waits for a word, and lets it through by the digest that is shown. */
  async approve(from: number, isLate: boolean): Promise<boolean> {
    const { api, world } = this;
    if (api === undefined) return false;
    const names = appNames.map((_, at) => appNames[(from + at) % appNames.length] as AppName);
    const name = names.find((one) => (api.application(idOf(one))?.approval ?? null) !== null);
    if (name === undefined) return false;
    const digest = api.application(idOf(name))?.approval?.digest ?? '';
    const document = await api.plan([idOf(name)], new AbortController().signal);
    if (isLate) await this.clock.sleep(30_000);
    // A person agrees to what is shown; the digest holds it to that.
    const [plan] = document.scopes;
    if (plan === undefined || document.digest !== digest) return false;
    const told = world.permissions.approved(name, digest, plan.actions);
    try {
      await api.approve(idOf(name), digest, 'a person');
      told.confirm(world.timeline.nowMs);
      world.approvals += 1;
      return true;
    } catch (error) {
      if (!isUndecided(error)) told.takeBack();
      throw error;
    }
  }
}

/** The person cannot know whether it was done, or will be. A refusal says so if a former leader began with the command. */
function isUndecided(error: unknown): boolean {
  if (!(error instanceof PortolanError)) return false;
  return UNDECIDED.has(error.code) || error.message.includes('may have carried the command out');
}

const UNDECIDED = new Set(['controller/command-pending', 'controller/leader-silent', 'ledger/io', 'ledger/fenced']);
