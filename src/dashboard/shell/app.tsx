import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { PAGES, type PageProps } from '../pages.ts';
import { Missing } from '../pages/missing.tsx';
import { Loading } from '../parts/states.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { match } from '../router.ts';
import { access } from '../sign-in-state.ts';
import type { PagePath } from '../../server/pages.ts';
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
        {isSigningIn ? <Brand /> : <LostBanner />}
        <CurrentPage />
      </main>
      <KeysDialog />
      <Toasts />
    </>
  );
}

/** Code of pages that were shown. */
const loaded = new Map<PagePath, ComponentType<PageProps>>();

function CurrentPage() {
  const found = match.value;
  const [, update] = useState(0);
  const page = found?.page;
  useEffect(() => {
    if (page === undefined || loaded.has(page)) return;
    PAGES[page].load().then(
      (component) => {
        loaded.set(page, component);
        update((count) => count + 1);
      },
      // The controller was updated, and the files of this version are gone.
      () => location.reload(),
    );
  }, [page]);
  if (found === undefined) return <Missing />;
  const Page = loaded.get(found.page);
  if (Page === undefined || (access.value !== 'signed-in' && page !== '/sign-in')) return <Loading lines={6} />;
  // A key for each path: nothing of one application stays on the page of another one.
  return <Page key={JSON.stringify(found)} {...found.params} />;
}
