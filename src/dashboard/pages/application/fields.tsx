import type { DifferenceActor, FieldValues } from '../../../model/resource-details.ts';
import { CAUSE_WORDS, valueText } from '../../../plan/words.ts';
import { Icon } from '../../parts/icon.tsx';
import { Time } from '../../parts/time.tsx';
import { Revision } from '../../parts/revision.tsx';

/** The fields with their three values: those that differ first, and the others folded below them. */
export function Fields({ fields }: { readonly fields: readonly FieldValues[] }) {
  const differing = fields.filter(({ state }) => state === 'differs');
  const others = fields.filter(({ state }) => state !== 'differs');
  if (fields.length === 0) return <p class="soft">The manifest manages no field of it.</p>;
  return (
    <>
      {differing.length === 0 ? null : <FieldTable fields={differing} caption="Fields that differ" />}
      {others.length === 0 ? null : (
        <details class="fold" open={differing.length === 0}>
          <summary>
            {others.length} {others.length === 1 ? 'field' : 'fields'}{' '}
            {others.every(isInSync) ? 'in sync' : 'not different'}
          </summary>
          <FieldTable fields={others} caption="Other fields" />
        </details>
      )}
    </>
  );
}

function isInSync({ state }: FieldValues): boolean {
  return state === 'in-sync';
}

function FieldTable({ fields, caption }: { readonly fields: readonly FieldValues[]; readonly caption: string }) {
  return (
    <table class="fields">
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Desired</th>
          <th scope="col">Live</th>
          <th scope="col">Last applied</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <FieldRow key={field.path} field={field} />
        ))}
      </tbody>
    </table>
  );
}

function FieldRow({ field }: { readonly field: FieldValues }) {
  const { path, state, desired, live, lastApplied, cause, actors, lastWrite } = field;
  const isDifferent = state === 'differs';
  return (
    <>
      <tr class={isDifferent ? 'differs' : undefined}>
        <th scope="row">
          <code>{path}</code>
        </th>
        <td data-title="Desired" class={isDifferent ? 'value-desired' : undefined}>
          <Value value={desired} none="not in the manifest" />
        </td>
        <td data-title="Live" class={isDifferent ? 'value-live' : undefined}>
          {state === 'hidden' ? (
            <span class="soft">not shown by the platform</span>
          ) : state === 'unknown' ? (
            <span class="soft">not compared</span>
          ) : (
            <Value value={live} none="does not exist" />
          )}
        </td>
        <td data-title="Last applied">
          <Value value={lastApplied} none="not recorded" />
        </td>
      </tr>
      {cause === null && lastWrite === null ? null : (
        <tr class={`why${isDifferent ? ' differs' : ''}`}>
          <td colSpan={4}>
            {cause === null ? null : (
              <span class="cause">
                <Icon name="differs" /> {CAUSE_WORDS[cause]}
                {actors.map((actor, at) => (
                  <span key={actor.type}>
                    {at === 0 ? ' by ' : ' and by '}
                    <Actor actor={actor} />
                  </span>
                ))}
              </span>
            )}
            {lastWrite === null ? null : (
              <span class="soft">
                Last applied <Time at={lastWrite.atMs} />
                {lastWrite.revision === null ? null : (
                  <>
                    {' '}
                    from <Revision revision={lastWrite.revision} />
                  </>
                )}
                {lastWrite.author === null ? '' : ` by ${lastWrite.author}`}
              </span>
            )}
          </td>
        </tr>
      )}
    </>
  );
}

function Value({ value, none }: { readonly value: FieldValues['desired']; readonly none: string }) {
  return value === undefined ? <span class="soft">{none}</span> : <code>{valueText(value)}</code>;
}

/** Who caused a difference. */
function Actor({ actor }: { readonly actor: DifferenceActor }) {
  switch (actor.type) {
    case 'commit':
      return (
        <>
          <Revision revision={actor.revision} />
          {actor.author === null ? '' : ` by ${actor.author}`}
          {actor.committedMs === null ? null : (
            <>
              {' '}
              (<Time at={actor.committedMs} />)
            </>
          )}
        </>
      );
    case 'platform':
      return (
        <>
          a user or a program on the platform
          {actor.sinceMs === null ? null : (
            <>
              , first seen <Time at={actor.sinceMs} />
            </>
          )}
        </>
      );
    case 'run':
      return (
        <>
          an earlier run{actor.actor === null ? '' : ` by ${actor.actor}`}
          {actor.atMs === null ? null : (
            <>
              {' '}
              <Time at={actor.atMs} />
            </>
          )}
        </>
      );
  }
}
