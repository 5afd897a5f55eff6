import type { Action, FieldChange, Hold } from '../../../model/plan.ts';
import type { ResourceDetails } from '../../../model/resource-details.ts';
import { arrowText, CAUSE_WORDS, changeAside, shownChanges, SYMBOL } from '../../../plan/words.ts';
import { Icon } from '../../parts/icon.tsx';
import { Link } from '../../parts/link.tsx';
import { Words } from '../../parts/words.tsx';
import { addressOf, resourceAddress } from './data.ts';

/** The pending requests of one resource, with the way to the plan. */
export function Pending({ actions, name }: { readonly actions: ResourceDetails['pending']; readonly name: string }) {
  if (actions.length === 0) return null;
  return (
    <section>
      <h3>Pending changes</h3>
      <ul class="pending-list">
        {actions.map(({ id, summary, cause, effects }) => (
          <li key={id}>
            {summary} <span class="soft">({CAUSE_WORDS[cause]})</span>
            {effects.map((effect) => (
              <p key={effect} class="soft">
                also: {effect}
              </p>
            ))}
          </li>
        ))}
      </ul>
      <p>
        <Link to={addressOf(name, '/plan')}>The whole plan</Link>
      </p>
    </section>
  );
}

/** The actions of a plan, worded as on the command line. */
export function PlannedActions({ actions, name }: { readonly actions: readonly Action[]; readonly name: string }) {
  const groups = Map.groupBy(
    actions.filter(({ continues }) => continues === undefined),
    ({ resource }) => resource,
  );
  return (
    <ul class="planned">
      {[...groups].map(([resource, its]) => (
        <li key={resource}>
          <h3>
            <Link to={resourceAddress(name, resource)}>{resource}</Link>
          </h3>
          <ul>
            {its.map((action) => (
              <PlannedAction key={action.id} action={action} />
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function PlannedAction({ action }: { readonly action: Action }) {
  const { verb, summary, cause, effects } = action;
  return (
    <li class={`written ${verb}`}>
      <p>
        <code class="symbol" aria-label={verb}>
          {SYMBOL[verb]}
        </code>{' '}
        <strong>{summary}</strong> <span class="soft">({CAUSE_WORDS[cause]})</span>
      </p>
      <Changes changes={shownChanges(action)} cause={cause} />
      {effects.map((effect) => (
        <p key={effect} class="also">
          <Icon name="info" /> also: {effect}
        </p>
      ))}
    </li>
  );
}

/** The changes of fields: `alias: "WEB" → "SITE"`. */
export function Changes({
  changes,
  cause,
}: {
  readonly changes: readonly FieldChange[];
  readonly cause?: FieldChange['cause'] | undefined;
}) {
  if (changes.length === 0) return null;
  return (
    <ul class="field-changes">
      {changes.map((change) => (
        <li key={change.path}>
          <code>
            {change.path}: {arrowText(change)}
          </code>
          {changeAside(change, cause).map((aside) => (
            <span key={aside} class="soft">
              {' '}
              {aside}
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}

/** A hold with its remedy. */
export function HoldText({ hold }: { readonly hold: Hold }) {
  return (
    <>
      <p>
        <strong>Held:</strong> {hold.message} <code class="code">{hold.code}</code>
      </p>
      <Changes changes={hold.changes} />
      <p class="remedy">
        <Icon name="right" /> <Words text={hold.remedy} />
      </p>
    </>
  );
}
