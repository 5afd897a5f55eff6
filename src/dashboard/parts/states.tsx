import type { ComponentChildren } from 'preact';
import type { Problem } from '../api.ts';
import type { Loaded } from '../data.ts';
import { Icon, type IconName } from './icon.tsx';
import { Remedy } from './words.tsx';

/** A part of a page that has something to say in place of its content. */
function Notice({
  icon,
  title,
  children,
  isAlert = false,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly isAlert?: boolean;
}) {
  return (
    <div class={`notice${isAlert ? ' bad' : ''}`} role={isAlert ? 'alert' : undefined}>
      <Icon name={icon} />
      <div>
        <p class="notice-title">{title}</p>
        {children}
      </div>
    </div>
  );
}

/** There is nothing to show. `children` say what would be here, or what to do. */
export function Empty({
  title,
  icon = 'info',
  children,
}: {
  readonly title: string;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
}) {
  return (
    <Notice icon={icon} title={title}>
      {children}
    </Notice>
  );
}

/** Grey lines where the content will be. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} class="loading-line" />
      ))}
    </div>
  );
}

interface FailedProps {
  readonly problem: Problem;
  readonly onRetry?: () => void;
  readonly retryLabel?: string;
}

/** A request that failed, with its remedy. */
export function Failed({ problem, onRetry, retryLabel = 'Retry' }: FailedProps) {
  if (problem.status === 403) {
    return (
      <Notice icon="hand" title="No permission">
        <p>{problem.detail}</p>
        <Remedy text={problem.remedy} />
      </Notice>
    );
  }
  return (
    <Notice icon="alert" title={problem.title} isAlert>
      <p>{problem.detail}</p>
      <Remedy text={problem.remedy} />
      <p class="code">{problem.code}</p>
      {onRetry === undefined ? null : (
        <button type="button" onClick={onRetry}>
          {retryLabel}
        </button>
      )}
    </Notice>
  );
}

/** A part of the dashboard whose code did not arrive. @param what begins the title: `This page`. */
export function PartMissing({ what }: { readonly what: string }) {
  const problem: Problem = {
    status: 0,
    title: `${what} could not be loaded`,
    code: 'dashboard/part-missing',
    detail: 'A file of the dashboard did not arrive: the connection is lost, or the controller was updated.',
    remedy: 'Reload the page.',
  };
  return <Failed problem={problem} retryLabel="Reload" onRetry={() => location.reload()} />;
}

/** Shows loaded data, or the state of its loading. A failed reload shows above the data that was loaded before. */
export function WithData<T>({
  of: { data, problem, reload },
  lines,
  children,
}: {
  readonly of: Loaded<T>;
  readonly lines?: number;
  readonly children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      {problem === undefined || (problem.status === 0 && data !== undefined) ? null : (
        <Failed problem={problem} onRetry={reload} />
      )}
      {data !== undefined ? children(data) : problem === undefined ? <Loading lines={lines ?? 4} /> : null}
    </>
  );
}
