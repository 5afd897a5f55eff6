import { expect, onTestFinished, test } from 'vitest';
import { application, Group, type Replica } from './hand-led.ts';
import { both, EAST, twoLeaders, WEST } from './two-leaders.ts';

const inSync = (group: Group, ...replicas: readonly Replica[]) =>
  group.until(
    () => replicas.every((one) => ([EAST, WEST] as const).every((id) => one.ready(id) === 'True InSync')),
    'both applications are in sync, as each replica shows',
  );

test('a commit is accepted once, each leader applies it to its platform, and both show both', async () => {
  const { group, one, two } = await twoLeaders();
  const first = await group.commit(both('www.example.com'));
  await inSync(group, one, two);
  expect([one.accepted(), two.accepted()]).toEqual([first, first]);
  expect(group.domains('east')).toEqual(['www.example.com']);
  expect(new Set(group.writes.map(({ by, platform }) => `${by} ${platform}`))).toEqual(
    new Set(['one east', 'two west']),
  );
  const second = await group.commit(both('www.example.com', 'new.example.com'));
  await group.until(() => two.accepted() === second, 'the other replica follows');
  await group.until(() => group.domains('west').length === 2, 'it applies the commit');
  await group.until(() => two.ready(EAST) === 'True InSync' && one.ready(WEST) === 'True InSync', 'both show both');
  // Only the leader parses what it reads from git, and only it reports.
  expect(two.loads).toBe(0);
  await group.until(() => two.eventsOf('source.accepted').length === 2, 'its events arrive');
  expect(two.eventsOf('source.observed')).toHaveLength(2);
  const { location: _, ...source } = one.controller.api.status().source;
  await group.until(() => two.controller.api.status().source.observedRevision === second, 'the standing arrives');
  expect(two.controller.api.status().source).toMatchObject(source);
  await group.until(() => two.controller.api.commits().length === 2, 'the commits arrive');
  expect(two.controller.api.commits()).toEqual(one.controller.api.commits());
  expect(one.controller.api.commits()[0]).toMatchObject({ revision: second, changed: 2, removed: 0 });
});

test('passes of a platform count only where they run', async () => {
  const { group, one, two } = await twoLeaders();
  await group.commit(both('www.example.com'));
  await inSync(group, one, two);
  expect(new Set(one.milestones.map((line) => line.split(' ')[0]))).toEqual(new Set([EAST]));
  expect(new Set(two.milestones.map((line) => line.split(' ')[0]))).toEqual(new Set([WEST]));
  const applied = (replica: Replica): readonly unknown[] =>
    replica.eventsOf('apply.finished').map(({ application: id }) => id);
  await group.until(() => applied(one).length === 2 && applied(two).length === 2, 'each event arrives once everywhere');
  expect(new Set(applied(one))).toEqual(new Set([EAST, WEST]));
});

test('a replica whose git does not answer follows all the same', async () => {
  const { group, one, two } = await twoLeaders();
  const revision = await group.commit(both('www.example.com'), [one]);
  await inSync(group, one, two);
  expect(two.accepted()).toBe(revision);
  expect(two.controller.api.status().source.error).toBeNull();
});

test('a new leader whose git is older reads it first, and never goes back', async () => {
  const { group, one, two } = await twoLeaders();
  const old = both('www.example.com');
  await group.commit(old);
  const newest = await group.commit(both('www.example.com', 'new.example.com'), [one]);
  await inSync(group, one, two);
  await group.until(() => two.accepted() === newest, 'the other replica follows');
  await one.leadership.release('source:default');
  const before = group.database.store.facts.get('files default');
  // Nothing confirms yet what this replica has read.
  two.feed.confirm = () => void (two.feed.confirmations += 1);
  await two.leadership.take('source:default');
  expect(two.feed.confirmations).toBe(1);
  await group.tell(1, old, []);
  await group.pass(60_000);
  expect([two.accepted(), group.database.store.facts.get('files default')]).toEqual([newest, before]);
  await group.tell(2, both('www.example.com', 'new.example.com'), [two]);
  const third = await group.commit(both('third.example.com', 'www.example.com', 'new.example.com'));
  await group.until(() => one.accepted() === third && group.domains('east').length === 3, 'the former leader follows');
  expect(two.accepted()).toBe(third);
  await group.until(() => one.eventsOf('source.accepted').length === 3, 'the event arrives');
  expect(one.eventsOf('source.accepted').map(({ severity }) => severity)).toEqual(['info', 'info', 'info']);
});

