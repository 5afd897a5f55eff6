import { FILES, forgetReloads, recover } from './recovery.ts';

/**
 * Reloads the page when a file that its document names does not arrive. The script is not hashed and runs before all others, because
 * the replica that answers it may have another version than the page: it knows only elements and their addresses.
 */

const PART = 'the dashboard';

let hasFailed = false;
/** Elements of the document itself. Those that are added later belong to parts, which recover by themselves. */
let own: ReadonlySet<EventTarget> | undefined;

document.addEventListener(
  'readystatechange',
  () => {
    own = new Set(document.querySelectorAll(FILES));
  },
  { once: true },
);

// Such events do not bubble.
addEventListener(
  'error',
  ({ target }) => {
    if (hasFailed || !(target instanceof Element) || !target.matches(FILES)) return;
    if (own !== undefined && !own.has(target)) return;
    hasFailed = true;
    void recoverOrSay();
  },
  { capture: true },
);

addEventListener('load', () => {
  if (!hasFailed) forgetReloads(PART);
});

async function recoverOrSay(): Promise<void> {
  if (await recover(PART)) return;
  const text = document.createElement('p');
  text.role = 'alert';
  text.textContent = 'The dashboard could not be loaded, because some of its files did not arrive. Reload the page.';
  document.body.prepend(text);
}
