import type { ComponentChildren } from 'preact';
import { inBase } from '../base.ts';

/** A link to an address of the dashboard: `/applications?q=shop`. */
export function Link({ to, children, ...rest }: LinkProps) {
  return (
    <a href={inBase(to)} {...rest}>
      {children}
    </a>
  );
}

interface LinkProps {
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
  readonly 'aria-current'?: 'page' | 'true';
  readonly 'aria-label'?: string;
}

/** Returns the address of an application: `Application/shop` → `/applications/shop`. */
export function applicationAddress(id: string): string {
  return `/applications/${encodeURIComponent(id.replace(/^Application\//, ''))}`;
}