test('a new leader whose checkout is older waits for its update, and takes it for no rewound branch', async () => {
  const { group, one, two } = await twoLeaders('{ controller: { pruneAfter: 1m } }');
  two.hasCheckout = true;
  const old = both('www.example.com');
  const first = await group.commit(old);
  await inSync(group, one, two);
  const second = await group.commit(both('www.example.com', 'new.example.com'), [one]);
  await group.until(() => two.accepted() === second && group.domains('west').length === 2, 'both leaders apply it');
  await one.leadership.release('source:default');
  await two.leadership.take('source:default');
  await group.until(() => two.controller.api.status().source.error !== null, 'it reports that it waits');
  await group.pass(30 * 60_000);
  const { source } = one.controller.api.status();
  expect(source).toMatchObject({
    acceptedRevision: second,
    observedRevision: second,
    error: { code: 'source/behind', remedy: expect.stringContaining('git pull') },
  });
  expect(source.error?.message).toContain(`Still running ${second}`);
  expect([group.domains('east').length, group.domains('west').length]).toEqual([2, 2]);
  expect([one.ready(EAST), two.ready(WEST)]).toEqual(['True InSync', 'True InSync']);
  expect(two.controller.api.commits().map(({ revision }) => revision)).toEqual([second, first]);
  const problems = two.events.filter(({ severity }) => severity !== 'info');
  expect(problems.map(({ type }) => type)).toEqual(['source.failed']);
  // Drift is corrected all the same.
  group.platforms.west.rules.delete([...group.platforms.west.rules.all()].find(({ type }) => type === 1)?.id ?? '');
  await two.controller.api.sync([WEST], 'a test');
  await group.until(() => group.domains('west').length === 2, 'the rule is there again');
  await group.tell(2, both('www.example.com', 'new.example.com'), [two]);
  await group.until(() => two.controller.api.status().source.error === null, 'it goes on once it is updated');
  await group.until(() => two.eventsOf('source.recovered').length === 1, 'it reports that');
  const third = await group.commit(both('third.example.com', 'www.example.com', 'new.example.com'), [two]);
  await group.until(() => one.accepted() === third && group.domains('east').length === 3, 'the next commit is applied');
  // What it has read itself is no matter of updates: going back from that is a rewound branch.
  await group.tell(2, both('www.example.com', 'new.example.com'), [two]);
  await group.until(() => two.ready(WEST) === 'False ApprovalNeeded', 'the removal waits for an approval');
  const isRewound = (): boolean =>
    JSON.stringify(two.eventsOf('source.accepted').at(-1)).includes('guard/not-descendant');
  await group.until(isRewound, 'it reports a rewound branch');
});

test('a branch that is rewound keeps its removals for a person, on each platform and over a takeover', async () => {
  const { group, one, two } = await twoLeaders('{ controller: { pruneAfter: 1m } }');
  const first = both('www.example.com');
  await group.commit(first);
  await group.commit(both('www.example.com', 'new.example.com'));
  await inSync(group, one, two);
  await group.until(() => group.domains('west').length === 2, 'the second commit is applied');
  await group.tell(1, first, [one, two]);
  await group.until(() => two.ready(WEST) === 'False ApprovalNeeded', 'the removal waits for an approval');
  const event = () => one.eventsOf('source.accepted').at(-1);
  await group.until(() => event()?.severity === 'warning', 'it reports a rewound branch');
  expect(event()).toMatchObject({ detail: { code: 'guard/not-descendant' } });
  await one.leadership.release('source:default');
  await two.leadership.take('source:default');
  await group.tell(1, first, [two]);
  await group.pass(30 * 60_000);
  expect([group.domains('east').length, group.domains('west').length]).toEqual([2, 2]);
  expect(two.ready(WEST)).toBe('False ApprovalNeeded');
});

