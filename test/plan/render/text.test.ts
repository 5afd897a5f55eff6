import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resourceId } from '../../../src/model/ids.ts';
import type { Action, Cause, FieldChange, Hold } from '../../../src/model/plan.ts';
import { type PlanDocument, planDocument } from '../../../src/plan/document.ts';
import { plainPaint, renderPlanText } from '../../../src/report/text.ts';
import { actionOf, planOf } from '../plans.ts';

type Facts = Parameters<typeof planDocument>[0];

function documentOf(facts: Partial<Facts> = {}): PlanDocument {
  return planDocument({
    source: 'default',
    revision: null,
    ledger: 'known',
    scopes: [],
    unobserved: [],
    refusals: [],
    notes: [],
    ...facts,
  });
}

const rendered = (facts: Partial<Facts>) => renderPlanText(documentOf(facts)).trimEnd().split('\n');
const outer: FieldChange = { path: 'ports[8080].outer', before: false, after: true, cause: 'git' };
const holdOf = (changes: Partial<Hold> = {}): Hold => ({
  code: 'rule/not-ours',
  resource: resourceId('HttpGatewayRule', 'www'),
  message: 'the rule exists, and this ledger did not make it',
  remedy: 'Run apply --adopt HttpGatewayRule/www.',
  changes: [],
  ...changes,
});
/** Lines about one action, without the application's title, the resource and what follows them. */
const actionLines = (changes: Partial<Action>) =>
  rendered({ scopes: [planOf({ actions: [actionOf(changes)] })] })
    .slice(2, -3)
    .map((line) => line.trimEnd());
const changeLine = (change: Partial<FieldChange>, cause: Cause = 'git') =>
  actionLines({ cause, changes: [{ path: 'weight', cause, ...change }] }).at(1);

test('a plan of everything at once reads from top to bottom', () => {
  const web = resourceId('Component', 'web');
  const www = resourceId('HttpGatewayRule', 'www');
  const document = documentOf({
    revision: 'a1b2c3d',
    scopes: [
      planOf({
        actions: [
          actionOf({ changes: [outer], effects: ['enables 1 rule: a.example.com/', 'and more'] }),
          actionOf({ verb: 'delete', summary: 'delete unlisted port 9090', cause: 'prune', prune: true }),
          actionOf({ resource: www, verb: 'create', summary: 'create rule www.example.com/', cause: 'first-apply' }),
        ],
        deferred: [
          {
            resource: resourceId('HttpGatewayRule', 'db'),
            waitsFor: resourceId('StoreInstall', 'db'),
            desired: {},
            summary: 'after StoreInstall/db, create the rule db.example.com/',
          },
        ],
        holds: [holdOf({ changes: [{ path: 'weight', before: 50, after: 100, cause: 'git' }] })],
        notes: [
          { code: 'reconcile/suspended', resource: web, message: 'Component/api is suspended' },
          { code: 'reconcile/report-only', resource: web, message: 'Component/old differs', changes: [outer] },
        ],
        inSync: [resourceId('Component', 'same')],
        unchangedFields: 7,
      }),
    ],
    unobserved: [
      {
        application: 'Application/far',
        code: 'platform/unreachable',
        disposition: 'unreachable' as const,
        message: 'no answer in 30 s',
        remedy: 'See whether it is up.',
      },
    ],
    refusals: [{ code: 'guard/prunes', message: '12 objects would go', override: '--max-prunes 12' }],
    notes: [
      { code: 'scope/orphaned', message: 'no Application refers to default/b/c/9' },
      { code: 'scope/orphaned', message: 'nor default/b/c/10' },
    ],
  });
  expect(renderPlanText(document)).toBe(
    [
      'Application/shop  default/team-a/region-1/42',
      '  Component/web',
      '    ~ open outer access of port 8080  (changed in git)',
      '        ports[8080].outer: false → true',
      '        also: enables 1 rule: a.example.com/',
      '        also: and more',
      '    - delete unlisted port 9090  (no longer in git)',
      '  HttpGatewayRule/www',
      '    + create rule www.example.com/  (new in git)',
      '  HttpGatewayRule/db',
      '    … after StoreInstall/db, create the rule db.example.com/',
      '  HttpGatewayRule/www',
      '    ! held the rule exists, and this ledger did not make it (rule/not-ours)',
      '        weight: 50 → 100',
      '        → Run apply --adopt HttpGatewayRule/www.',
      '  i Component/api is suspended',
      '  i Component/old differs',
      '        ports[8080].outer: false → true',
      '',
      '! Application/far could not be observed, so nothing is planned for it (platform/unreachable)',
      '    no answer in 30 s',
      '    → See whether it is up.',
      '',
      '! refused by a guard (guard/prunes)',
      '    12 objects would go',
      '    → to allow it: --max-prunes 12',
      '',
      'i no Application refers to default/b/c/9',
      'i nor default/b/c/10',
      '',
      'Plan: 1 to create, 1 to change, 1 to delete, 1 pending, 1 held, refused by a guard, 1 application not observed. 1 resource in sync, 7 unchanged fields not shown.',
      'Revision: a1b2c3d',
      `Digest: ${document.digest}`,
      '',
    ].join('\n'),
  );
});

