import { useEffect } from 'preact/hooks';
import { after } from '../clock.ts';

/** Interval of reloads for changes that have no event, such as the first check of an application. */
const EVERY_MS = 15_000;

/** Reloads data from time to time while the page is in sight. */
export function useRefresh(reload: () => void): void {
  useEffect(() => {
    let cancel = (): void => {};
    const wait = (): void => {
      cancel = after(EVERY_MS, () => {
        if (!document.hidden) reload();
        wait();
      });
    };
    wait();
    return () => cancel();
  }, [reload]);
}
