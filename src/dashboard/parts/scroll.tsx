import type { ComponentChildren } from 'preact';

/** A part that scrolls by itself, by keyboard too, so that the page does not. */
export function Scroll({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
