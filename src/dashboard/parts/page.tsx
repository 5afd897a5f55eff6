import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { arrivals } from '../router.ts';

interface PageProps {
  readonly title: string;
  /** Above the title: the way back. */
  readonly trail?: ComponentChildren;
  /** Beside the title: buttons. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

let greeted = 0;

/** The frame of a page. After a navigation its heading has the focus, so that screen readers and the keyboard start there. */
export function PageFrame({ title, trail, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Portolan`;
  }, [title]);
  useEffect(() => {
    if (arrivals.value === greeted) return;
    greeted = arrivals.value;
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <div class="page-head">
        <div>
          {trail === undefined ? null : <nav aria-label="Breadcrumb">{trail}</nav>}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
        </div>
        {actions === undefined ? null : <div class="page-actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}
