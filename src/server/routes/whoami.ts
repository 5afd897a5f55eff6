import { ROLES } from '../../configuration/settings/roles-spec.ts';
import {
  arrayOf,
  described,
  literal,
  nullable,
  objectOf,
  text,
  time,
  trueOrFalse,
  type TypeOf,
} from '../../model/schema-words.ts';
import { PERMISSION_NAMES } from '../permissions.ts';
import { type Call, json, routesOf } from '../route.ts';
import { applicationNamed, applicationQuery, type ListQuery } from './queries.ts';

export const whoamiSchema = objectOf('The caller of the request, and its roles.', {
  name: described(text, 'Name of the token or of the user.'),
  via: described(literal('token', 'oidc'), 'Whether the name is that of a token, or of a user of OpenID Connect.'),
  groups: described(arrayOf(text), 'Groups of the user, as the provider reported them at the sign-in.'),
  roles: described(
    arrayOf(
      objectOf('A role, and the applications that it covers.', {
        role: literal(...ROLES),
        applications: described(
          nullable(arrayOf(text)),
          'Patterns platform/team/region/app of resolved applications. null: everything.',
        ),
      }),
    ),
    'All roles of the caller. They add up.',
  ),
  isLimited: described(trueOrFalse, 'Whether the caller sees only some applications.'),
  permissions: described(
    arrayOf(literal(...PERMISSION_NAMES)),
    'Permissions for the application in the query; without one, for at least one application.',
  ),
  sessionEndsMs: described(nullable(time), 'The latest end of the session. null: the request has none.'),
});
export type Whoami = TypeOf<typeof whoamiSchema>;

/** Route that shows callers their name and roles. It also answers those without any role. */
export const whoamiRoutes = routesOf({
  'GET /api/v1/whoami': {
    operationId: 'whoami',
    summary: 'Returns the caller of the request, its roles, and what it may do.',
    access: 'caller',
    query: { application: applicationQuery },
    answers: { 200: { description: 'The caller.', schema: whoamiSchema } },
    handle: (call, { api }) => {
      const { application } = call.query as Pick<ListQuery, 'application'>;
      const scope = application === undefined ? undefined : applicationNamed(api, application).scope;
      return json(whoamiOf(call, scope));
    },
  },
});

/** @param scope of an application that the caller may see; undefined: of any. */
function whoamiOf({ caller, permissions: permissionsNow }: Call, scope: string | null | undefined): Whoami {
  if (caller === undefined) throw new Error('a route with access caller has a caller');
  const permissions = permissionsNow();
  const { name, via, groups, sessionEndsMs } = caller;
  return {
    name,
    via,
    groups,
    roles: permissions.grants,
    isLimited: !permissions.hasForAll('viewer'),
    permissions: PERMISSION_NAMES.filter((one) =>
      scope === undefined ? permissions.has(one) : permissions.may(one, scope),
    ),
    sessionEndsMs,
  };
}
