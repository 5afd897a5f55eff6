import '../styles/fleet.css';
import type { ComponentChildren } from 'preact';
import type { CommitDetails } from '../../model/fleet.ts';
import { SHORT_LENGTH } from '../../model/revision.ts';
import { commitHeadline } from '../../views/commit-words.ts';
import { read } from '../api.ts';
import { useData } from '../data.ts';
import { authorName } from '../parts/author.ts';
import { Copyable } from '../parts/copy.tsx';
import { COMMITS, StateBadge, STATES } from '../parts/fleet-words.tsx';
import { applicationAddress, Link } from '../parts/link.tsx';
import { NewRows, useNewRows } from '../parts/new-rows.tsx';
import { PageFrame } from '../parts/page.tsx';
import { ProblemPlaces } from '../parts/problem-places.tsx';
import { useRefresh } from '../parts/refresh.ts';
import { Revision } from '../parts/revision.tsx';
import { WithData } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { Remedy } from '../parts/words.tsx';

/** `/commits/:sha`: whether a commit is live, and if not, why. */
export function Commit({ sha = '' }: Readonly<Record<string, string>>) {
  const commit = useData(sha, (signal) => read('/api/v1/commits/{sha}', { params: { sha }, signal }));
  const id = commit.data?.id ?? sha;
  useRefresh(commit.reload);
  return (
    <PageFrame title={`Commit ${id.slice(0, SHORT_LENGTH)}`} trail={<Link to="/">Overview</Link>}>
      <WithData of={commit}>{(found) => <Details commit={found} />}</WithData>
    </PageFrame>
  );
}

function Details({ commit }: { readonly commit: CommitDetails }) {
  const { state, progress, error, problems, waiting, applied, removed, successor } = commit;
  return (
    <>
      <section class="card commit-verdict" aria-label="Progress">
        <div class="commit-verdict-line">
          <StateBadge of={COMMITS[state]} />
          <p class="headline">{commitHeadline(commit)}</p>
        </div>
        {progress.changed === 0 ? null : <ProgressBar progress={progress} />}
        {successor === null ? null : (
          <p>
            {state === 'contained' ? 'Read as part of' : 'Followed by'} <Revision revision={successor} />.
          </p>
        )}
        {(removed ?? 0) === 0 ? null : (
          <p>
            It removed {removed} {removed === 1 ? 'application' : 'applications'} from git, which{' '}
            {removed === 1 ? 'is' : 'are'} unmanaged since.
          </p>
        )}
        <Facts commit={commit} />
      </section>
      {error === null ? null : (
        <section class="card" aria-label="Problems">
          <header>
            <h2>Why it was rejected</h2>
          </header>
          <div class="card-body">
            {problems.length === 0 ? <p>{error.message}</p> : <ProblemPlaces problems={problems} />}
            <Remedy text={error.remedy} />
          </div>
        </section>
      )}
      <WaitingTable waiting={waiting} all={progress.waiting} />
      {applied.length === 0 ? null : (
        <section class="card" aria-label="Applied">
          <header>
            <h2>Applied</h2>
            <span class="faint">{progress.applied.toLocaleString('en')}</span>
          </header>
          <ul class="columns">
            {applied.map(({ application, appliedMs }) => (
              <li key={application}>
                <Link to={applicationAddress(application)}>{application.slice(application.indexOf('/') + 1)}</Link>{' '}
                <span class="faint">
                  <Time at={appliedMs} />
                </span>
              </li>
            ))}
          </ul>
          <More shown={applied.length} all={progress.applied} />
        </section>
      )}
    </>
  );
}

/** The share of the applications that the commit changed and that have applied it. */
function ProgressBar({ progress: { applied, changed } }: Pick<CommitDetails, 'progress'>) {
  return (
    <span class="progress">
      <progress value={applied} max={changed} aria-label={`Applied to ${applied} of ${changed} applications`} />
      <span aria-hidden="true">
        {applied} of {changed}
      </span>
    </span>
  );
}

function Facts({ commit }: { readonly commit: CommitDetails }) {
  const { id, subject, author, committedMs, observedMs, acceptedMs } = commit;
  return (
    <dl class="fact-grid">
      {subject === null ? null : <Fact label="Subject">{subject}</Fact>}
      <Fact label="Commit">
        <Copyable text={id} what="the id of the commit" />
      </Fact>
      {author === null ? null : (
        <Fact label="Author">
          <span title={author}>{authorName(author)}</span>
        </Fact>
      )}
      {committedMs === null ? null : (
        <Fact label="Committed">
          <Time at={committedMs} />
        </Fact>
      )}
      <Fact label="Observed">{observedMs === null ? 'not by itself' : <Time at={observedMs} />}</Fact>
      <Fact label="Accepted">{acceptedMs === null ? 'no' : <Time at={acceptedMs} />}</Fact>
    </dl>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface WaitingProps {
  readonly waiting: CommitDetails['waiting'];
  readonly all: number;
}

function WaitingTable({ waiting, all }: WaitingProps) {
  const list = useNewRows(waiting, ({ application }) => application);
  if (waiting.length === 0) return null;
  return (
    <section class="card" aria-label="Waiting">
      <header>
        <h2>Waiting</h2>
        <span class="faint">{all.toLocaleString('en')}</span>
      </header>
      <NewRows rows={list} />
      <table class="fleet">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Application</th>
            <th scope="col">Why</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody ref={list.listRef}>
          {list.rows.map(({ application, state, reason, sinceMs, untilMs, blocker }) => (
            <tr key={application}>
              <td>
                <StateBadge of={STATES[state]} />
              </td>
              <th scope="row">
                <Link to={applicationAddress(application)}>{application.slice(application.indexOf('/') + 1)}</Link>
              </th>
              <td data-label="Why">
                <span>
                  {BLOCKERS[blocker] === undefined ? null : <strong>{BLOCKERS[blocker]} </strong>}
                  {reason}
                  {untilMs === null ? null : (
                    <>
                      {' '}
                      It continues <Time at={untilMs} />.
                    </>
                  )}
                </span>
              </td>
              <td data-label="Since">
                <Time at={sinceMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <More shown={waiting.length} all={all} />
    </section>
  );
}

function More({ shown, all }: { readonly shown: number; readonly all: number }) {
  return all > shown ? <footer class="pages">and {(all - shown).toLocaleString('en')} more</footer> : null;
}

/** Words before a reason that does not say by itself what blocks. */
const BLOCKERS: Readonly<Partial<Record<CommitDetails['waiting'][number]['blocker'], string>>> = {
  approval: 'Approval needed:',
  hold: 'Held:',
  policy: 'Denied by a policy:',
  doubt: 'Write in doubt:',
  failure: 'Failing:',
  'removal-age': 'Removal:',
  install: 'Install:',
  'report-only': 'Only reported:',
};
