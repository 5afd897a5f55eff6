import { silentHooks } from '../../../src/reconcile/apply/world.ts';
import { reconciledKinds } from '../../../src/kinds/registry.ts';
import { kindDeclarations } from '../../../src/configuration/declarations.ts';
import { apply, type ApplyOptions } from '../../../src/cli/commands/apply.ts';
import type { Surroundings } from '../../../src/cli/session/command.ts';
import type { Input } from '../../../src/cli/session/input.ts';
import { openOutputs } from '../../../src/cli/session/outputs.ts';
import { surveyAll, withInput } from '../../../src/cli/session/session.ts';
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';
import { loadConfiguration } from '../../../src/configuration/configuration.ts';
import { PortolanError } from '../../../src/model/errors.ts';
import type { Action } from '../../../src/model/plan.ts';
import type { PlanLine } from '../../../src/report/report-schema.ts';
import { nameOfPath, nameOfScope, sizeOf } from './estate.ts';
import { type Commit, readingOf } from './git.ts';
import { listingFor, type Write } from './permissions.ts';
import { DriverProcess } from './process.ts';
import { store } from '../shop.ts';
import { type DriverSettings, isClosedAt, operator } from './settings.ts';
import type { PlatformRequest } from '../../../src/platform/transport.ts';

/** How a person or a job calls it. */
export interface Call {
  readonly prune: boolean;
  /** `--yes`; else somebody looks at the plan for a while, and says so or not. */
  readonly yes: boolean;
  readonly answer: boolean;
  /** `--expect`, with the digest of a plan that was made a while ago. */
  readonly expects: boolean;
  readonly wait: boolean;
  /** `--allow-shrunk --allow-rewind`. */
  readonly allows: boolean;
  /** undefined: the operator's settings bound it. */
  readonly maxPrunes: number | undefined;
  readonly maxShare: number;
  /** `--ignore-windows --reason`. */
  readonly ignoresWindows: boolean;
}

/** `portolan apply`: its real session and its real policy, over the branch as it is, on virtual time. */
export class Command extends DriverProcess {
  readonly kind = 'command';
  readonly #stop = new AbortController();
  readonly #call: Call;
  readonly #settings: DriverSettings;
  readonly #hasRead = new Set<string>();
  /** What it has shown before it began. */
  readonly #shown = new Map<string, Action>();
  /** Once it has said it. */
  exitCode: number | undefined;
  readonly #deferred = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #changed = new Set<string>();
  #owned = 0;
  #mayRemove = false;

