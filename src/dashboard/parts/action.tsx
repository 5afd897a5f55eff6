import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { ApiError, type Problem } from '../api.ts';
import { Dialog } from './dialog.tsx';
import { Icon, type IconName } from './icon.tsx';
import { Failed } from './states.tsx';
import { toast } from './toasts.tsx';
import type { Whoami } from '../../server/routes/whoami.ts';

export type Permission = Whoami['permissions'][number];

/** Holds a request of the user: its effect, its question and its result. */
export interface Action {
  readonly label: string;
  readonly icon: IconName;
  readonly tone?: 'primary' | 'danger';
  readonly needs: Permission;
  /** The title of the question. */
  readonly question: string;
  /** Exactly what happens. */
  readonly effect: ComponentChildren;
  /** The label of the button that confirms; default: the label. */
  readonly confirm?: string;
  /** A reason that the history keeps. Absent: none is asked for. */
  readonly reason?: string;
  /** More fields of the form. */
  readonly form?: ComponentChildren;
  /** Returns whether its effect is shown, so that it can be confirmed. Default: at once. */
  readonly isReady?: () => boolean;
  /** The reason why no user can request it now. */
  readonly impossible?: string | undefined;
  /** @returns the result in words. @throws ApiError. */
  readonly run: (reason: string, fields: FormData) => Promise<string>;
}

const NEEDED: Readonly<Record<Permission, string>> = {
  viewer: 'viewer',
  operate: 'operate, operator or admin',
  approve: 'approve, operator or admin',
  admin: 'admin',
};

interface ActionButtonProps {
  readonly action: Action;
  readonly permissions: readonly Permission[] | undefined;
  readonly onDone?: () => void;
}

/** A button with its question. Without the permission it stays reachable, and says why it is unavailable. */
export function ActionButton({ action, permissions, onDone }: ActionButtonProps) {
  // The question stays as it was asked, although the page behind it may change.
  const [asked, setAsked] = useState<{ readonly action: Action; readonly why: string | undefined }>();
  const why = unavailable(action, permissions);
  const close = (): void => setAsked(undefined);
  const tone = action.tone === undefined ? '' : ` ${action.tone}`;
  return (
    <>
      <button
        type="button"
        class={`action${tone}${why === undefined ? '' : ' unavailable'}`}
        aria-haspopup="dialog"
        aria-disabled={why === undefined ? undefined : 'true'}
        title={why}
        onClick={() => setAsked({ action, why })}
      >
        <Icon name={action.icon} />
        {action.label}
      </button>
      <Dialog title={titleOf(asked)} isOpen={asked !== undefined} onClose={close}>
        {asked === undefined ? null : asked.why === undefined ? (
          <Question action={asked.action} onClose={close} {...(onDone === undefined ? {} : { onDone })} />
        ) : (
          <p>{asked.why}</p>
        )}
      </Dialog>
    </>
  );
}

function titleOf(asked: { readonly action: Action; readonly why: string | undefined } | undefined): string {
  if (asked === undefined) return '';
  return asked.why === undefined ? asked.action.question : asked.action.label;
}

/** Returns why a user cannot request an action now; undefined: the user can. */
function unavailable(
  { needs, impossible }: Action,
  permissions: readonly Permission[] | undefined,
): string | undefined {
  if (permissions === undefined) return 'Your roles are not known yet.';
  if (!permissions.includes(needs))
    return `This needs the role ${NEEDED[needs]} for this application, which you do not have.`;
  return impossible;
}

interface QuestionProps {
  readonly action: Action;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

function Question({ action, onClose, onDone }: QuestionProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const reasonId = useId();
  const isReady = action.isReady?.() ?? true;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy || !isReady) return;
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const reason = fields.get('reason');
    setBusy(true);
    setProblem(undefined);
    try {
      const result = await action.run(typeof reason === 'string' ? reason.trim() : '', fields);
      toast('good', result);
      onClose();
      onDone?.();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.problem);
      setBusy(false);
    }
  };
  return (
    <form class="question" onSubmit={(event) => void submit(event)}>
      <div class="effect">{action.effect}</div>
      {action.form}
      {action.reason === undefined ? null : (
        <label for={reasonId}>
          {action.reason}
          <textarea id={reasonId} name="reason" required maxLength={1000} rows={2} />
          <span class="hint">The history keeps it with your name.</span>
        </label>
      )}
      {problem === undefined ? null : <Failed problem={problem} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class={action.tone ?? 'primary'} disabled={isBusy || !isReady}>
          {isBusy ? 'Working…' : (action.confirm ?? action.label)}
        </button>
      </div>
    </form>
  );
}
