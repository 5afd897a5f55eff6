import type { Standing } from '../../src/controller/api.ts';
import type { CommitRecord } from '../../src/controller/commits.ts';
import { type Kept, nothingKept } from '../../src/controller/ledger-records.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import type { ApplicationStatus } from '../../src/model/status.ts';
import type { FoundCommit } from '../../src/source/feed.ts';
import { HandMadeDecisions } from './decisions.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

/** A commit that was read. */
export const COMMIT: CommitRecord = {
  revision: `main@sha1:${'c0ffee'.padEnd(40, '0')}`,
  id: 'c0ffee'.padEnd(40, '0'),
  author: 'Ann <ann@example.com>',
  subject: 'Open port 80',
  committedMs: NOW,
  observedMs: NOW,
  acceptedMs: NOW,
  error: null,
  problems: [],
  changed: 2,
  removed: 0,
};

/** The part of a hand-made controller that lists applications and commits. */
export class HandMadeFleet extends HandMadeDecisions {
  list: ApplicationStatus[] = [];
  /** What the ledger has of an application besides its status. */
  readonly kept = new Map<ResourceId, Kept>();
  records: readonly CommitRecord[] = [COMMIT];
  /** The commits that git has, by the prefix that is asked for. */
  readonly older = new Map<string, FoundCommit>();

  standings(): readonly Standing[] {
    return this.list.map((status) => ({ id: status.id, status, kept: this.kept.get(status.id) ?? nothingKept }));
  }

  commits(): readonly CommitRecord[] {
    return this.records;
  }

  async findCommit(prefix: string): Promise<FoundCommit> {
    return this.older.get(prefix) ?? { found: 'none' };
  }
}
