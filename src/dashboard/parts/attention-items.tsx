import type { AttentionItem } from '../../model/fleet.ts';
import { basePath } from '../base.ts';
import { Copyable } from './copy.tsx';
import { ATTENTION, StateBadge } from './fleet-words.tsx';
import { applicationAddress, Link } from './link.tsx';
import { OrphanActions } from './orphan-actions.tsx';
import { ProblemPlaces } from './problem-places.tsx';
import { exactTime, Time } from './time.tsx';
import { Remedy } from './words.tsx';

/** Returns the address where an item can be dealt with; undefined: there is none. */
function placeOf({ kind, application, resource }: AttentionItem): string | undefined {
  if (application === null) return undefined;
  const address = applicationAddress(application);
  if (kind === 'approval') return `${address}/plan`;
  return resource === null ? address : `${address}?resource=${encodeURIComponent(resource)}`;
}

/** Commands that a running controller can carry out. */
const ON_SERVER = /^portolan (?:approve|resume|events|monitor|orphans|ledger (?:resolve|retry|forget|adopt|rebind)) ?/;

/** Returns a command with the address of this controller, if it accepts one. */
function onThisServer(command: string): string {
  if (!ON_SERVER.test(command) || command.includes('--server')) return command;
  return `${command} --server ${location.origin}${basePath.replace(/\/$/, '')}`;
}

/** One thing that requires manual action, with its remedy. */
export function AttentionEntry({ item }: { readonly item: AttentionItem }) {
  const { kind, sinceMs, application, resource, scope, message, remedy, command, problems = [], doubt, code } = item;
  const place = placeOf(item);
  const about = resource ?? application ?? scope ?? 'Source';
  return (
    <>
      <div class="entry-head">
        <StateBadge of={ATTENTION[kind]} />
        <h2>{place === undefined ? about : <Link to={place}>{about}</Link>}</h2>
        {resource === null || application === null ? null : (
          <span class="faint">
            of <Link to={applicationAddress(application)}>{application}</Link>
          </span>
        )}
        <span class="entry-time">
          <Time at={sinceMs} />
        </span>
      </div>
      <p>{message}</p>
      {problems.length === 0 ? null : <ProblemPlaces problems={problems} />}
      {doubt === undefined ? null : (
        <dl class="fact-grid">
          <div>
            <dt>Request</dt>
            <dd>
              {doubt.summary} <span class="code">{doubt.operation}</span>
            </dd>
          </div>
          <div>
            <dt>Sent</dt>
            <dd>{exactTime(doubt.sentMs)}</dd>
          </div>
          <div>
            <dt>Answer</dt>
            <dd>{doubt.answer ?? 'none'}</dd>
          </div>
          <div>
            <dt>Evidence</dt>
            <dd>{doubt.evidence ?? 'not observed since'}</dd>
          </div>
        </dl>
      )}
      <Remedy text={remedy} />
      <div class="entry-actions">
        {kind === 'approval' && place !== undefined ? (
          <Link to={place} class="button primary">
            View the plan
          </Link>
        ) : null}
        {scope !== null && application === null ? <OrphanActions scope={scope} /> : null}
        {command === null ? null : <Copyable text={onThisServer(command)} what="the command" />}
        <span class="code">{code}</span>
      </div>
    </>
  );
}
