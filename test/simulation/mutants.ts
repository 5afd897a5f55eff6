import type { ApplyWorld, Timing } from '../../src/reconcile/apply/world.ts';
import type { ReconciledKind } from '../../src/kinds/define.ts';
import type { Difference, Resolution } from '../../src/kinds/reconciled.ts';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import type { Ledger, LedgerOperation, LedgerTransaction } from '../../src/ledger/ledger.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import type { RejectionReason, Verdict } from '../../src/platform/verdict.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { ledThrough } from './ledgers.ts';
import { STORE_KEY } from './shop.ts';
import { type Mutant, unchanged } from './mutant.ts';

/** A protocol with one thing wrong in it. The production code is not touched: the world around it lies instead. */
interface Wrong extends Omit<Partial<Mutant>, 'name'> {
  /** What is wrong, in words. */
  readonly what: string;
}

const mutant = ({ what, ...parts }: Wrong): Mutant => ({ ...unchanged, ...parts, name: what });

const timing = (what: string, change: (timing: Timing) => Partial<Timing>): Mutant =>
  mutant({ what, world: (world) => ({ ...world, timing: { ...world.timing, ...change(world.timing) } }) });

/** Another reading of the platform's answers. */
function judging(what: string, judge: (verdict: Verdict) => Verdict): Mutant {
  return mutant({
    what,
    world: (world) => ({
      ...world,
      client: { ...world.client, send: async (write, options) => judge(await world.client.send(write, options)) },
    }),
  });
}

const rejected = ({ answer }: Verdict, reason: RejectionReason = 'precondition'): Verdict => ({
  verdict: 'rejected',
  answer,
  reason,
});
const statusOf = (verdict: Verdict): number => verdict.answer.status ?? 0;
const isUnknown = (verdict: Verdict): boolean => verdict.verdict === 'unknown';

/** Another ledger between the protocol and the real one. */
function keeping(
  what: string,
  commit: (transaction: LedgerTransaction, ledger: Ledger, world: ApplyWorld) => Promise<void>,
): Mutant {
  return mutant({
    what,
    world: (world) => ({
      ...world,
      ledger: ledThrough(
        world.ledger,
        (answer) => answer,
        (transaction) => commit(transaction, world.ledger, world),
      ),
    }),
  });
}

const without =
  (isLeftOut: (operation: LedgerOperation, all: readonly LedgerOperation[]) => boolean) =>
  (transaction: LedgerTransaction, ledger: Ledger): Promise<void> => {
    const operations = transaction.operations.filter((operation) => !isLeftOut(operation, transaction.operations));
    return operations.length === 0 ? Promise.resolve() : ledger.commit({ ...transaction, operations });
  };

const changing =
  (change: (operation: LedgerOperation) => LedgerOperation) =>
  (transaction: LedgerTransaction, ledger: Ledger): Promise<void> =>
    ledger.commit({ ...transaction, operations: transaction.operations.map(change) });

/** Another kind in the registry, while a schedule runs. */
function patching(what: string, name: string, change: (kind: ReconciledKind) => ReconciledKind): Mutant {
  return mutant({
    what,
    patch: () => {
      const registry = reconciledKinds as Map<string, ReconciledKind>;
      const genuine = registry.get(name);
      if (genuine === undefined) throw new Error(`there is no kind ${name}`);
      registry.set(name, change(genuine));
      return () => void registry.set(name, genuine);
    },
  });
}

/** Another way to decide what is in doubt. */
const deciding = (what: string, name: string, decide: (resolution: Resolution) => Resolution): Mutant =>
  patching(what, name, (kind) => ({
    ...kind,
    calls: { ...kind.calls, resolve: async (step, context) => decide(await kind.calls.resolve(step, context)) },
  }));

/** Another difference. */
export const differing = (what: string, name: string, change: (difference: Difference) => Difference): Mutant =>
  patching(what, name, (kind) => ({ ...kind, diff: (context) => change(kind.diff(context)) }));

const clocked = (what: string, change: (clock: Clock) => Clock): Mutant =>
  mutant({ what, world: (world) => ({ ...world, clock: change(world.clock) }) });

