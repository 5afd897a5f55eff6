import { onTestFinished } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import type { SourceSettings } from '../../src/configuration/settings/source-spec.ts';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import type { SourceFeed, SourceReading, SourceState } from '../../src/source/feed.ts';
import { type heldContents, LocalWorkbench } from '../../src/source/workbench.ts';
import { openSourceFeed, type SourceFeedOptions } from '../../src/source/open-feed.ts';

/** A feed that was started, and what it has told. */
export interface Listening {
  readonly feed: SourceFeed;
  readonly told: readonly SourceState[];
  /** The next state that was not asked for yet, as one line; fails after `withinMs`. */
  next(withinMs?: number): Promise<string>;
  /** True if nothing is told for that long. */
  isQuiet(ms: number): Promise<boolean>;
}

export type FeedChanges = Partial<Omit<SourceFeedOptions, 'settings'>> & {
  readonly settings?: Partial<SourceSettings>;
};

export function openFeed(paths: readonly string[], changes: FeedChanges = {}): SourceFeed {
  const { settings: changed, ...others } = changes;
  const settings = { ...defaultSettings().source, debounceMs: 20, ...changed };
  return openSourceFeed({
    workbench: new LocalWorkbench({
      kinds: kindDeclarations,
      clock: others.clock ?? systemClock,
      path: others.path ?? process.env.PATH,
      limits: () => settings.limits,
    }),
    paths,
    exclude: [],
    isRepository: false,
    settings,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    path: process.env.PATH,
    cacheFolder: '/nowhere',
    secret: (reference) => () => {
      throw new Error(`nobody should ask for ${JSON.stringify(reference)}`);
    },
    ...others,
  });
}

/** Opens and starts a feed; it is closed when the test ends. */
export function listen(paths: readonly string[], changes: FeedChanges = {}): Listening {
  const feed = openFeed(paths, changes);
  const told: SourceState[] = [];
  let asked = 0;
  let wake = (): void => {};
  feed.start(async (state) => {
    told.push(state);
    wake();
  });
  onTestFinished(() => feed.close());
  const isMore = async (withinMs: number): Promise<boolean> => {
    if (told.length > asked) return true;
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await Promise.race([woken, systemClock.sleep(withinMs, timer.signal).catch(() => {})]);
    timer.abort();
    return told.length > asked;
  };
  return {
    feed,
    told,
    async next(withinMs = 10_000) {
      if (!(await isMore(withinMs))) throw new Error(`nothing was told within ${withinMs} ms`);
      const state = told[asked] as SourceState;
      asked += 1;
      return shown(state);
    },
    isQuiet: async (ms) => !(await isMore(ms)),
  };
}

/** `read main@sha1:<id> a.yaml=content …` or `failed <code>`. */
export function shown(state: SourceState): string {
  if (state.type === 'failed') return `failed ${state.error.code}`;
  const { revision } = state.reading;
  const { files, problems } = contentsOf(state.reading);
  const contents = files.map(({ path, content }) => `${path.split('/').at(-1)}=${textOf(content)}`);
  return ['read', revision, ...contents.sort(), ...problems.map(({ code }) => `!${code}`)].join(' ');
}

/** What was read, where it was read in this thread. */
export function contentsOf({ contents }: SourceReading): ReturnType<typeof heldContents> {
  if ('files' in contents) return contents as ReturnType<typeof heldContents>;
  throw new Error('it was read in another thread');
}

/** How many contents were read for these states: one that was read before is the same object. */
export function contentsRead(states: readonly SourceState[]): number {
  const files = states.flatMap((state) => (state.type === 'read' ? contentsOf(state.reading).files : []));
  return new Set(files.map(({ content }) => content)).size;
}

export function textOf(content: string | Uint8Array): string {
  return typeof content === 'string' ? content : Buffer.from(content).toString('utf8');
}
