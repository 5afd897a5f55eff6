import type { Intent, OwnedObject } from '../../../src/model/owned.ts';
import type { Action } from '../../../src/model/plan.ts';
import type { LedgerOperation } from '../../../src/ledger/ledger.ts';
import { SHARE_FROM_OBJECTS } from '../../../src/plan/guard.ts';
import type { Violate } from '../books.ts';
import { type AppName, appNames, closedBy, namedBy, namedIn, sizeOf } from './estate.ts';
import { type Commit, descendsFrom } from './git.ts';
import { isLoss, Losses } from './losses.ts';
import { type DriverSettings, isClosedAt } from './settings.ts';
import { Suspensions } from './suspensions.ts';

/** What a write rests on, where a server lists it: read for its application by itself. */
export function listingFor({ object }: Action): string | undefined {
  if (object.startsWith('rule/')) return 'listRules';
  return object.startsWith('install/') ? 'listInstalled' : undefined;
}

/** One look of a process at one application. */
export interface Pass {
  readonly application: AppName;
  /** Among those of its process, from 1. */
  readonly number: number;
  readonly beganMs: number;
  /** What the revision had spent that was accepted then. */
  readonly spent: Spent;
  /** Operations by which it has read its application by itself. */
  readonly hasRead: Set<string>;
}

/** A write, and what was promised to the ledger before it. */
export interface Write {
  readonly intent: Intent;
  readonly action: Action;
}

/** What may be asked of whoever sends, at the time of the intent. */
export interface Authority {
  readonly number: number;
  readonly pass: Pass;
  /** Settings that may have been in force at any time of the pass, oldest first. */
  readonly settings: readonly DriverSettings[];
  /** Since when it is told nothing, or what it cannot take; undefined: what it was told stands. */
  readonly unreadableSinceMs: number | undefined;
  /** What it takes the source to say. */
  readonly commit: Commit | undefined;
  /**
   * When a revision moved the application away: it may not know what was decided since where the application is now. undefined: the
   * application is still here.
   */
  readonly movedMs?: number | undefined;
  /** Returns how much time since then, until the intent, some process could see what is missing; by default all of it. */
  readonly watchedMs?: (fromMs: number) => number;
  /** The digest of the plan that the ledger holds as approved. */
  readonly approved?: string | undefined;
}

/** What a person let through: one plan, once. */
interface Approval {
  readonly application: AppName;
  readonly digest: string;
  readonly actions: ReadonlyMap<string, Action>;
  usedBy: string | undefined;
  /** When the person was told that it counts. */
  confirmedMs?: number;
  /** Something was sent for it. */
  isSpent?: boolean;
}

/** How much one revision has changed and removed without a person's word. */
interface Spent {
  readonly snapshot: string;
  readonly owned: number;
  readonly changed: Set<string>;
  readonly removed: Set<string>;
}

/** Below this share of what it named, a source removes nothing by itself. */
const SHRUNK_SHARE = 0.5;

/**
 * What may be removed and changed by itself, worked out from what the source said, what persons did, and what was sent:
 * never from a plan, a policy or an account of production.
 */
export class Permissions {
  /** What was accepted reaches every process within this time. */
  readonly #lagMs: number;
  readonly #clockError: number;
  readonly #violate: Violate;
  readonly #goneMs = new Map<AppName, Map<string, number>>();
  readonly #namedAgainMs = new Map<AppName, Map<string, number>>();
  suspensions = new Suspensions();
  readonly #approvals: Approval[] = [];
  readonly #commits = new Map<string, Commit>();
  #accepted: { readonly commit: Commit; readonly mayPrune: boolean; readonly isShrunk: boolean } | undefined;
  #largest = 0;
  #spent: Spent = { snapshot: '', owned: 0, changed: new Set(), removed: new Set() };
  #losses = new Losses();
  /** Which revision each intent was opened for. */
  readonly #spentBy = new Map<string, Spent>();

  /** @param clockError how much faster than time the clocks of processes may run. */
  constructor(violate: Violate, lagMs = 0, clockError = 0) {
    this.#violate = violate;
    this.#lagMs = lagMs;
    this.#clockError = clockError;
  }

