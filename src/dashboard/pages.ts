import type { ComponentType } from 'preact';
import type { PagePath } from '../server/pages.ts';

/** A page of the dashboard. Its code loads when it is first shown. */
interface PageEntry {
  readonly load: () => Promise<ComponentType<PageProps>>;
}

/** Parameters of the path, decoded: `name` of `/applications/:name`. */
export type PageProps = Readonly<Record<string, string>>;

const notBuiltYet = async () => (await import('./pages/coming.tsx')).Coming;

/** All pages. A new one also needs its path in `server/pages.ts`. */
export const PAGES: Readonly<Record<PagePath, PageEntry>> = {
  '/': { load: async () => (await import('./pages/overview.tsx')).Overview },
  '/sign-in': { load: async () => (await import('./pages/sign-in.tsx')).SignIn },
  '/applications': { load: async () => (await import('./pages/applications.tsx')).Applications },
  '/applications/:name': { load: notBuiltYet },
  '/applications/:name/plan': { load: notBuiltYet },
  '/applications/:name/history': { load: notBuiltYet },
  '/applications/:name/monitoring': { load: async () => (await import('./pages/monitoring.tsx')).Monitoring },
  '/activity': { load: async () => (await import('./pages/activity.tsx')).Activity },
  '/platform': { load: async () => (await import('./pages/platform.tsx')).Platform },
  '/attention': { load: async () => (await import('./pages/attention.tsx')).Attention },
  '/commits/:sha': { load: async () => (await import('./pages/commit.tsx')).Commit },
};
