import type { PagePath } from '../../src/server/pages.ts';
import type { World } from './world.ts';

/**
 * Addresses of each page, for tests that open all of them, by the name of their pictures. The application is `shop`. A new page
 * must be here, or this file does not compile.
 */
const ADDRESSES: Readonly<Record<PagePath, Readonly<Record<string, string>>>> = {
  '/': { overview: '/' },
  '/sign-in': { 'sign-in': '/sign-in?return=%2F' },
  '/applications': { applications: '/applications' },
  '/applications/:name': { application: '/applications/shop' },
  '/applications/:name/plan': { plan: '/applications/shop/plan' },
  '/applications/:name/history': { history: '/applications/shop/history' },
  '/applications/:name/monitoring': { monitoring: '/applications/shop/monitoring' },
  '/attention': { attention: '/attention' },
  '/activity': { activity: '/activity', 'activity-filtered': '/activity?severity=error&type=circuit' },
  '/commits/:sha': { commit: '/commits/HEAD' },
  '/platform': { platform: '/platform' },
};

/** An address of a page, and the name of its pictures. */
export interface Example {
  readonly name: string;
  readonly address: string;
}

export const EXAMPLES: readonly Example[] = Object.values(ADDRESSES).flatMap((byName) =>
  Object.entries(byName).map(([name, address]) => ({ name, address })),
);

/** Returns the address in a world: the commit is the one that its controller applies. */
export async function addressIn(world: World, { address }: Example): Promise<string> {
  if (!address.includes('HEAD')) return address;
  const { source } = await world.api<{ source: { acceptedRevision: string } }>('/api/v1/status');
  return address.replace('HEAD', source.acceptedRevision.split(':')[1] ?? '');
}