const calm = planOf({ inSync: [resourceId('Component', 'web'), resourceId('Component', 'api')], unchangedFields: 1 });
const far = { application: 'Application/far', code: 'a/b', disposition: 'retry' as const, message: 'm', remedy: 'r' };

test.for<readonly [string, Partial<Facts>, readonly string[]]>([
  ['with nothing in it', {}, ['No changes. 0 resources in sync, 0 unchanged fields not shown.']],
  ['in sync', { scopes: [calm] }, ['No changes. 2 resources in sync, 1 unchanged field not shown.']],
  [
    'in sync at a revision',
    { scopes: [calm], revision: 'a1b2c3d' },
    ['No changes. 2 resources in sync, 1 unchanged field not shown.', 'Revision: a1b2c3d'],
  ],
  [
    'of which some could not be seen',
    { scopes: [calm], unobserved: [far, far] },
    ['No changes known, 2 applications not observed. 2 resources in sync, 1 unchanged field not shown.'],
  ],
  [
    'that is held',
    { scopes: [planOf({ holds: [holdOf(), holdOf()] })] },
    ['No changes, 2 held. 0 resources in sync, 0 unchanged fields not shown.'],
  ],
  [
    'that is refused',
    { refusals: [{ code: 'guard/empty-source', message: 'm', override: '--allow-empty' }] },
    ['No changes, refused by a guard. 0 resources in sync, 0 unchanged fields not shown.'],
  ],
])('a plan %s ends with its summary, and with no digest', ([, facts, summary]) => {
  expect(rendered(facts).slice(-summary.length)).toEqual(summary);
  expect(rendered(facts).join('\n')).not.toContain('Digest');
});

test.for<readonly [string, Partial<Facts>, string]>([
  ['one change', { scopes: [planOf({ actions: [actionOf()] })] }, 'Plan: 0 to create, 1 to change, 0 to delete.'],
  [
    'only what follows an install',
    {
      scopes: [
        planOf({
          deferred: [
            { resource: 'Component/web', waitsFor: 'StoreInstall/db', desired: {}, summary: 'after StoreInstall/db' },
          ],
        }),
      ],
    },
    'Plan: 0 to create, 0 to change, 0 to delete, 1 pending.',
  ],
  [
    'several applications',
    {
      scopes: [
        planOf({ actions: [actionOf({ verb: 'create' })] }),
        planOf({ actions: [actionOf({ verb: 'delete' })] }),
      ],
    },
    'Plan: 1 to create, 0 to change, 1 to delete.',
  ],
])('the line that people look for counts %s', ([, facts, start]) => {
  const document = documentOf(facts);
  const [counts, digest] = renderPlanText(document).trimEnd().split('\n').slice(-2);
  expect(counts?.startsWith(`${start} `)).toBe(true);
  const total = document.scopes.length > 1 ? '  (total of 2 applications)' : '';
  expect(digest).toBe(`Digest: ${document.digest}${total}`);
  // An approval needs the digest of one application; where there is only one, it is the total.
  for (const scope of total === '' ? [] : document.scopes)
    expect(renderPlanText(document)).toContain(`\n  Digest of ${scope.application}: ${scope.digest}\n`);
});