/** Every one is unsafe or never comes to rest; the simulator must tell. */
export const mutants: readonly Mutant[] = [
  timing('no settle window at all', () => ({ settleTargetStateMs: 0, settleCreationMs: 0, settleInstallMs: 0 })),
  timing('no settle window after installs', () => ({ settleInstallMs: 0 })),
  timing('half the settle window after installs', ({ settleInstallMs }) => ({ settleInstallMs: settleInstallMs / 2 })),
  timing('no settle window after creations', () => ({ settleCreationMs: 0 })),
  timing('half the settle window after creations', ({ settleCreationMs }) => ({
    settleCreationMs: settleCreationMs / 2,
  })),
  timing('no settle window after target-state writes', () => ({ settleTargetStateMs: 0 })),
  timing('half the settle window after target-state writes', ({ settleTargetStateMs }) => ({
    settleTargetStateMs: settleTargetStateMs / 2,
  })),
  timing('writes leave however late', () => ({ sendWithinMs: 1e9 })),
  judging('a 5xx is taken for a rejection', (verdict) => (statusOf(verdict) >= 500 ? rejected(verdict) : verdict)),
  judging('a failure of the cluster is taken for a rejection', (verdict) =>
    isUnknown(verdict) && verdict.answer.code === 10_411 ? rejected(verdict) : verdict,
  ),
  judging('any 400 is taken for a rejection', (verdict) =>
    isUnknown(verdict) && statusOf(verdict) === 400 ? rejected(verdict) : verdict,
  ),
  judging('any 401 is taken for a rejection', (verdict) =>
    isUnknown(verdict) && statusOf(verdict) === 401 ? rejected(verdict, 'credentials') : verdict,
  ),
  judging('any 404 is taken for a rejection', (verdict) =>
    isUnknown(verdict) && statusOf(verdict) === 404 ? rejected(verdict, 'not-found') : verdict,
  ),
  judging('a lost connection is taken for a rejection', (verdict) =>
    isUnknown(verdict) && statusOf(verdict) === 0 ? rejected(verdict, 'unsent') : verdict,
  ),
  judging('a lost connection is taken for success', (verdict) =>
    isUnknown(verdict) && statusOf(verdict) === 0
      ? { verdict: 'applied', answer: verdict.answer, evidence: { type: 'none' } }
      : verdict,
  ),
  judging('a 2xx without proof is taken for success', (verdict) =>
    isUnknown(verdict) && statusOf(verdict) === 200
      ? { verdict: 'applied', answer: verdict.answer, evidence: { type: 'none' } }
      : verdict,
  ),
  judging('what exists already is taken for ours', (verdict) =>
    verdict.verdict === 'exists' ? { verdict: 'applied', answer: verdict.answer, evidence: { type: 'none' } } : verdict,
  ),
  mutant({
    what: 'a write in doubt is sent again at once',
    world: (world) => ({
      ...world,
      client: {
        ...world.client,
        send: async (write, options) => {
          const verdict = await world.client.send(write, options);
          return isUnknown(verdict) ? world.client.send(write, options) : verdict;
        },
      },
    }),
  }),
  mutant({
    what: 'the intent names another request than the one that is sent',
    world: (world) => ({ ...world, client: { ...world.client, requestHash: () => '0'.repeat(64) } }),
  }),
  judging('an answer that repeats the store’s key is recorded as it is', (verdict) => ({
    ...verdict,
    answer: { ...verdict.answer, message: `no permission for ${STORE_KEY}` },
  })),
  keeping('the request is sent before its intent is durable', async (transaction, ledger, world) => {
    const isIntent = transaction.operations.some((operation) => operation.op === 'open-intent');
    if (!isIntent) return ledger.commit(transaction);
    void world.clock.sleep(1).then(() => ledger.commit(transaction));
  }),
  keeping(
    'no intent is written',
    without((operation) => operation.op === 'open-intent' || operation.op === 'move-intent'),
  ),
  keeping(
    'an intent is never closed',
    without((operation) => operation.op === 'move-intent' && operation.state !== 'unknown'),
  ),
  keeping(
    'the outcome is recorded without its object',
    without(
      (operation, all) =>
        operation.op === 'put-object' && all.some((other) => other.op === 'move-intent' && other.state === 'applied'),
    ),
  ),
  deciding('a port whose addition had no answer counts as somebody else’s', 'Component', (resolution) =>
    resolution.type === 'applied'
      ? { ...resolution, recording: { ...resolution.recording, origin: 'observed' } }
      : resolution,
  ),
  deciding(
    'a rule whose creation had no answer is on record without what git says of its removal',
    'HttpGatewayRule',
    (resolution) => {
      if (resolution.type !== 'applied') return resolution;
      const { prune: _prune, ...remoteAux } = resolution.recording.remoteAux;
      return { ...resolution, recording: { ...resolution.recording, remoteAux } };
    },
  ),
  patching(
    'what a manifest says of its removal is recorded once its rule is as it says, and no earlier',
    'HttpGatewayRule',
    (kind) => ({ ...kind, withRemovalMarks: () => undefined }),
  ),
  keeping(
    'former values are recorded when a change is observed, and no earlier',
    without((operation, all) => operation.op === 'put-object' && all.some(({ op }) => op === 'open-intent')),
  ),
  keeping(
    'what is owed is not written down',
    changing((operation) =>
      operation.op === 'put-object' ? { ...operation, object: { ...operation.object, obligation: null } } : operation,
    ),
  ),
  keeping(
    'failures are not counted',
    changing((operation) =>
      operation.op === 'put-object' ? { ...operation, object: { ...operation.object, failures: 0 } } : operation,
    ),
  ),
  keeping(
    'a write in doubt is recorded as rejected',
    changing((operation) =>
      operation.op === 'move-intent' && operation.state === 'unknown' ? { ...operation, state: 'rejected' } : operation,
    ),
  ),
  mutant({
    what: 'intents that a dead process left open are not looked at',
    world: (world) => ({ ...world, ledger: seeing(world.ledger, (state) => state !== 'open') }),
  }),
  mutant({
    what: 'intents in doubt are not looked at',
    world: (world) => ({ ...world, ledger: seeing(world.ledger, () => false) }),
  }),
  mutant({ what: 'the fence is ignored', ledgers: () => unfenced(true) }),
  mutant({ what: 'opening the ledger raises no epoch', ledgers: () => unfenced(false) }),
  // The reading before each install would save it from the second one: the two guard the same.
  patching('an install not seen once is taken for not done, and sent without a look', 'StoreInstall', (kind) => ({
    ...kind,
    calls: {
      ...kind.calls,
      obstacle: async () => undefined,
      resolve: async (step, context) => {
        const resolution = await kind.calls.resolve(step, context);
        return resolution.type === 'absent-so-far' ? { type: 'rejected', evidence: resolution.evidence } : resolution;
      },
    },
  })),
  deciding('an install that cannot be decided is taken for not done', 'StoreInstall', (resolution) =>
    resolution.type === 'hold' ? { type: 'rejected', evidence: resolution.evidence } : resolution,
  ),
  deciding('an install that cannot be decided is sent once more', 'StoreInstall', (resolution) =>
    resolution.type === 'hold' ? { type: 'superseded', evidence: resolution.evidence } : resolution,
  ),
  deciding('a rule not seen once is taken for not done', 'HttpGatewayRule', (resolution) =>
    resolution.type === 'absent-so-far' ? { type: 'rejected', evidence: resolution.evidence } : resolution,
  ),
  deciding('a rule not seen is taken for done', 'HttpGatewayRule', (resolution) =>
    resolution.type === 'absent-so-far' ? { type: 'hold', code: 'x', evidence: resolution.evidence } : resolution,
  ),
  patching('rules are taken over without a word', 'HttpGatewayRule', (kind) => ({
    ...kind,
    diff: (context) => kind.diff({ ...context, permissions: { ...context.permissions, adopt: () => true } }),
  })),
  patching('installs are taken over without a word', 'StoreInstall', (kind) => ({
    ...kind,
    diff: (context) => kind.diff({ ...context, permissions: { ...context.permissions, adopt: () => true } }),
  })),
  patching('pruning needs no permission', 'HttpGatewayRule', (kind) => ({
    ...kind,
    withdraw: (object, context) =>
      kind.withdraw(object, { ...context, permissions: { ...context.permissions, prune: true } }),
  })),
  patching('rules that were adopted are pruned', 'HttpGatewayRule', (kind) => ({
    ...kind,
    withdraw: (object, context) => kind.withdraw({ ...object, origin: 'created' }, context),
  })),
  patching('ports are pruned without a record of their component', 'Component', (kind) => ({
    ...kind,
    diff: (context) => {
      const { resource, ledgerView, scope, source } = context;
      const { serviceId } = resource.spec as { serviceId?: string };
      if (serviceId === undefined) return kind.diff(context);
      const naturalKey = `component/${serviceId}`;
      const row = { naturalKey, kind: 'Component', resource: resource.id, source, scope, remoteId: serviceId };
      const invented = { ...row, origin: 'observed', state: 'present', remoteAux: {}, lastApplied: {}, failures: 0 };
      return kind.diff({
        ...context,
        ledgerView: { ...ledgerView, objects: [...ledgerView.objects, invented as never] },
      });
    },
  })),
  patching('a rule is let go as soon as its deletion is accepted', 'HttpGatewayRule', (kind) => ({
    ...kind,
    calls: {
      ...kind.calls,
      applied: (step, context) => (step.type === 'delete' ? 'released' : kind.calls.applied(step, context)),
    },
  })),
  differing('the steps of ports come in the wrong order', 'Component', (difference) => ({
    ...difference,
    steps: difference.steps.toReversed().map((step) => ({ ...step, after: [] })),
  })),
  differing('inner access is not opened before outer', 'Component', (difference) => ({
    ...difference,
    steps: difference.steps
      .filter((step) => step.step.type !== 'open_inner')
      .map((step) => ({ ...step, after: step.after.filter((key) => !key.endsWith('open_inner')) })),
  })),
  differing('a change for a moment owes nothing', 'Component', (difference) => ({
    ...difference,
    steps: difference.steps.map(({ obligation: _, ...step }) => step),
  })),
  differing('a rule is deleted to be created again without an obligation', 'HttpGatewayRule', (difference) => ({
    ...difference,
    steps: difference.steps.map(({ obligation: _, ...step }) => step),
  })),
  keeping('the obligation to create a rule again is written after its deletion', (transaction, ledger) =>
    transaction.operations.some(({ op }) => op === 'open-intent')
      ? changing((operation) =>
          operation.op === 'put-object' && operation.object.kind === 'HttpGatewayRule'
            ? { ...operation, object: { ...operation.object, obligation: null } }
            : operation,
        )(transaction, ledger)
      : ledger.commit(transaction),
  ),
  patching('a rule that git names no more is not created again', 'HttpGatewayRule', ({ owed: _, ...kind }) => ({
    ...kind,
    withdraw: (object, context) => kind.withdraw({ ...object, obligation: null }, context),
  })),
  differing('unlisted ports are closed as if a manifest said so', 'Component', (difference) => ({
    ...difference,
    steps: difference.steps.map((step) => ({ ...step, prune: false })),
  })),
  differing('inactive rules of an open port are left as they are', 'Component', (difference) => ({
    ...difference,
    steps: difference.steps.filter(({ key }) => !key.endsWith('activate_rules')),
  })),
  differing('the ledger learns nothing of what is as wished', 'HttpGatewayRule', (difference) => ({
    ...difference,
    inSync: [],
  })),
  clocked('settle windows go by the wall clock', (clock) => ({
    ...clock,
    sinceBoot: () => ({ boot: '', uptimeMs: 0 }),
  })),
  clocked('a restart of the machine goes unnoticed', (clock) => ({
    ...clock,
    sinceBoot: () => ({ boot: 'always', uptimeMs: clock.monotonic() }),
  })),
  clocked('the time of a suspended machine is not counted', (clock) => {
    const { uptimeMs, ...boot } = clock.sinceBoot();
    const fromMs = clock.monotonic();
    return { ...clock, sinceBoot: () => ({ ...boot, uptimeMs: uptimeMs + clock.monotonic() - fromMs }) };
  }),
];

/** Only intents in these states are seen. */
function seeing(ledger: Ledger, isSeen: (state: string) => boolean): Ledger {
  return {
    ...ledger,
    intents: async (filter) => (await ledger.intents(filter)).filter((intent) => isSeen(intent.state)),
  };
}

/** Ledgers over one store that do not notice each other. */
function unfenced(raises: boolean) {
  const store = new MemoryStore('lineage');
  return {
    open: async (): Promise<Ledger> => {
      const ledger = openMemoryLedger(store);
      if (!raises) store.epoch = 1;
      const { epoch } = ledger;
      return ledThrough(
        ledger,
        (answer) => answer,
        async (transaction) => {
          const latest = store.epoch;
          store.epoch = epoch;
          try {
            await ledger.commit(transaction);
          } finally {
            store.epoch = latest;
          }
        },
      );
    },
    close: async () => {},
  };
}
