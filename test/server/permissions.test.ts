import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ROLES } from '../../src/configuration/settings/roles-spec.ts';
import type { Caller } from '../../src/server/caller.ts';
import { createAuthorizer, type Grant, permissionsOf } from '../../src/server/permissions.ts';

const viewer = (...applications: string[]): readonly Grant[] => [{ role: 'viewer', applications }];

test.for([
  ['default/team-a/region-1/1', 'default/team-a/region-1/1', true],
  ['default/team-a/region-1/1', 'default/team-a/region-1/11', false],
  ['default/team-a/region-1/1', 'default/team-a/region-2/1', false],
  ['default/team-a/region-1/1', 'other/team-a/region-1/1', false],
  ['default/team-a/*/*', 'default/team-a/region-2/7', true],
  ['default/team-a/*/*', 'default/team-ab/region-2/7', false],
  ['default/team-*/*/*', 'default/team-ab/region-2/7', true],
  ['*/*/*/*', 'default/team-a/region-1/1', true],
  ['default/Team-A/*/*', 'default/team-a/region-1/1', false],
  ['default/team.a/*/*', 'default/team-a/region-1/1', false],
  // The names of a platform may contain slashes. They must not move into another segment.
  ['default/team-a/*/*', 'default/team-a/x/region-1/1', false],
  ['*/*/*/*', 'default/team-a/x/region-1/1', false],
  ['default/team-a/*/*', 'default/team-a/1', false],
  ['*/*/*/*', 'source:a/b/c/1', false],
  ['*/*/*/*', 'platform:a/b/c/1', false],
  ['*/*/*/*', 'source:default', false],
  ['*/*/*/*', 'default/team-a/region-1/01', false],
  ['*/*/*/*', 'default//region-1/1', false],
  // Its number is not known.
  ['default/team-a/*/*', 'default/team-a/region-1/ ', true],
  ['default/team-a/*/1', 'default/team-a/region-1/ ', false],
  ['*/*/*/*', '', false],
] as const)('%s covers %s: %s', ([pattern, scope, isCovered]) => {
  const permissions = permissionsOf(viewer(pattern));
  for (let asked = 0; asked < 2; asked += 1) expect(permissions.may('viewer', scope)).toBe(isCovered);
});

test('an application that is not resolved is covered by a role for everything only', () => {
  expect(permissionsOf(viewer('*/*/*/*')).may('viewer', null)).toBe(false);
  expect(permissionsOf([{ role: 'viewer', applications: null }]).may('viewer', null)).toBe(true);
  expect(permissionsOf(viewer('*/*/*/*')).hasForAll('viewer')).toBe(false);
});

test('roles add up for each application, and never beyond their patterns', () => {
  const segment = fc.constantFrom('a', 'b', 'ab', '*', 'a*');
  const grant = fc.record({
    role: fc.constantFrom(...ROLES),
    applications: fc.option(
      fc.array(fc.tuple(segment, segment, segment, fc.constantFrom('1', '2', '*')), { minLength: 1, maxLength: 3 }),
    ),
  });
  const scope = fc.tuple(
    ...(['p', 't', 'r'] as const).map(() => fc.constantFrom('a', 'b', 'ab')),
    fc.constantFrom('1', '2', '12'),
  );
  const covers = (pattern: readonly string[], parts: readonly string[]): boolean =>
    pattern.every((text, at) =>
      text === '*' ? true : text === 'a*' ? parts[at]?.startsWith('a') === true : text === parts[at],
    );
  const allows = {
    viewer: ROLES,
    operate: ['operate', 'operator', 'admin'],
    approve: ['approve', 'operator', 'admin'],
    admin: ['admin'],
  } as const;
  fc.assert(
    fc.property(fc.array(grant, { maxLength: 5 }), scope, (grants, parts) => {
      const permissions = permissionsOf(
        grants.map(({ role, applications }) => ({
          role,
          applications: applications?.map((one) => one.join('/')) ?? null,
        })),
      );
      for (const [permission, roles] of Object.entries(allows) as [keyof typeof allows, readonly string[]][]) {
        const having = grants.filter(({ role }) => roles.includes(role));
        const isAllowed = having.some(({ applications }) => applications?.some((one) => covers(one, parts)) ?? true);
        expect(permissions.may(permission, parts.join('/'))).toBe(isAllowed);
        expect(permissions.has(permission)).toBe(having.length > 0);
        expect(permissions.hasForAll(permission)).toBe(having.some(({ applications }) => applications === null));
      }
    }),
  );
});

const caller = (via: Caller['via'], name: string, ...groups: string[]): Caller => ({
  via,
  name,
  groups,
  sessionEndsMs: null,
});

test('a token, a user and a group of one name are three different callers', () => {
  const bind = (of: 'tokens' | 'users' | 'groups') => ({
    role: 'viewer' as const,
    tokens: [],
    users: [],
    groups: [],
    [of]: ['ops'],
  });
  const token = { name: 'ops', value: { env: 'X' } };
  const mayView = (of: 'tokens' | 'users' | 'groups', who: Caller): boolean =>
    createAuthorizer({ tokens: [token], roles: [bind(of)] })(who).has('viewer');
  const callers = [
    caller('token', 'ops'),
    caller('oidc', 'ops'),
    caller('oidc', 'ann', 'ops'),
    caller('token', 'ann', 'ops'),
  ];
  expect(callers.map((who) => mayView('tokens', who))).toEqual([true, false, false, false]);
  expect(callers.map((who) => mayView('users', who))).toEqual([false, true, false, false]);
  expect(callers.map((who) => mayView('groups', who))).toEqual([false, false, true, false]);
  // Case counts, and a part of a name is another name.
  for (const name of ['Ops', 'op', 'ops ']) expect(mayView('users', caller('oidc', name))).toBe(false);
});

test('a token that Settings do not have any more may do nothing, also in a session', () => {
  const roles = [{ role: 'admin' as const, tokens: ['ci'], users: [], groups: [] }];
  expect(createAuthorizer({ tokens: [], roles })(caller('token', 'ci')).grants).toEqual([]);
});