test.for<readonly [string, Parameters<typeof planOf>[0], boolean]>([
  ['in sync', { inSync: [resourceId('Component', 'web')], unchangedFields: 3 }, false],
  ['with an action', { actions: [actionOf()] }, true],
  ['with a hold', { holds: [holdOf()] }, true],
  ['with a note', { notes: [{ code: 'a/b', message: 'm' }] }, true],
  ['with something to follow', { deferred: [{ resource: 'a/b', waitsFor: 'c/d', desired: {}, summary: 's' }] }, true],
])('an application %s is shown: %j', ([, parts, isShown]) => {
  expect(rendered({ scopes: [planOf(parts)] }).includes('Application/shop  default/team-a/region-1/42')).toBe(isShown);
});

test('without a ledger it says what cannot be known', () => {
  const sentence = 'No ledger: ownership and causes of changes are unknown, so nothing is held because of them.';
  expect(rendered({ ledger: 'none' })).toContain(sentence);
  expect(rendered({ ledger: 'known' })).not.toContain(sentence);
});

test.for<readonly [Cause, string]>([
  ['git', 'changed in git'],
  ['drift', 'drift: changed on the platform'],
  ['git+drift', 'changed in git, and drifted on the platform'],
  ['adopt', 'adopted'],
  ['first-apply', 'new in git'],
  ['prune', 'no longer in git'],
  ['obligation', 'owed by an earlier run'],
  ['unknown', 'no ledger: cause unknown'],
])('the cause %s is said as "%s"', ([cause, words]) => {
  expect(actionLines({ cause })).toEqual([`    ~ open outer access of port 8080  (${words})`]);
});

test.for<readonly [Partial<FieldChange>, Cause, string | undefined]>([
  [{ before: 1, after: 2 }, 'git', 'weight: 1 → 2'],
  [{ after: 'x' }, 'git', 'weight: "x"'],
  [{ before: 'x' }, 'git', 'weight: "x" → (removed)'],
  [{}, 'git', 'weight: (unset)'],
  [{ before: null, after: { a: [1] } }, 'git', 'weight: null → {"a":[1]}'],
  // What was applied is of interest where the platform left it.
  [{ before: 1, after: 2, lastApplied: 2 }, 'drift', 'weight: 1 → 2  last applied: 2'],
  [{ before: 1, after: 2, lastApplied: false }, 'git+drift', 'weight: 1 → 2  last applied: false'],
  [{ before: 1, after: 2 }, 'drift', 'weight: 1 → 2'],
  [{ before: 1, after: 2, lastApplied: 1 }, 'git', 'weight: 1 → 2'],
  // The reason of one field, where it is not that of the action.
  [{ before: 1, after: 2, cause: 'first-apply' }, 'git', 'weight: 1 → 2  (new in git)'],
  [
    { before: 1, after: 2, lastApplied: 3, cause: 'drift' },
    'git',
    'weight: 1 → 2  last applied: 3  (drift: changed on the platform)',
  ],
  // What was never set goes without saying, once it is removed.
  [{ before: '' }, 'prune', undefined],
  [{ before: 0 }, 'prune', undefined],
  [{ before: false }, 'prune', undefined],
  [{ before: null }, 'prune', undefined],
  [{ before: '', after: 'x' }, 'git', 'weight: "" → "x"'],
  [{ before: 0, after: false }, 'git', 'weight: 0 → false'],
  [{ before: true }, 'prune', 'weight: true → (removed)'],
  [{ before: [] }, 'prune', 'weight: [] → (removed)'],
])('the change %j of an action for %s reads %j', ([change, cause, line]) => {
  expect(changeLine(change, cause)?.trim()).toBe(line);
});

test('under a hold each field is shown, with no cause of its own', () => {
  const changes: FieldChange[] = [
    { path: 'weight', before: 0, cause: 'prune' },
    { path: 'cookie', before: 'a', after: 'b', lastApplied: 'b', cause: 'drift' },
  ];
  const lines = rendered({ scopes: [planOf({ holds: [holdOf({ changes })] })] });
  expect(lines.slice(3, 5)).toEqual(['        weight: 0 → (removed)', '        cookie: "a" → "b"  last applied: "b"']);
});

