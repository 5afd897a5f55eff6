import type { Hold } from '../../../model/plan.ts';
import type { PlanDocument, Refusal } from '../../../model/plan-document.ts';
import type { ApprovalNeeded } from '../../../model/status.ts';
import { amount, countsText } from '../../../plan/words.ts';
import { read, send } from '../../api.ts';
import { useData } from '../../data.ts';
import { Copyable } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, WithData } from '../../parts/states.tsx';
import { type Action, ActionButton } from '../../parts/action.tsx';
import { concernsApplication, resourceAddress } from './data.ts';
import { ApplicationFrame, type Shown } from './head.tsx';
import { Changes, HoldText, PlannedActions } from './plan-parts.tsx';
import { Revision } from '../../parts/revision.tsx';
import { Remedy } from '../../parts/words.tsx';

/** `/applications/:name/plan`: the pending plan, worded as on the command line, and its approval. */
export function ApplicationPlan({ name = '' }: Readonly<Record<string, string>>) {
  return (
    <ApplicationFrame name={name} view="plan">
      {(shown) => <Plan shown={shown} />}
    </ApplicationFrame>
  );
}

/** Events after which the plan is another one. */
const CHANGES = /^(?:apply\.finished|approval\.|drift\.|hold\.|source\.accepted|object\.|intent\.resolved)/;

function Plan({ shown }: { readonly shown: Shown }) {
  const { name } = shown;
  const plan = useData(
    `plan ${name}`,
    (signal) => read('/api/v1/applications/{name}/plan', { params: { name }, signal }),
    { concerns: (event) => CHANGES.test(event.type) && concernsApplication(name)(event) },
  );
  return (
    <section class="card" aria-label="Plan">
      <header>
        <h2>Plan</h2>
        <button type="button" onClick={plan.reload} disabled={plan.isLoading}>
          <Icon name="sync" /> {plan.isLoading ? 'Planning…' : 'Plan again'}
        </button>
      </header>
      <WithData of={plan} lines={6}>
        {(document) => <PlanBody document={document} shown={shown} reload={plan.reload} />}
      </WithData>
    </section>
  );
}

interface PlanBodyProps {
  readonly document: PlanDocument;
  readonly shown: Shown;
  readonly reload: () => void;
}

