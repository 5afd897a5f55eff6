import type { DriverScript } from './perturbations.ts';

/** Production with one thing wrong in it: one piece of a file is another. */
export interface DriverMutant {
  readonly name: string;
  /** From `src`. */
  readonly file: string;
  /** Is there exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Invariants that may kill it, and a seed that does. */
  readonly rightly: readonly string[];
  readonly seed: number;
  /** What befalls that seed in place of what it would draw. */
  readonly script?: DriverScript;
}

export const driverMutants: readonly DriverMutant[] = [
  {
    name: 'refusals are cleared',
    file: 'controller/account.ts',
    find: "return guardToll({ ...toll, ...news }, { of: 'this revision of the source', owned, spent }, limits);",
    replace: 'return [];',
    rightly: ['I-PERMIT'],
    seed: 15,
  },
  {
    name: 'an approval is used twice',
    file: 'controller/daemon-policy.ts',
    find: 'if (record.kept.approved?.digest === this.#digest) record.kept = { ...record.kept, approved: null };',
    replace: '',
    rightly: ['I-APPROVAL', 'I-PERMIT'],
    seed: 12,
  },
  {
    name: 'age is measured from the wrong moment',
    file: 'controller/daemon-policy.ts',
    find: 'return remainingMs(this.#record, object, this.#pruneAfterMs);',
    replace: 'return remainingMs(this.#record, object, this.#pruneAfterMs) - 240_000;',
    rightly: ['I-PERMIT'],
    seed: 15,
  },
  {
    name: 'a shared listing is trusted for a write',
    file: 'reconcile/observation.ts',
    find: 'if (checked !== undefined && (await isInSync(checked, world))) return bound(checked, world, options, binding);',
    replace: 'if (checked !== undefined) return bound(checked, world, options, binding);',
    rightly: ['I-SHARED'],
    seed: 1,
  },
  {
    name: 'the queue loses what is added while it runs',
    file: 'controller/queue.ts',
    find: 'else run.next = fresh;',
    replace: '',
    rightly: ['L-DUE'],
    seed: 1,
  },
  {
    name: 'an application in sync is not looked at again',
    file: 'controller/worker.ts',
    find: 'queue.addAfter(id, untilResyncMs(core, record), RESYNC);',
    replace: "if (next.type === 'at') queue.addAfter(id, untilResyncMs(core, record), RESYNC);",
    rightly: ['L-DUE'],
    seed: 1,
  },
  {
    name: 'a gate opens early',
    file: 'plan/windows.ts',
    find: 'return endMs !== undefined && nowMs < endMs ? endMs : undefined;',
    replace: 'return endMs !== undefined && nowMs < endMs - 180_000 ? endMs : undefined;',
    rightly: ['I-WINDOW'],
    seed: 40,
  },
  {
    name: 'a suspension is not looked at',
    file: 'controller/gates.ts',
    find: "if (kept.suspended !== null) return { type: 'suspended', ...kept.suspended };",
    replace: '',
    rightly: ['I-SUSPENDED'],
    seed: 4,
  },
  {
    name: 'a reload keeps the old limits',
    file: 'controller/controller.ts',
    find: 'this.#core.configuration = configuration;',
    replace:
      'this.#core.configuration = { ...configuration, settings: { ...configuration.settings, prune: this.#core.configuration.settings.prune } };',
    rightly: ['I-PERMIT', 'L-CONV'],
    seed: 3,
  },
  {
    name: 'a drain sends more requests',
    file: 'reconcile/apply/apply-plan.ts',
    find: 'return asked === undefined ? withheld() : { type: asked };',
    replace: 'return withheld();',
    rightly: ['I-DRAIN'],
    seed: 38,
  },
  {
    name: 'an older snapshot is accepted after a newer one',
    file: 'controller/intake.ts',
    find: 'this.#last = state;',
    replace: 'this.#last ??= state;',
    rightly: ['I-SOURCE', 'I-PERMIT', 'L-CONV'],
    seed: 1,
  },
  {
    name: 'a source that was rewound removes things',
    file: 'plan/guard.ts',
    find: "return descent === 'descends' && isConfirmed;",
    replace: "return descent !== 'unknown' || isConfirmed;",
    rightly: ['I-PERMIT'],
    seed: 12,
  },
  {
    name: 'a reservation is not settled after a crash',
    file: 'controller/daemon-policy.ts',
    find: 'refusals.length > 0 ? refusals : await this.#saveShare(reserved);',
    replace: 'refusals;',
    rightly: ['I-PERMIT'],
    seed: 81,
    // Several applications have something to remove, and the process dies right after the first removal.
    script: [
      [3, { type: 'git', edit: 'removeRule', a: 10430 }],
      [4, { type: 'git', edit: 'removeRule', a: 18349 }],
      [5, { type: 'git', edit: 'removeRule', a: 26268 }],
      [6, { type: 'git', edit: 'removeRule', a: 34187 }],
      [7, { type: 'git', edit: 'removeRule', a: 42106 }],
      [79, { type: 'crash', when: 'after', downMs: 0, a: 1 }],
    ],
  },
  {
    name: 'an install in doubt does not wait for its settle window',
    file: 'reconcile/resolution/settle-window.ts',
    find: '      return timing.settleInstallMs;',
    replace: '      return 0;',
    rightly: ['I-ONCE', 'I-SETTLE'],
    seed: 88,
    // Its answer is lost, and it acts minutes later.
    script: [[45, { type: 'write', fault: 'reset-late', a: 1 }]],
  },
  {
    name: 'a restart fills the allowance again',
    file: 'controller/following.ts',
    find: 'spent?.snapshot === snapshot ? spent : {',
    replace: '{',
    rightly: ['I-PERMIT'],
    seed: 706,
  },
  {
    name: 'a pause withholds nothing of what is under way',
    file: 'controller/daemon-policy.ts',
    find: "return pause === null ? undefined : { type: 'paused', by: pauseMessage(pause) };",
    replace: 'return pause === null ? undefined : undefined;',
    rightly: ['I-WINDOW', 'I-SUSPENDED'],
    seed: 33,
  },
  {
    name: 'a source is measured by what was accepted last',
    file: 'source/snapshot.ts',
    find: 'Math.max(size, await largestSize({ ledger, source }))',
    replace: 'size',
    rightly: ['I-PERMIT'],
    seed: 25,
  },
  {
    name: 'an approval lets any plan through',
    file: 'controller/daemon-policy.ts',
    find: 'this.#digest = planDigest([seen.plan]);',
    replace: 'this.#digest = this.#approval?.digest ?? planDigest([seen.plan]);',
    rightly: ['I-APPROVAL'],
    seed: 66,
    // Approved while it is suspended; git has removed more by the time it is resumed.
    script: [
      [3, { type: 'git', edit: 'removeRule', a: 697114611 }],
      [4, { type: 'git', edit: 'removeRule', a: 588501644 }],
      [5, { type: 'git', edit: 'removeRule', a: 215172635 }],
      [6, { type: 'git', edit: 'removeRule', a: 708915161 }],
      [34, { type: 'human', act: 'suspend', a: 535625890 }],
      [35, { type: 'human', act: 'suspend', a: 715148448 }],
      [36, { type: 'human', act: 'approve', a: 692214101 }],
      [37, { type: 'human', act: 'approve', a: 685104668 }],
      [39, { type: 'human', act: 'approve', a: 661790076 }],
      [40, { type: 'human', act: 'approve', a: 988840786 }],
      [42, { type: 'git', edit: 'removeRule', a: 624297330 }],
      [43, { type: 'git', edit: 'removeRule', a: 962560855 }],
      [44, { type: 'git', edit: 'removeRule', a: 654459426 }],
      [45, { type: 'git', edit: 'removeRule', a: 519638538 }],
      [51, { type: 'human', act: 'resume', a: 281390574 }],
      [53, { type: 'human', act: 'resume', a: 218821398 }],
      [54, { type: 'human', act: 'resume', a: 904396883 }],
      [56, { type: 'human', act: 'resume', a: 129120542 }],
      [57, { type: 'human', act: 'resume', a: 826864733 }],
      [58, { type: 'human', act: 'resume', a: 229916421 }],
    ],
  },
  {
    name: 'an approval stays although its plan has changed',
    file: 'controller/daemon-policy.ts',
    find: 'if (this.#isApproved === false && this.#approval !== null) await this.#endApproval(this.#approval);',
    replace: '',
    rightly: ['I-APPROVAL', 'I-PERMIT'],
    seed: 1030,
  },
  {
    name: 'something is removed while the source cannot be read',
    file: 'controller/daemon-policy.ts',
    find: 'return intake.isCurrent && this.#record.snapshot === intake.accepted?.snapshot;',
    replace: 'return this.#record.snapshot === intake.accepted?.snapshot;',
    rightly: ['I-PERMIT'],
    seed: 118,
    // Old enough while it is suspended; nobody can read the source by the time it is resumed.
    script: [
      [3, { type: 'git', edit: 'removeRule', a: 600678825 }],
      [4, { type: 'git', edit: 'removeRule', a: 215414440 }],
      [5, { type: 'git', edit: 'removeRule', a: 268748500 }],
      [6, { type: 'git', edit: 'removeRule', a: 325753259 }],
      [35, { type: 'human', act: 'suspend', a: 876182745 }],
      [36, { type: 'human', act: 'suspend', a: 625268439 }],
      [78, { type: 'git', edit: 'break', a: 172382947 }],
      [83, { type: 'human', act: 'resume', a: 876845550 }],
      [85, { type: 'human', act: 'resume', a: 986821517 }],
      [86, { type: 'human', act: 'resume', a: 554548814 }],
      [88, { type: 'human', act: 'resume', a: 283805860 }],
      [89, { type: 'human', act: 'resume', a: 840441320 }],
      [91, { type: 'human', act: 'resume', a: 192438582 }],
    ],
  },
  {
    name: 'the time without a process counts',
    file: 'controller/following.ts',
    find: 'watchedMs: undefined,',
    replace: 'watchedMs: -60_000,',
    rightly: ['I-PERMIT'],
    seed: 15,
  },
];