/** The same with a variable as the domain. */
function filesOf(...domains: readonly string[]): Record<string, string> {
  const quoted = `"${'$'}{DOMAIN}"`;
  const files = Object.entries(both('www.example.com', ...domains));
  return Object.fromEntries(
    files.map(([path, text]) => [path, text.replace('domain: www.example.com', `domain: ${quoted}`)]),
  );
}

test('a replica with another configuration writes nothing by it, and says why', async () => {
  const group = new Group();
  onTestFinished(() => group.close());
  const one = group.open('one', new Map([['DOMAIN', 'www.example.com']]));
  const two = group.open('two', new Map([['DOMAIN', 'other.example.com']]));
  await one.leadership.take('source:default');
  await one.leadership.take('platform:east');
  await two.leadership.take('platform:west');
  await group.commit(filesOf());
  await group.until(() => group.domains('east').length === 1, 'the east is in sync');
  await group.pass(60_000);
  expect(group.domains('west')).toEqual([]);
  expect(two.controller.api.status().source.error).toMatchObject({ code: 'source/not-followed' });
  await two.controller.reload(group.configuration('two', new Map([['DOMAIN', 'www.example.com']])));
  await group.until(() => group.domains('west').length === 1, 'it follows with the same configuration');
  expect(two.controller.api.status().source.error).toBeNull();
  // While it has another meaning here, what was accepted stays in force, until a newer revision is accepted.
  await two.controller.reload(group.configuration('two', new Map([['DOMAIN', 'other.example.com']])));
  await group.pass(60_000);
  expect(group.domains('west')).toEqual(['www.example.com']);
  const third = await group.commit(filesOf('new.example.com'));
  await group.until(() => one.accepted() === third, 'it is accepted');
  const errorOfTwo = (): string => two.controller.api.status().source.error?.message ?? '';
  await group.until(() => errorOfTwo().includes(third), 'the other replica learns of it');
  group.platforms.west.rules.delete([...group.platforms.west.rules.all()].find(({ type }) => type === 1)?.id ?? '');
  group.requests.length = 0;
  for (let turn = 0; turn < 20; turn += 1) await two.controller.api.sync([WEST], 'a test');
  await group.pass(10 * 60_000);
  expect(group.domains('west')).toEqual([]);
  expect(group.requests.filter(({ platform }) => platform === 'west').length).toBeLessThan(50);
  await two.controller.reload(group.configuration('two', new Map([['DOMAIN', 'www.example.com']])));
  await group.until(() => group.domains('west').length === 2, 'it corrects the drift, and applies the commit');
});

test('each replica shows that another one cannot follow, and that it can again', async () => {
  const group = new Group();
  onTestFinished(() => group.close());
  const one = group.open('one', new Map([['DOMAIN', 'www.example.com']]));
  const two = group.open('two', new Map([['DOMAIN', 'other.example.com']]));
  await one.leadership.take('source:default');
  await two.leadership.take('platform:west');
  const revision = await group.commit(filesOf());
  await group.until(() => one.eventsOf('source.not-followed').length === 1, 'it is reported');
  await two.controller.reload(group.configuration('two', new Map([['DOMAIN', 'www.example.com']])));
  await group.until(() => one.eventsOf('source.followed').length === 1, 'it follows');
  const why = 'its meaning is another one here';
  expect(one.events.filter(({ type }) => type.endsWith('followed'))).toMatchObject([
    {
      severity: 'error',
      revision,
      message: `Replica two cannot load ${revision}, which was accepted, so it writes nothing: ${why}`,
      detail: { code: 'source/not-followed', replica: 'two' },
    },
    { severity: 'info', revision, message: 'Replica two follows the accepted commits again' },
  ]);
  expect(two.lines.filter((line) => line.includes('event=source.not-followed code=source/not-followed'))).toHaveLength(
    1,
  );
});

