import type { ServerSettings } from '../../../configuration/settings/server-spec.ts';

/** A role of one caller. */
export interface Binding {
  readonly role: string;
  /** `token ci`, `user alice@example.com` or `group ops`. */
  readonly caller: string;
  /** Patterns of applications; `everything`. */
  readonly applications: string;
}

const EVERYTHING = 'everything';

/** Returns the roles of all callers, as `spec.server.tokens` and `spec.server.roles` bind them together. */
export function bindingsOf({ tokens, roles }: Pick<ServerSettings, 'tokens' | 'roles'>): readonly Binding[] {
  const own = tokens.flatMap(({ name, role }) =>
    role === undefined ? [] : [{ role, caller: `token ${name}`, applications: EVERYTHING }],
  );
  const bound = roles.flatMap((binding) => {
    const callers = [
      ...binding.tokens.map((name) => `token ${name}`),
      ...binding.users.map((name) => `user ${name}`),
      ...binding.groups.map((name) => `group ${name}`),
    ];
    const applications = binding.applications?.join(' ') ?? EVERYTHING;
    return callers.map((caller) => ({ role: binding.role, caller, applications }));
  });
  return [...own, ...bound];
}
