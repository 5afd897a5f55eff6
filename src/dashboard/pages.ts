import type { ComponentType } from 'preact';
import type { PagePath } from '../server/pages.ts';

/** A page of the dashboard. Its code loads when it is first shown. */
interface PageEntry {
  readonly load: () => Promise<ComponentType<PageProps>>;
}

/** Parameters of the path, decoded: `name` of `/applications/:name`. */
export type PageProps = Readonly<Record<string, string>>;

/** All pages. A new one also needs its path in `server/pages.ts`. */
export const PAGES: Readonly<Record<PagePath, PageEntry>> = {
  '/': { load: async () => (await import('./pages/overview.tsx')).Overview },
  '/sign-in': { load: async () => (await import('./pages/sign-in.tsx')).SignIn },
  '/applications': { load: async () => (await import('./pages/applications.tsx')).Applications },
  '/applications/:name/monitoring': { load: async () => (await import('./pages/monitoring.tsx')).Monitoring },
  '/applications/:name': { load: async () => (await import('./pages/application/tree-page.tsx')).ApplicationTree },
  '/applications/:name/plan': { load: async () => (await import('./pages/application/plan-page.tsx')).ApplicationPlan },
  '/applications/:name/history': {
    load: async () => (await import('./pages/application/history-page.tsx')).ApplicationHistory,
  },
  '/activity': { load: async () => (await import('./pages/activity.tsx')).Activity },
  '/platform': { load: async () => (await import('./pages/platform.tsx')).Platform },
  '/attention': { load: async () => (await import('./pages/attention.tsx')).Attention },
  '/commits/:sha': { load: async () => (await import('./pages/commit.tsx')).Commit },
};