test('what a new leader stores before the former one notices reaches the former one', async () => {
  const { group, one, two } = await twoLeaders();
  await group.commit(both('www.example.com'));
  await inSync(group, one, two);
  // It reads, but its leases are not renewed, and it stores nothing that would be refused.
  one.isLost = (operation) => operation === 'renew' || operation === 'commit';
  await group.pass(30_000);
  expect(await two.leadership.take('source:default')).toBe(true);
  expect(await two.leadership.take('platform:east')).toBe(true);
  const revision = await group.commit(both('www.example.com', 'new.example.com'), [two]);
  await group.until(() => group.domains('east').length === 2, 'the new leader applies it');
  await two.controller.api.suspend(EAST, 'ops', 'a test');
  await group.pass(4_000);
  expect(one.leadership.held('platform:east')).toBeDefined();
  expect(one.accepted(), 'it writes nothing more by the former revision').toBe(revision);
  one.isLost = () => false;
  await group.until(() => one.leadership.held('platform:east') === undefined, 'the former leader notices');
  await group.until(() => one.accepted() === revision, 'it follows');
  const isSuspended = () => one.controller.api.application(EAST)?.pause?.type === 'suspended';
  await group.until(isSuspended, 'it shows what the new leader has decided');
  expect(one.controller.api.status().source.observedRevision).toBe(revision);
  const told = one.eventsOf('source.accepted').filter((event) => event.revision === revision);
  expect(told, 'only the new leader reports it').toHaveLength(1);
});

test('a suspension that is stored while git removes and names the application again stays', async () => {
  const { group, one, two } = await twoLeaders();
  const first = await group.commit(both('www.example.com'));
  await inSync(group, one, two);
  const stored = Promise.withResolvers<void>();
  let isHeld = false;
  one.beforeStatement = async (operation) => {
    if (operation !== 'commit' || isHeld) return;
    isHeld = true;
    await stored.promise;
  };
  const suspended = one.controller.api.suspend(EAST, 'ops', 'a test');
  await group.until(() => isHeld, 'the suspension is being stored');
  await group.commit(application('west', 'www.example.com'), [one]);
  await group.until(() => one.controller.api.application(EAST) === undefined, 'the application is gone');
  const third = await group.commit(both('www.example.com'), [one]);
  await group.until(() => one.accepted() === third && third !== first, 'it is named again');
  await group.until(() => one.controller.api.application(EAST) !== undefined, 'it is there again');
  stored.resolve();
  await suspended;
  const pauseAt = ({ controller }: Replica) => controller.api.application(EAST)?.pause?.type;
  await group.until(() => pauseAt(one) === 'suspended', 'it is paused');
  group.platforms.east.rules.delete([...group.platforms.east.rules.all()].find(({ type }) => type === 1)?.id ?? '');
  await one.controller.api.sync([EAST], 'a test');
  await group.pass(10_000);
  expect(group.domains('east')).toEqual([]);
  await group.until(() => pauseAt(two) === 'suspended', 'the other replica shows it');
});

test('a leader that cannot store what follows from an acceptance sends nothing of the former commit', async () => {
  const { group, one, two } = await twoLeaders();
  await group.commit(both('www.example.com', 'old.example.com'));
  await inSync(group, one, two);
  await group.until(() => group.domains('east').length === 2, 'the first commit is applied');
  let isAccepted = false;
  one.isLost = (operation) => {
    // Events arrive: a sync is refused while none of them has arrived since the last failure.
    const isLost = isAccepted && operation !== 'events';
    isAccepted ||= operation === 'commit';
    return isLost;
  };
  const second = await group.commit(both('www.example.com'), [one]);
  expect(one.accepted()).toBe(second);
  // The former commit would create it again.
  group.platforms.east.rules.delete([...group.platforms.east.rules.all()].find(isOld)?.id ?? '');
  group.writes.length = 0;
  one.isLost = () => false;
  await one.controller.api.sync([EAST], 'a test');
  await group.until(
    () => one.ready(EAST) === 'True InSync' && two.accepted() === second,
    'it follows the second commit',
  );
  await group.pass(60_000);
  expect(group.domains('east')).toEqual(['www.example.com']);
  expect(group.writes.filter(({ platform }) => platform === 'east')).toEqual([]);
});