  constructor(world: ConstructorParameters<typeof DriverProcess>[0], number: number, call?: Call) {
    super(world, number);
    const { chance } = this;
    this.#settings = world.settings;
    this.#call = call ?? {
      prune: world.isCalm || chance.happens(0.6),
      yes: world.isCalm || chance.happens(0.6),
      answer: chance.happens(0.8),
      expects: !world.isCalm && chance.happens(0.2),
      wait: world.isCalm || chance.happens(0.3),
      allows: world.isCalm || chance.happens(0.1),
      maxPrunes: world.isCalm ? 1000 : chance.pick([0, 1, 3, 10]),
      maxShare: world.isCalm ? 1 : chance.pick([0.1, 0.3, 1]),
      ignoresWindows: world.isCalm || chance.happens(0.3),
    };
  }

  get isAgreed(): boolean {
    return this.#call.prune;
  }

  get allowsRewind(): boolean {
    return this.#call.allows;
  }

  stop(): void {
    this.drainMs ??= this.world.timeline.nowMs;
    this.#stop.abort(new Error('SIGTERM'));
  }

  async live(): Promise<void> {
    const { world } = this;
    const commit = world.git.head;
    const input = world.git.isAway ? undefined : await inputOf(commit, this.#settings);
    try {
      if (input !== undefined && input.problems.length === 0 && sizeOf(commit.content) > 0) {
        world.permissions.told(commit, world.timeline.nowMs);
        await this.#run(commit, input);
      }
    } catch (error) {
      // Reported by the program, with an exit code.
      if (!(error instanceof PortolanError)) throw error;
      world.note(`p${this.number} ${error.code}`);
    }
    if (!this.alive) return;
    this.kill();
    world.ended(this);
  }

  async #run(commit: Commit, input: Input): Promise<void> {
    const { world } = this;
    const surroundings = this.#surroundings();
    const digest = this.#call.expects ? await this.#digest(input, surroundings) : undefined;
    if (digest !== undefined) await this.clock.sleep(20_000);
    const options = this.#options(digest);
    await this.#within(input, options, surroundings, false, async (session) => {
      this.#owned = world.books.objects.size;
      this.#mayRemove = this.#call.allows || (world.permissions.follows(commit) && !world.permissions.isShrunk(commit));
      return apply({ options, agreement: { expect: digest }, session, outputs: openOutputs(options, surroundings) });
    });
  }

  /** `portolan plan`, by whoever will say that this is the plan that is wanted. */
  async #digest(input: Input, surroundings: Surroundings): Promise<string> {
    let digest = '';
    await this.#within(input, this.#options(undefined), surroundings, true, async (session) => {
      ({ digest } = (await surveyAll(session, silentHooks)).document);
      return 0;
    });
    return digest;
  }

  #within(
    input: Input,
    options: ApplyOptions,
    surroundings: Surroundings,
    readOnly: boolean,
    work: Parameters<typeof withInput>[4],
  ): Promise<unknown> {
    const client = this.openClient();
    return withInput(input, options, surroundings, readOnly, work, undefined, {
      openLedger: async () => ({ ledger: await this.openLedger(readOnly), isKnown: true }),
      openPlatforms: () => ({
        names: ['default'],
        client: () => client,
        opened: () => [client],
        store: () => store,
        close: async () => {},
      }),
    });
  }

  #options(expect: string | undefined): ApplyOptions {
    const { prune, yes, wait, allows, maxPrunes, maxShare, ignoresWindows } = this.#call;
    return {
      source: 'default',
      output: 'jsonl',
      logLevel: 'error',
      logFormat: 'text',
      parallelism: 3,
      prune,
      yes: yes || expect !== undefined,
      wait,
      allowShrunk: allows,
      allowRewind: allows,
      maxPrunes,
      maxShare,
      ignoreWindows: ignoresWindows,
      reason: ignoresWindows ? 'it cannot wait' : undefined,
      expect,
    };
  }

  check({ action, intent: { scope } }: Write): boolean {
    const { world } = this;
    const { prune, maxPrunes, maxShare } = this.#call;
    const name = nameOfScope(scope) ?? scope;
    const listing = listingFor(action);
    if (listing !== undefined && !this.#hasRead.has(`${name} ${listing}`) && world.server.dialect === 'extended')
      world.violate('I-SHARED', `${action.summary} upon what only a shared listing has said`);
    if (!this.#call.ignoresWindows && isClosedAt(this.#settings, world.seenWallMs))
      world.violate('I-WINDOW', `${action.summary} for ${name} outside of its windows`);
    const shown = this.#shown.get(`${name} ${action.id}`);
    const isNamed = shown?.object === action.object || (this.#deferred.has(action.resource) && !action.prune);
    if (!isNamed) world.violate('I-PERMIT', `${action.summary} for ${name}, which was not in the plan that was shown`);
    const keys = [action.object, ...(action.takesAlong ?? [])].map((key) => `${name} ${key}`);
    if (action.prune) {
      for (const key of keys) this.#removed.add(key);
      if (!prune) world.violate('I-PERMIT', `${action.summary} without --prune`);
      if (!this.#mayRemove) world.violate('I-PERMIT', `${action.summary} for a source that was rewound or has shrunk`);
      if (maxPrunes !== undefined && this.#removed.size > maxPrunes)
        world.violate('I-PERMIT', `${this.#removed.size} removals in one run, of ${maxPrunes}`);
    }
    const isChange = action.verb !== 'create' && action.cause !== 'first-apply';
    if (isChange) for (const key of keys) this.#changed.add(key);
    // It is always given, so it counts however few objects there are.
    // Of nothing there is no share.
    const share = this.#owned === 0 ? 0 : Math.min(1, this.#changed.size / this.#owned);
    if (share > maxShare)
      world.violate(
        'I-PERMIT',
        `${this.#changed.size} of ${this.#owned} objects changed in one run, of a share of ${maxShare}`,
      );
    return true;
  }

  hasRead({ path, operation }: PlatformRequest): void {
    const name = nameOfPath(path);
    if (name !== undefined) this.#hasRead.add(`${name} ${operation}`);
  }

  #surroundings(): Surroundings {
    const output = { isTerminal: false, columns: 80, rows: 24, color: false };
    const terminal: Terminal = {
      out: { ...output, write: (text) => this.#reads(text) },
      err: { ...output, write: () => {} },
      input: () => {
        throw new Error('nobody writes to standard input');
      },
      ask: async () => {
        await this.clock.sleep(this.chance.pick([2_000, 60_000]));
        return this.#call.answer ? 'y' : 'n';
      },
    };
    return {
      terminal,
      env: {},
      packageRoot: '',
      who: `command ${this.number}`,
      temporaryFolder: '',
      clock: this.clock,
      random: this.chance,
      signal: this.#stop.signal,
      runtimeVersions: { node: '', platform: '' },
      usage: () => ({ rssBytes: 1, heapBytes: 1, heapLimitBytes: 2 }),
      redaction: { add() {}, redact: (text) => text },
      live: { isVisible: false, rows: 1, show() {}, yield: () => () => {} },
      overrides: [],
      kinds: { declared: async () => kindDeclarations, reconciled: async () => reconciledKinds },
      declarations: kindDeclarations,
    };
  }

  /** What a job reads of it: the plan stands there before anything is done. */
  #reads(text: string): void {
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const said = JSON.parse(line) as PlanLine;
      if (said.type === 'action')
        this.#shown.set(`${said.application.slice('Application/'.length)} ${said.action.id}`, said.action);
      if (said.type === 'deferred') this.#deferred.add(said.deferred.resource);
      if (said.type === 'hold' || said.type === 'refusal') this.world.note(`p${this.number} says ${line}`);
      if (said.type !== 'end') continue;
      this.exitCode = said.exitCode;
      this.world.note(`p${this.number} exit code ${said.exitCode}`);
    }
  }
}

const { configuration: configurationOfCommands } = loadConfiguration(
  kindDeclarations,
  'apiVersion: portolan/v1\nkind: Platform\nmetadata: { name: default }\nspec: { url: "http://127.0.0.1" }\n',
  'portolan.yaml',
);

async function inputOf(commit: Commit, { spec }: DriverSettings): Promise<Input> {
  const reading = readingOf(commit, 0);
  const { desired, problems } = await reading.contents.load({ variables: new Map(), operator });
  return {
    file: 'portolan.yaml',
    configuration: {
      ...configurationOfCommands,
      settings: { ...configurationOfCommands.settings, windows: spec.windows, prune: spec.prune },
    },
    desired,
    problems,
    files: 1,
    paths: [],
    misnamed: [],
    commit: { id: commit.id, name: reading.revision, descentFrom: reading.descentFrom },
  };
}
