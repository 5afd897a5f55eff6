import type { Doubt } from '../../../model/manual.ts';
import { read, send } from '../../api.ts';
import { useData } from '../../data.ts';
import { Icon } from '../../parts/icon.tsx';
import { exactTime, Time } from '../../parts/time.tsx';
import { type Action, ActionButton } from '../../parts/action.tsx';
import { concernsApplication } from './data.ts';
import type { Shown } from './head.tsx';

/** All requests of an application whose outcome is not known. */
export function Doubts({ shown }: { readonly shown: Shown }) {
  const { name } = shown;
  const doubts = useData(
    `doubts ${name}`,
    (signal) => read('/api/v1/applications/{name}/doubts', { params: { name }, signal }),
    { concerns: concernsApplication(name) },
  );
  return <DoubtList shown={shown} doubts={doubts.data?.items ?? []} onDone={doubts.reload} />;
}

interface DoubtListProps {
  readonly shown: Shown;
  readonly doubts: readonly Doubt[];
  readonly onDone: () => void;
}

/** Requests in doubt, each with its evidence and the decision beside it. */
export function DoubtList({ shown, doubts, onDone }: DoubtListProps) {
  if (doubts.length === 0) return null;
  return (
    <section aria-label="Requests in doubt">
      {doubts.map((doubt) => (
        <div key={doubt.id} class="app-notice warn">
          <Icon name="question" />
          <div>
            <p>
              <strong>The outcome of a request is not known:</strong> {doubt.summary}{' '}
              <span class="soft">
                ({doubt.resource}, intent <code>{doubt.id}</code>)
              </span>
            </p>
            <Evidence doubt={doubt} />
            <p class="buttons start">
              <ActionButton
                action={resolveAction(shown.name, doubt, 'applied')}
                permissions={shown.permissions}
                onDone={onDone}
              />
              <ActionButton
                action={resolveAction(shown.name, doubt, 'not-applied')}
                permissions={shown.permissions}
                onDone={onDone}
              />
            </p>
          </div>
        </div>
      ))}
    </section>
  );
}

function Evidence({ doubt: { sentMs, answer, settleWindow, evidence } }: { readonly doubt: Doubt }) {
  return (
    <dl class="evidence">
      <div>
        <dt>Sent</dt>
        <dd>
          <Time at={sentMs} />
        </dd>
      </div>
      <div>
        <dt>Answer</dt>
        <dd>{answer ?? 'none was recorded'}</dd>
      </div>
      <div>
        <dt>Settle window</dt>
        <dd>{windowText(settleWindow)}</dd>
      </div>
      <div>
        <dt>Evidence</dt>
        <dd>{evidence ?? 'observation has not tried to decide it yet'}</dd>
      </div>
    </dl>
  );
}

function windowText({ state, atMs }: Doubt['settleWindow']) {
  switch (state) {
    case 'over':
      return 'over: the request cannot arrive any more';
    case 'until':
      return (
        <>
          the request may still arrive {atMs === null ? '' : <>until {exactTime(atMs)}</>}, so an observation proves
          nothing
        </>
      );
    case 'restarted':
      return 'begins with the next pass';
  }
}

function resolveAction(name: string, doubt: Doubt, decision: 'applied' | 'not-applied'): Action {
  const { id, summary, resource, settleWindow, idempotence } = doubt;
  const isApplied = decision === 'applied';
  const isEarly = settleWindow.state !== 'over';
  return {
    label: isApplied ? 'It was applied' : 'It was not applied',
    icon: isApplied ? 'check' : 'cross',
    needs: 'admin',
    question: isApplied ? 'Record that the change was made?' : 'Record that the change was not made?',
    confirm: 'Record',
    effect: (
      <>
        <p>
          {summary} ({resource})
        </p>
        <Evidence doubt={doubt} />
        <p>
          {isApplied
            ? 'The ledger records the object as if the answer had arrived. The components that the request made are read from the platform. Nothing is sent.'
            : 'The next pass may send the request again.'}
          {!isApplied && idempotence === 'duplicate-accepting'
            ? ' If this is wrong, it is installed a second time.'
            : ''}
        </p>
        {isEarly ? (
          <p class="warning">
            <Icon name="alert" /> The request may still arrive. Wait for the end of the settle window, unless you are
            sure that the request is over.
          </p>
        ) : null}
      </>
    ),
    form: (
      <>
        {isApplied ? (
          <label>
            Id on the platform, if you know it
            <input name="id" maxLength={64} pattern="[A-Za-z0-9_\-]*" autoComplete="off" />
          </label>
        ) : null}
        {isEarly ? (
          <label class="check">
            <input type="checkbox" name="force" required /> I am sure that the request is over
          </label>
        ) : null}
      </>
    ),
    reason: 'How do you know?',
    run: async (reason, fields) => {
      const typed = fields.get('id');
      const objectId = typeof typed === 'string' && typed !== '' ? { id: typed } : {};
      const { warnings } = await send('/api/v1/applications/{name}/intents/{intent}/resolve', {
        params: { name, intent: id },
        body: { decision, reason, force: fields.get('force') === 'on', ...objectId },
      });
      return [`Recorded: ${summary} was ${isApplied ? 'applied' : 'not applied'}.`, ...warnings].join(' ');
    },
  };
}
