import { useState } from 'preact/hooks';
import { announce } from './toasts.tsx';
import { Icon } from './icon.tsx';
import { after } from '../clock.ts';

const SHOWN_MS = 2_000;

/** A button that copies a text. @param what names the text for people who do not see the button. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        announce(`Copied ${what}.`);
        after(SHOWN_MS, () => setCopied(false));
      },
      () => announce(`The browser did not permit to copy ${what}.`),
    );
  };
  return (
    <button type="button" class="copy" onClick={copy} aria-label={`Copy ${what}`} title={`Copy ${what}`}>
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  );
}

/** A text that people copy: a command, a digest. */
export function Copyable({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span class="copyable">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  );
}
