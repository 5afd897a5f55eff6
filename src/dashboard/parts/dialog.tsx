import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, isOpen, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      {isOpen ? (
        <>
          <header>
            <h2 id={id}>{title}</h2>
            <button type="button" class="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
              <Icon name="cross" />
            </button>
          </header>
          {children}
        </>
      ) : null}
    </dialog>
  );
}
