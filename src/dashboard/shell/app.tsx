import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import type { Problem } from '../api.ts';
import { PAGES, type PageProps } from '../pages.ts';
import { Missing } from '../pages/missing.tsx';
import { Failed, Loading, PartMissing } from '../parts/states.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { loadPart } from '../recovery.ts';
import { match } from '../router.ts';
import { access } from '../sign-in-state.ts';
import type { PagePath } from '../../server/pages.ts';
import { DatabaseBanner } from './database.tsx';
import { Header } from './header.tsx';
import { KeysDialog } from './keys.tsx';
import { LostBanner } from './lost.tsx';
import { Brand, Navigation } from './navigation.tsx';

export function App() {
  const isSigningIn = match.value?.page === '/sign-in';
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      {isSigningIn ? null : (
        <>
          <Navigation />
          <Header />
        </>
      )}
      <main id="content" tabIndex={-1} class={isSigningIn ? 'alone' : undefined}>
        {isSigningIn ? (
          <Brand />
        ) : (
          <>
            <LostBanner />
            <DatabaseBanner />
          </>
        )}
        <CurrentPage />
      </main>
      <KeysDialog />
      <Toasts />
    </>
  );
}

/** Code of pages that were shown. */
const loaded = new Map<PagePath, ComponentType<PageProps>>();

const FAULT: Problem = {
  status: 0,
  title: 'This page failed',
  code: 'dashboard/fault',
  detail: 'The page failed because of a bug in the dashboard. The controller keeps running.',
  remedy: 'Reload the page. If it fails again, report the bug with the messages of the console of the browser.',
};

function CurrentPage() {
  const found = match.value;
  const [, update] = useState(0);
  const [missing, setMissing] = useState<PagePath>();
  const page = found?.page;
  useEffect(() => {
    if (page === undefined || loaded.has(page)) return;
    loadPart(page, PAGES[page].load).then(
      (component) => {
        loaded.set(page, component);
        update((count) => count + 1);
      },
      () => setMissing(page),
    );
  }, [page]);
  if (found === undefined) return <Missing />;
  if (missing === found.page) return <PartMissing what="This page" />;
  const Page = loaded.get(found.page);
  if (Page === undefined || (access.value !== 'signed-in' && page !== '/sign-in')) return <Loading lines={6} />;
  // A key for each path: nothing of one application stays on the page of another one.
  return (
    <Guarded key={JSON.stringify(found)}>
      <Page {...found.params} />
    </Guarded>
  );
}

/** Shows a message in place of a page that throws. */
function Guarded({ children }: { readonly children: ComponentChildren }) {
  const caught: readonly unknown[] = useErrorBoundary((thrown: unknown) => reportError(thrown));
  return caught[0] === undefined ? (
    children
  ) : (
    <Failed problem={FAULT} retryLabel="Reload" onRetry={() => location.reload()} />
  );
}