test('each piece of text is painted by what it is, and all of it stands there unpainted too', () => {
  const facts: Partial<Facts> = {
    revision: 'a1b2c3d',
    ledger: 'none',
    scopes: [
      planOf({
        actions: (['create', 'update', 'delete'] as const).map((verb) =>
          actionOf({ verb, changes: [{ ...outer, lastApplied: true, cause: 'drift' }], effects: ['more'] }),
        ),
        deferred: [{ resource: 'Component/db', waitsFor: 'StoreInstall/db', desired: {}, summary: 'later' }],
        holds: [holdOf()],
        notes: [{ code: 'a/b', message: 'noted' }],
      }),
    ],
    unobserved: [far],
    refusals: [{ code: 'guard/prunes', message: 'm', override: 'o' }],
    notes: [{ code: 'a/b', message: 'noted' }],
  };
  const document = documentOf(facts);
  const painted = renderPlanText(document, (role, text) => `<${role}>${text}</${role}>`);
  const said = (role: string) =>
    [...painted.matchAll(new RegExp(`<${role}>(.*?)</${role}>`, 'g'))].map(([, text]) => text);
  expect(said('create')).toEqual(['+']);
  expect(said('update')).toEqual(['~', '…']);
  expect(said('delete')).toEqual(['-']);
  expect(said('hold')).toEqual(['! held', '!', '!']);
  expect(said('note')).toEqual(['i', 'i']);
  expect(said('title')).toEqual([
    'Application/shop',
    'Component/web',
    'Component/db',
    'HttpGatewayRule/www',
    'Application/far',
    'Plan: 1 to create, 1 to change, 1 to delete, 1 pending, 1 held, refused by a guard, 1 application not observed.',
  ]);
  expect(new Set(said('dim'))).toEqual(
    new Set([
      'default/team-a/region-1/42',
      '(changed in git)',
      '  last applied: true',
      '  (drift: changed on the platform)',
      'also: more',
      '(rule/not-ours)',
      'No ledger: ownership and causes of changes are unknown, so nothing is held because of them.',
      'Revision: a1b2c3d',
      `Digest: ${document.digest}`,
    ]),
  );
  expect(painted.replaceAll(/<\/?[a-z]+>/g, '')).toBe(renderPlanText(document, plainPaint));
  expect(renderPlanText(document)).toBe(renderPlanText(document, plainPaint));
});

test('nothing that a platform, a manifest or a ledger says can break a line or command a terminal', () => {
  const hostile = fc.stringMatching(/^[a\n\r\t\u0007\u001b\u009b\u202e\u2028]{1,6}$/);
  const lineCount = renderHostile('calm').split('\n').length;
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = renderHostile(text);
      expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/);
      expect(shown.split('\n')).toHaveLength(lineCount);
    }),
    { numRuns: 500 },
  );
});

/** A plan in which everything that may come from elsewhere is this text. */
function renderHostile(text: string): string {
  const change: FieldChange = {
    path: text,
    before: text,
    after: [text],
    lastApplied: { [text]: text },
    cause: 'drift',
  };
  const resource = resourceId('Component', text);
  const note = { code: 'a/b', disposition: 'retry' as const, message: text, changes: [change] };
  const document = documentOf({
    revision: text,
    scopes: [
      planOf({
        application: resourceId('Application', text),
        scope: { platform: text, team: text, region: text, appId: 1 },
        actions: [actionOf({ resource, summary: text, effects: [text], changes: [change] })],
        deferred: [{ resource, waitsFor: resource, desired: {}, summary: text }],
        holds: [holdOf({ resource, message: text, remedy: text, changes: [change] })],
        notes: [note],
      }),
    ],
    unobserved: [{ application: text, code: 'a/b', disposition: 'retry' as const, message: text, remedy: text }],
    refusals: [{ code: 'guard/prunes', message: text, override: text }],
    notes: [note],
  });
  return renderPlanText(document);
}