  /** A process was told this, and can take it. */
  told(commit: Commit, nowMs: number): void {
    this.#commits.set(commit.id, commit);
    for (const name of appNames) {
      const named = namedBy(commit.content, name);
      const gone = childOf(this.#goneMs, name);
      const again = childOf(this.#namedAgainMs, name);
      for (const key of named) {
        if (gone.delete(key) || !again.has(key)) again.set(key, nowMs);
      }
      for (const key of [...again.keys(), ...closedBy(commit.content, name)])
        if (!named.has(key) && !gone.has(key)) gone.set(key, nowMs);
    }
  }

  /**
   * The ledger was told which snapshot is worked towards.
   * @param isAgreed by a command that removes things too, after its guards had nothing against it.
   * @param allowsRewind by a command that confirms a rewind.
   */
  committed(
    operations: readonly LedgerOperation[],
    objects: ReadonlyMap<string, OwnedObject>,
    { isAgreed, allowsRewind }: { readonly isAgreed: boolean; readonly allowsRewind: boolean },
  ): void {
    this.#settle(objects);
    for (const operation of operations) {
      if (operation.op === 'open-intent') this.#spentBy.set(operation.intent.id, this.#spent);
      if (operation.op !== 'accept-snapshot') continue;
      const { commit: commitId, id } = operation.snapshot;
      const commit = this.#commits.get(commitId);
      if (commit === undefined) {
        this.#violate('I-SOURCE', `snapshot ${id} of commit ${commitId} was accepted, which nobody was told of`);
        continue;
      }
      const mayPrune = allowsRewind || this.follows(commit);
      const size = sizeOf(commit.content);
      const isShrunk = !isAgreed && this.isShrunk(commit);
      this.#largest = Math.max(this.#largest, size);
      this.#accepted = { commit, mayPrune, isShrunk };
      if (this.#spent.snapshot !== id)
        this.#spent = { snapshot: id, owned: objects.size, changed: new Set(), removed: new Set() };
    }
  }

  /** What it lost was removed, or a person let that through: it is measured by what is left. */
  #settle(objects: ReadonlyMap<string, OwnedObject>): void {
    const content = this.#accepted?.commit.content;
    if (content === undefined) return;
    const isWaiting = ({ scope, kind, resource, state }: OwnedObject): boolean => {
      const name = namedIn(content, scope);
      const app = name && content.apps.get(name);
      if (app === undefined || kind !== 'HttpGatewayRule' || state === 'gone') return false;
      const isApproved = this.#approvals.some(
        ({ application, usedBy }) => application === name && usedBy !== undefined,
      );
      return !isApproved && !app.rules.has(resource.slice(`HttpGatewayRule/${name}-`.length));
    };
    if ([...objects.values()].some(isWaiting)) return;
    this.#largest = Math.min(this.#largest, sizeOf(content));
    // The same snapshot, taken in again, is measured by that.
    if (this.#accepted !== undefined) this.#accepted = { ...this.#accepted, isShrunk: false };
  }

  /** Whether it has lost so much that nothing may be removed for it without a word. */
  isShrunk({ content }: Commit): boolean {
    return this.#largest >= SHARE_FROM_OBJECTS && sizeOf(content) < this.#largest * SHRUNK_SHARE;
  }

  /** Whether it comes after all that was accepted, and nothing of that was ever rewound. */
  follows(commit: Commit): boolean {
    const before = this.#accepted;
    return before === undefined || (before.mayPrune && descendsFrom(commit, before.commit.id));
  }

  /** The same for another world. */
  copyFor(violate: Violate): Permissions {
    const copy = new Permissions(violate, this.#lagMs, this.#clockError);
    for (const [name, times] of this.#goneMs) copy.#goneMs.set(name, new Map(times));
    for (const [name, times] of this.#namedAgainMs) copy.#namedAgainMs.set(name, new Map(times));
    copy.suspensions = this.suspensions.copy();
    for (const approval of this.#approvals) copy.#approvals.push({ ...approval });
    for (const [id, commit] of this.#commits) copy.#commits.set(id, commit);
    copy.#accepted = this.#accepted;
    copy.#largest = this.#largest;
    const copies = new Map<Spent, Spent>();
    const copyOf = (spent: Spent): Spent => {
      const { changed, removed } = spent;
      const same = copies.get(spent) ?? { ...spent, changed: new Set(changed), removed: new Set(removed) };
      copies.set(spent, same);
      return same;
    };
    copy.#spent = copyOf(this.#spent);
    for (const [intent, spent] of this.#spentBy) copy.#spentBy.set(intent, copyOf(spent));
    copy.#losses = this.#losses.copy();
    return copy;
  }

  /**
   * All that it knows, with times as they are from now: equal texts forbid and allow the same from now on.
   * @param sender the process that works; what others took up is only used.
   * @param pruneAfterMs the longest that any settings wait before they remove what is gone.
   */
  digest(nowMs: number, sender: number | undefined, pruneAfterMs: number): string {
    const ages = (map: ReadonlyMap<AppName, ReadonlyMap<string, number>>, mostMs: number): unknown =>
      [...map].map(([name, times]) => [
        name,
        [...times].map(([key, atMs]) => [key, Math.min(nowMs - atMs, mostMs)]).sort(),
      ]);
    const user = (usedBy: string | undefined): string | undefined =>
      usedBy === undefined || usedBy.startsWith(`${sender}/`) ? usedBy?.slice(usedBy.indexOf('/')) : 'used';
    const { changed, removed, ...spent } = this.#spent;
    const accepted = this.#accepted && { ...this.#accepted, commit: this.#accepted.commit.id };
    return JSON.stringify([
      ages(this.#goneMs, pruneAfterMs),
      ages(this.#namedAgainMs, 1),
      this.#approvals.map(({ digest, usedBy }) => [digest, user(usedBy)]),
      accepted,
      this.#largest,
      this.#losses.counts(),
      { ...spent, changed: [...changed].sort(), removed: [...removed].sort() },
    ]);
  }

  /** What the revision has spent that is accepted now. */
  get spent(): Spent {
    return this.#spent;
  }

  /** @returns what the person may be told: that it counts, or that it did not work. */
  approved(application: AppName, digest: string, actions: readonly Action[]) {
    const byId = new Map(actions.map((action) => [action.id, action]));
    const approval: Approval = { application, digest, actions: byId, usedBy: undefined };
    this.#approvals.push(approval);
    return {
      confirm: (nowMs: number): void => void (approval.confirmedMs = nowMs),
      takeBack: (): void => void this.#approvals.splice(this.#approvals.indexOf(approval), 1),
    };
  }

  /** A pass has another plan than the one approved, and has said so durably: nobody may take it up any more. */
  ends(application: AppName, digest: string): void {
    const isOver = (one: Approval): boolean =>
      one.application === application && one.digest === digest && one.usedBy === undefined;
    for (const approval of this.#approvals.filter(isOver)) {
      // One that is being stored may count afterwards.
      if (approval.confirmedMs !== undefined) this.#approvals.splice(this.#approvals.indexOf(approval), 1);
    }
  }

  /**
   * A daemon sends.
   * @param atMs when its intent was opened: what was revoked later could not be known.
   * @param wallMs what its wall clock shows now: windows are looked at when the request leaves.
   * @returns whether it is done in the name of a person, and so counts for nothing.
   */
  sends({ action, intent }: Write, authority: Authority, atMs: number, wallMs: number): boolean {
    const { pass, settings, movedMs = Number.POSITIVE_INFINITY } = authority;
    const name = pass.application;
    const suspendedMs = this.suspensions.since(name);
    if (suspendedMs !== undefined && suspendedMs < Math.min(atMs, movedMs))
      this.#violate('I-SUSPENDED', `${action.summary} for ${name}, suspended ${atMs - suspendedMs} ms before`);
    if (settings.every((one) => isClosedAt(one, wallMs)))
      this.#violate('I-WINDOW', `${action.summary} for ${name} outside of its windows`);
    const waiting = this.#approvals.find(
      (one) => one.application === name && one.digest === authority.approved && one.usedBy === undefined,
    );
    if ((waiting?.confirmedMs ?? Number.POSITIVE_INFINITY) < Math.min(pass.beganMs, movedMs))
      this.#violate('I-APPROVAL', `${action.summary} for ${name}, whose approval of another plan waits for its return`);
    const approval = this.#approvals.find(({ usedBy }) => usedBy === userOf(authority));
    if (approval !== undefined) {
      const isOfIt = approval.actions.get(action.id)?.object === action.object;
      if (isOfIt) {
        approval.isSpent = true;
        return true;
      }
      if (action.prune)
        this.#violate('I-APPROVAL', `${action.summary} for ${name}, which is not in the plan that was approved`);
    }
    const reasons = [
      ...(action.prune ? this.#againstRemoval(action, authority, atMs) : []),
      ...this.#overAllowances(action, authority, intent),
      ...(this.#isLoss(action, name) ? this.#losses.over(intent, settings) : []),
    ];
    if (reasons.length > 0) this.#violate('I-PERMIT', `${action.summary} for ${name}: ${reasons.join('; ')}`);
    return false;
  }

  /** A pass takes up an approval, and has said so durably. */
  takesUp(digest: string, authority: Pick<Authority, 'number' | 'pass'>): void {
    const { application } = authority.pass;
    const given = this.#approvals.filter((one) => one.application === application && one.digest === digest);
    const unused = given.find(({ usedBy }) => usedBy === undefined);
    if (unused !== undefined) unused.usedBy = userOf(authority);
    else
      this.#violate(
        'I-APPROVAL',
        `${application} takes up ${digest.slice(0, 12)}, approved ${given.length} times and used as often`,
      );
  }

  /** A save that was under way when the person decided did not know the approval yet: nothing was taken up. */
  putsBack(application: AppName, digest: string): void {
    const taken = this.#approvals.findLast((one) => one.application === application && one.digest === digest);
    if (taken?.isSpent !== true && taken !== undefined) taken.usedBy = undefined;
  }

  /** It acted on the platform: its places are taken, of the revision that it was sent for. */
  acted({ action, intent }: Write, name: AppName): void {
    if (this.#isLoss(action, name)) this.#losses.add(intent);
    const { changed, removed } = this.#spentBy.get(intent.id) ?? this.#spent;
    for (const key of keysOf(action)) {
      if (countsAsChange(action)) changed.add(`${name} ${key}`);
      if (action.prune) removed.add(`${name} ${key}`);
    }
  }

  #againstRemoval(action: Action, authority: Authority, atMs: number): string[] {
    const { pass, settings, unreadableSinceMs, commit } = authority;
    const reasons: string[] = [];
    if (!settings.some(({ spec }) => spec.prune.enabled)) reasons.push('nothing is to be removed');
    if (pass.number < 2) reasons.push('it is the first pass of its process');
    if (unreadableSinceMs !== undefined && unreadableSinceMs < atMs)
      reasons.push(`the source has not been readable for ${atMs - unreadableSinceMs} ms`);
    const goneMs = this.#goneMs.get(pass.application)?.get(action.object);
    const againMs = this.#namedAgainMs.get(pass.application)?.get(action.object) ?? 0;
    const needsMs = Math.min(...settings.map(({ pruneAfterMs }) => pruneAfterMs)) / (1 + this.#clockError);
    if (goneMs === undefined && againMs < atMs - this.#lagMs) reasons.push('the source names it');
    const goneForMs = goneMs === undefined ? needsMs : (authority.watchedMs?.(goneMs) ?? atMs - goneMs);
    if (goneForMs < needsMs)
      reasons.push(`somebody could see for ${goneForMs} ms that it is gone, not for ${needsMs} ms`);
    const accepted = this.#accepted;
    if (accepted?.commit === commit) {
      if (accepted?.mayPrune === false) reasons.push('the source was rewound');
      if (accepted?.isShrunk === true) reasons.push('the source has lost most of what it named');
    }
    return reasons;
  }

  #isLoss(action: Action, name: AppName): boolean {
    const content = this.#accepted?.commit.content;
    return content !== undefined && isLoss(action, name, content, [...this.#commits.values()]);
  }

  /**
   * A pass counts for the revision under which it began, even if the next one is accepted before it sends. Just while that
   * is accepted, which of the two it is cannot be seen from outside.
   */
  #overAllowances(action: Action, authority: Authority, { id }: Intent): string[] {
    let first: string[] | undefined;
    for (const spent of new Set([authority.pass.spent, this.#spentBy.get(id) ?? this.#spent])) {
      const reasons = this.#overAllowance(action, authority, spent);
      if (reasons.length === 0) {
        this.#spentBy.set(id, spent);
        return [];
      }
      first ??= reasons;
    }
    return first ?? [];
  }

  #overAllowance(action: Action, { settings, pass }: Authority, { owned, changed, removed }: Spent): string[] {
    const reasons: string[] = [];
    const more = (set: ReadonlySet<string>): number =>
      new Set([...set, ...keysOf(action).map((key) => `${pass.application} ${key}`)]).size;
    const maxObjects = Math.max(...settings.map(({ spec }) => spec.prune.maxObjects));
    const maxShare = Math.max(...settings.map((one) => one.maxShare));
    if (action.prune && more(removed) > maxObjects)
      reasons.push(`${more(removed)} removals for one revision, of ${maxObjects}`);
    if (countsAsChange(action) && owned > 0 && Math.min(1, more(changed) / owned) > maxShare)
      reasons.push(`${more(changed)} of ${owned} objects changed for one revision, of a share of ${maxShare}`);
    return reasons;
  }
}

function userOf({ number, pass }: Pick<Authority, 'number' | 'pass'>): string {
  return `${number}/${pass.application}/${pass.number}`;
}

function keysOf({ object, takesAlong = [] }: Action): string[] {
  return [object, ...takesAlong];
}

/** Creations never count, nor does what is changed for the first time, puts right what others did, or what we owe. */
function countsAsChange({ verb, cause }: Action): boolean {
  return verb !== 'create' && (cause === 'git' || cause === 'git+drift' || cause === 'prune');
}

function childOf<K, V>(map: Map<K, Map<string, V>>, key: K): Map<string, V> {
  let child = map.get(key);
  if (child === undefined) map.set(key, (child = new Map()));
  return child;
}
