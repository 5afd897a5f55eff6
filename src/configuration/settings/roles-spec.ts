import type { OtherResources, SpecProblem } from '../../kinds/kind.ts';
import { problemAt } from '../../kinds/problems.ts';
import { NAME, ONE_LINE_PATTERN } from '../../kinds/schema.ts';
import { resourceId } from '../../model/ids.ts';
import { arrayOf, choice, objectOf, string, type TypeOf } from '../../model/schema-words.ts';

/** The roles, from the fewest permissions to the most. `operate` and `approve` are independent; `operator` is both. */
export const ROLES = ['viewer', 'operate', 'approve', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const ROLE_DESCRIPTION =
  'viewer: read and plan. operate: also sync, suspend, resume and read the ledger. approve: read, plan and approve. operator: operate and approve. admin: everything.';

/** A pattern `platform/team/region/app` of resolved values. `[^/]` excludes names with a slash: they match no pattern. */
const applicationPattern = string(
  'platform/team/region/app, * for any text within one part. app is the number of the application.',
  {
    pattern: '^[^/\\s]+/[^/\\s]+/[^/\\s]+/([*]|[1-9][0-9]{0,14})$',
    maxLength: 256,
    'x-expected': 'platform/team/region/app with * for any, such as default/team-a/*/* (app is a number or *)',
  },
);

const USER = { minLength: 1, maxLength: 256, pattern: ONE_LINE_PATTERN };

const bindingSchema = objectOf('One role, the callers that have it, and the applications that it covers.', {
  role: choice(ROLE_DESCRIPTION, ROLES),
  tokens: arrayOf(string('Name of a token.', NAME), {
    maxItems: 1000,
    default: [],
    description: 'Tokens of spec.server.tokens that have the role.',
  }),
  users: arrayOf(string('Name of a user.', USER), {
    maxItems: 1000,
    default: [],
    description: 'Users of the OpenID Connect provider that have the role, exactly as portolan whoami shows them.',
  }),
  groups: arrayOf(string('Name of a group.', USER), {
    maxItems: 1000,
    default: [],
    description: 'Groups of the OpenID Connect provider that have the role, exactly as portolan whoami shows them.',
  }),
  'applications?': arrayOf(applicationPattern, {
    minItems: 1,
    maxItems: 1000,
    description:
      'Patterns platform/team/region/app of the applications, as the platform resolves them; labels and manifests do not count. Absent: everything, also the platforms and applications that are not resolved yet.',
  }),
});

/** A role that a person or program has for some applications, or for everything. */
export type RoleBinding = TypeOf<typeof bindingSchema>;

/** JSON Schema of `spec.server.roles` of Settings. */
export const rolesSchema = arrayOf(bindingSchema, {
  maxItems: 1000,
  default: [],
  description: 'Roles of tokens, users and groups, each for some applications or for everything. Several add up.',
});

interface Callers {
  readonly tokens: readonly { readonly name: string }[];
  readonly roles: readonly RoleBinding[];
  readonly oidc?: unknown;
}

/** Returns the problems of bindings that the schema cannot detect: those without an effect. */
export function roleProblems({ tokens, roles, oidc }: Callers, set: OtherResources): readonly SpecProblem[] {
  const names = new Set(tokens.map(({ name }) => name));
  return roles.flatMap((binding, at) => {
    const path = `spec.server.roles[${at}]`;
    return [
      ...bindingProblems(binding, path, names, set),
      ...(oidc === undefined ? providerProblems(binding, path) : []),
    ];
  });
}

function bindingProblems(
  { tokens, users, groups, applications = [] }: RoleBinding,
  path: string,
  names: ReadonlySet<string>,
  set: OtherResources,
): readonly SpecProblem[] {
  const isEmpty = tokens.length + users.length + groups.length === 0;
  return [
    ...(isEmpty
      ? problemAt(path, 'settings/empty-binding', 'the binding names no caller', 'tokens, users or groups')
      : []),
    ...tokens.flatMap((name, at) =>
      names.has(name)
        ? []
        : problemAt(
            `${path}.tokens[${at}]`,
            'settings/unknown-token',
            `there is no token ${name}, so the binding would have no effect for it`,
            'name of a token in spec.server.tokens',
          ),
    ),
    ...applications.flatMap((pattern, at) => {
      const [platform = ''] = pattern.split('/');
      if (platform.includes('*') || set.get(resourceId('Platform', platform)) !== undefined) return [];
      return problemAt(
        `${path}.applications[${at}]`,
        'settings/binding-platform',
        `there is no Platform/${platform} in the configuration, so the pattern would match nothing`,
        'metadata.name of a Platform document, or *',
      );
    }),
  ];
}

/** Returns the problems of a binding of users or groups without a provider to sign in at. */
function providerProblems({ users, groups }: RoleBinding, path: string): readonly SpecProblem[] {
  return (['users', 'groups'] as const).flatMap((field) =>
    ({ users, groups })[field].length === 0
      ? []
      : problemAt(
          `${path}.${field}`,
          'settings/binding-without-provider',
          `these ${field} cannot sign in, because there is no OpenID Connect provider`,
          'spec.server.oidc in the same document',
        ),
  );
}
