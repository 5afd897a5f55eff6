import type { Seed, SeedComponent, SeedRule } from '../../src/sandbox/seed.ts';

/** The application and the component that small tests are about. */
export const ADDRESS = { team: 'team-a', region: 'region-1', appId: 42 } as const;
export const SERVICE = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';

/** A platform with one application that has one component, `web`. */
export function smallShop(web: Omit<SeedComponent, 'id' | 'name'>, rules: readonly SeedRule[] = []) {
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '1'.repeat(32), name: ADDRESS.region }],
    teams: [{ id: 'd'.repeat(32), name: ADDRESS.team }],
    applications: [
      {
        id: ADDRESS.appId,
        team: ADDRESS.team,
        region: ADDRESS.region,
        name: 'shop',
        components: [{ id: SERVICE, name: 'web', ...web }],
        rules,
      },
    ],
  } satisfies Seed;
}