function PlanBody({ document, shown, reload }: PlanBodyProps) {
  const { name } = shown;
  const [scope] = document.scopes;
  const { actions = [], deferred = [], holds = [], notes = [] } = scope ?? {};
  const isEmpty = actions.length + deferred.length + holds.length + notes.length + document.unobserved.length === 0;
  return (
    <div class="plan-body">
      <Headline document={document} />
      {isEmpty ? <Empty title="The platform matches the manifests." /> : null}
      <Approval document={document} shown={shown} reload={reload} />
      <Unobserved document={document} />
      {actions.length === 0 ? null : <PlannedActions actions={actions} name={name} />}
      {deferred.length === 0 ? null : (
        <ul class="planned">
          {deferred.map(({ resource, summary }) => (
            <li key={resource}>
              <h3>
                <Link to={resourceAddress(name, resource)}>{resource}</Link>
              </h3>
              <p>
                <Icon name="clock" /> {summary}
              </p>
            </li>
          ))}
        </ul>
      )}
      <HoldList holds={holds} name={name} />
      {notes.length === 0 ? null : (
        <ul class="plan-notes">
          {notes.map((note) => (
            <li key={`${note.code} ${note.message}`}>
              <Icon name="info" />
              <div>
                {note.message}
                <Changes changes={note.changes ?? []} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function HoldList({ holds, name }: { readonly holds: readonly Hold[]; readonly name: string }) {
  return (
    <>
      {holds.map((hold) => (
        <div key={`${hold.resource} ${hold.code}`} class="app-notice warn">
          <Icon name="hand" />
          <div>
            <h3>
              <Link to={resourceAddress(name, hold.resource)}>{hold.resource}</Link>
            </h3>
            <HoldText hold={hold} />
          </div>
        </div>
      ))}
    </>
  );
}

/** Errors in place of a plan. */
function Unobserved({ document }: Pick<PlanBodyProps, 'document'>) {
  return (
    <>
      {document.unobserved.map(({ code, message, remedy }) => (
        <div key={code} class="app-notice bad">
          <Icon name="alert" />
          <div>
            <p>
              <strong>It could not be observed, so nothing is planned:</strong> {message}{' '}
              <code class="code">{code}</code>
            </p>
            <Remedy text={remedy} />
          </div>
        </div>
      ))}
    </>
  );
}

function Headline({ document }: { readonly document: PlanDocument }) {
  const { summary, scopes, unobserved, revision, digest } = document;
  const hasChanges = scopes.some(({ actions, deferred }) => actions.length + deferred.length > 0);
  return (
    <div class="plan-head">
      <p>
        <strong>
          {hasChanges ? `Plan: ${countsText(summary)}` : `No changes${unobserved.length > 0 ? ' known' : ''}`}
        </strong>
        {summary.held === 0 ? '' : `, ${summary.held} held`}.{' '}
        <span class="soft">
          {amount(summary.inSync, 'resource')} in sync, {amount(summary.unchangedFields, 'unchanged field')} not shown.
        </span>
      </p>
      <dl class="app-facts">
        {revision === null ? null : (
          <div>
            <dt>Revision</dt>
            <dd>
              <Revision revision={revision} />
            </dd>
          </div>
        )}
        {hasChanges ? (
          <div>
            <dt>Digest</dt>
            <dd>
              <Copyable text={digest} what="the digest" />
            </dd>
          </div>
        ) : null}
      </dl>
    </div>
  );
}

/** The refusals of guards, and the approval of exactly this plan where one is possible. */
function Approval({ document, shown, reload }: PlanBodyProps) {
  const { approval } = shown.details;
  const refusals = approval?.refusals ?? document.refusals;
  if (refusals.length === 0) return null;
  return (
    <div class="app-notice warn approval">
      <Icon name="hand" />
      <div>
        <p>
          <strong>{approval === null ? 'A guard refuses this plan' : 'This plan waits for an approval'}</strong>
        </p>
        <ul class="plain-list">
          {refusals.map(({ code, message, override }) => (
            <li key={`${code} ${message}`}>
              {message} <code class="code">{code}</code>
              {approval === null ? <p class="remedy">To allow it: {override}.</p> : null}
            </li>
          ))}
        </ul>
        {approval === null ? null : (
          <p class="buttons start">
            <ActionButton
              action={approveAction(shown.name, document, approval)}
              permissions={shown.permissions}
              onDone={() => {
                shown.reload();
                reload();
              }}
            />
          </p>
        )}
      </div>
    </div>
  );
}

function approveAction(
  name: string,
  { scopes, digest, summary }: PlanDocument,
  { refusals, digest: held }: ApprovalNeeded,
): Action {
  const [scope] = scopes;
  const actions = scope?.actions.filter(({ continues }) => continues === undefined) ?? [];
  return {
    label: 'Approve this plan',
    icon: 'check',
    tone: 'primary',
    needs: 'approve',
    impossible: held === digest ? undefined : changedText(held, digest),
    question: `Approve the plan of ${name}?`,
    confirm: 'Approve',
    effect: (
      <>
        <p>
          The controller carries out exactly this plan at once: {countsText(summary)}. A plan that differs in any way is
          held again.
        </p>
        <ul class="plain-list">
          {actions.map(({ id, resource, summary: what }) => (
            <li key={id}>
              {resource}: {what}
            </li>
          ))}
        </ul>
        <p>You overrule: {refusals.map(({ message }: Refusal) => message).join('; ')}.</p>
        <p class="soft">
          Digest <code>{digest}</code>
        </p>
      </>
    ),
    run: async () => {
      await send('/api/v1/applications/{name}/approve', { params: { name }, body: { digest } });
      return `The plan ${digest.slice(0, 12)} of ${name} is approved. Its events show the result.`;
    },
  };
}

function changedText(held: string, shown: string): string {
  return `The plan has changed: the controller holds ${held.slice(0, 12)}, and this page shows ${shown.slice(0, 12)}. Sync the application, and look at its plan again.`;
}