test('a leader whose acceptance is stored, but not confirmed to it, sends nothing of the former commit', async () => {
  const { group, one, two } = await twoLeaders();
  const first = await group.commit(both('www.example.com', 'old.example.com'));
  await inSync(group, one, two);
  await group.until(() => group.domains('east').length === 2, 'the first commit is applied');
  // Otherwise another write fails, too, and its retry finds what was accepted.
  await group.pass(30_000);
  const acceptedMs = group.clock.now();
  one.isUnanswered = (operation) => operation === 'commit' || operation === 'ask';
  const second = await group.commit(both('www.example.com'), [one]);
  expect(one.accepted()).toBe(first);
  one.isUnanswered = () => false;
  // The former commit would create it again.
  group.platforms.east.rules.delete([...group.platforms.east.rules.all()].find(isOld)?.id ?? '');
  group.writes.length = 0;
  await one.controller.api.sync([EAST], 'a test');
  await group.until(() => one.accepted() === second && two.accepted() === second, 'both follow the second commit');
  await group.until(() => one.ready(EAST) === 'True InSync', 'it is in sync');
  await group.pass(60_000);
  expect(group.domains('east')).toEqual(['www.example.com']);
  expect(group.writes.filter(({ platform }) => platform === 'east')).toEqual([]);
  const told = one.eventsOf('source.accepted').filter(({ revision }) => revision === second);
  expect(told).toHaveLength(1);
  for (const { controller } of [one, two]) expect(controller.api.status().source.acceptedMs).toBe(acceptedMs);
});

test('after its machine was suspended, a replica sends nothing before it has read what was accepted meanwhile', async () => {
  const { group, one, two } = await twoLeaders();
  await group.commit(both('www.example.com', 'old.example.com'));
  await inSync(group, one, two);
  await group.until(() => group.domains('west').length === 2, 'the first commit is applied');
  two.suspendedMs = 20_000;
  two.isLost = (operation) => operation === 'facts';
  const second = await group.commit(both('www.example.com'), [one]);
  // The former commit would create it again.
  group.platforms.west.rules.delete([...group.platforms.west.rules.all()].find(isOld)?.id ?? '');
  group.writes.length = 0;
  await two.controller.api.sync([WEST], 'a test');
  await group.pass(10_000);
  expect(two.leadership.of('platform:west')).toBeDefined();
  two.isLost = () => false;
  await group.until(
    () => two.accepted() === second && two.ready(WEST) === 'True InSync',
    'it follows the second commit',
  );
  await group.pass(60_000);
  expect(group.domains('west')).toEqual(['www.example.com']);
  expect(group.writes.filter(({ platform }) => platform === 'west')).toEqual([]);
});

function isOld({ domain }: { readonly domain: string }): boolean {
  return domain === 'old.example.com';
}

/** Counts how often a replica reads the record of an application from the ledger, in place of its memory. */
function readsOf({ shared }: Replica, id: string): () => number {
  const { reader } = shared;
  let reads = 0;
  const fact = reader.fact.bind(reader);
  Object.assign(reader, {
    fact: (key: string) => {
      if (key.endsWith(` ${id}`)) reads += 1;
      return fact(key);
    },
  });
  return () => reads;
}

test('no replica keeps the records of applications that git has removed, and it reads them if they return', async () => {
  const { group, one, two } = await twoLeaders();
  await group.commit(both('www.example.com'));
  await inSync(group, one, two);
  await group.commit(application('east', 'www.example.com'));
  await group.until(() => two.controller.api.application(WEST) === undefined, 'it is removed');
  // As its leader stores it that has not followed the removal yet.
  const { store, factSerials } = group.database;
  store.serial += 1;
  factSerials.set(`status default ${WEST}`, store.serial);
  const three = group.open('three');
  await group.pass(10_000);
  const reads = [one, three].map((replica) => readsOf(replica, WEST));
  // Its leader stores no new record, which would come together with the commit.
  two.isDatabaseAway = true;
  const revision = await group.commit(both('www.example.com'), [one]);
  await group.until(() => three.accepted() === revision, 'the new process follows');
  expect(reads.map((count) => count() > 0)).toEqual([true, true]);
  expect(three.ready(WEST)).toBe('True InSync');
});

test('a new process takes the records of all applications from one read', async () => {
  const { group, one, two } = await twoLeaders();
  await group.commit(both('www.example.com'));
  await inSync(group, one, two);
  const three = group.open('three');
  const reads = [EAST, WEST].map((id) => readsOf(three, id));
  await group.until(() => three.ready(EAST) === 'True InSync' && three.ready(WEST) === 'True InSync', 'it shows both');
  expect(reads.map((count) => count())).toEqual([0, 0]);
});
