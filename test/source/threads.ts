import { onTestFinished } from 'vitest';
import type { SourceLimits } from '../../src/configuration/settings/source-spec.ts';
import { openMemoryLedger, MemoryStore } from '../support/memory-ledger.ts';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { type OpenThread, threadsOf } from '../../src/runtime/thread.ts';
import type { CommitPlace, LoadContext } from '../../src/source/contents.ts';
import { sourceFailure } from '../../src/source/thread-failures.ts';
import { ThreadWorkbench } from '../../src/source/thread-workbench.ts';
import { Unreadable } from '../../src/source/unreadable.ts';
import { git } from './repositories.ts';

export const openRealThread = threadsOf(new URL('../../src/worker.ts', import.meta.url), { path: process.env['PATH'] });

export const CONTEXT: LoadContext = {
  variables: new Map(),
  operator: { platforms: new Set(['default']), stores: new Set(['main']) },
};

/** The real thread of a source, over a ledger that outlives the "process". */
export class Bench {
  readonly store = new MemoryStore('bench');
  limits: SourceLimits;
  version = '1.0.0';
  threads = 0;
  /** Whether the "process" leads the source. */
  isLeader = true;
  /** Returns what happens to a message on its way to a thread. Default: it arrives at once. */
  delivered: (message: unknown) => Promise<void> = async () => {};
  workbench: ThreadWorkbench;
  readonly #clock: Clock;

  constructor(limits: Partial<SourceLimits> = {}, clock: Clock = systemClock) {
    this.limits = { ...defaultSettings().source.limits, ...limits };
    this.#clock = clock;
    this.workbench = this.#open();
    onTestFinished(() => this.workbench.close());
  }

  /** Another process begins. */
  async restart(): Promise<void> {
    await this.workbench.close();
    this.workbench = this.#open();
  }

  /** How reading and loading a commit ends: the number of resources, or codes of what is wrong. */
  async ends(root: string, commit = 'HEAD'): Promise<string> {
    try {
      const place = placeOf(root, commit);
      const { contents } = await this.workbench.commit(place, `main@sha1:${place.commit}`);
      const { desired, problems } = await contents.load(CONTEXT);
      return problems.length > 0 ? [...new Set(problems.map(({ code }) => code))].join() : `${desired.size} resources`;
    } catch (error) {
      return (error as { readonly code?: string }).code ?? String(error);
    }
  }

  #open(): ThreadWorkbench {
    const openThread: OpenThread = async (limits) => {
      this.threads += 1;
      const thread = await openRealThread(limits);
      return { ...thread, send: (message) => void this.delivered(message).then(() => thread.send(message)) };
    };
    const ledger = openMemoryLedger(this.store);
    const clock = this.#clock;
    const limits = (): SourceLimits => this.limits;
    const writable = (): Ledger | undefined => (this.isLeader ? ledger : undefined);
    const parts = { ledger, writable, clock, source: 'default', actor: 'test' };
    const unreadable = new Unreadable({ ...parts, version: this.version });
    return new ThreadWorkbench({ openThread, clock, limits, unreadable, failure: sourceFailure(limits) });
  }
}

export function placeOf(root: string, commit = 'HEAD'): CommitPlace {
  return {
    root,
    identity: root,
    commit: git(root, 'rev-parse', commit),
    paths: [{ named: root, within: '' }],
    exclude: [],
  };
}

/** Manifests of so many applications, a file each. */
export function applications(count: number, team = 't'): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `a/${at}.yaml`,
      `apiVersion: portolan/v1\nkind: Application\nmetadata: { name: app-${at}, labels: { toString: x } }\nspec: { team: ${team}, region: r, appId: ${at + 1} }\n`,
    ]),
  );
}
