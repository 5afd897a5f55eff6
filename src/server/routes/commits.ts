import type { ControllerApi } from '../../controller/api.ts';
import type { CommitRecord } from '../../controller/commits.ts';
import type { CommitDetails } from '../../model/fleet.ts';
import { ref } from '../../model/schema-words.ts';
import type { FoundCommit } from '../../source/feed.ts';
import {
  commitDetails,
  commitSummaries,
  type CommitWorld,
  foundDetails,
  prefixOf,
  recordsOf,
} from '../../views/commits.ts';
import { placedPage } from '../paging.ts';
import { type RequestProblem, refusal } from '../problem.ts';
import { json, routesOf } from '../route.ts';
import { type ListQuery, pageQuery, partOf } from './queries.ts';

export const commitRoutes = routesOf({
  'GET /api/v1/commits': {
    operationId: 'listCommits',
    summary: 'Lists the newest commits that the controller read, with their progress, the newest first.',
    access: 'viewer',
    query: pageQuery,
    answers: partOf('Commit'),
    handle: ({ query }, { api }) => {
      const commits = commitSummaries(worldOf(api));
      return json(placedPage('commits', commits, query as ListQuery));
    },
  },
  'GET /api/v1/commits/{sha}': {
    operationId: 'getCommit',
    summary:
      'Returns what became of a commit: accepted or rejected, and which applications applied it or wait. The first digits of its id are enough.',
    access: 'viewer',
    // Git may be asked.
    waits: true,
    answers: { 200: { description: 'The commit.', schema: ref('CommitDetails') } },
    handle: async ({ params, signal }, { api }) => json(await commitNamed(api, params['sha'] ?? '', signal)),
  },
});

function worldOf(api: ControllerApi): CommitWorld {
  const { acceptedRevision } = api.status().source;
  return { commits: api.commits(), standings: api.standings(), acceptedRevision };
}

/** @throws RequestProblem when no commit has such an id, or several have. */
async function commitNamed(api: ControllerApi, text: string, signal: AbortSignal): Promise<CommitDetails> {
  const prefix = prefixOf(text);
  if (prefix === undefined)
    throw refusal(400, 'source/bad-commit', {
      detail: `"${text}" is not the id of a commit.`,
      remedy: 'Pass at least the first 4 digits (0-9, a-f) of the id, as git log shows them.',
    });
  const world = worldOf(api);
  const records = recordsOf(world.commits, prefix);
  const [record] = records;
  if (records.length > 1) throw ambiguous(prefix, records);
  if (record !== undefined) return commitDetails(record, world);
  const found = await api.findCommit(prefix);
  if (found.found === 'several') throw ambiguous(prefix, []);
  if (found.found !== 'one') throw unknownCommit(prefix, api.status().source);
  const accepted = world.commits.filter(({ acceptedMs }) => acceptedMs !== null);
  const containedIn = await firstThatContains(found, accepted, signal);
  const [newest] = accepted;
  const descent = newest === undefined ? 'unknown' : await found.descent(newest.id);
  const isAccepted = descent === 'unknown' ? undefined : descent === 'descends';
  return foundDetails({ ...found.commit, containedIn, isAccepted }, found.commit.id);
}

/**
 * Returns the oldest of the accepted commits that contains a commit. Each accepted commit contains the one before it, so it is
 * found by halving. If a rewind has broken that, the commit still contains it, but need not be the oldest.
 * @param accepted the newest first.
 */
async function firstThatContains(
  { descent }: Extract<FoundCommit, { found: 'one' }>,
  accepted: readonly CommitRecord[],
  signal: AbortSignal,
): Promise<CommitRecord | undefined> {
  let first: CommitRecord | undefined;
  let from = 0;
  let to = accepted.length;
  while (from < to) {
    const middle = first === undefined && from === 0 ? 0 : (from + to) >> 1;
    const record = accepted[middle] as CommitRecord;
    // Git is not asked for a client that has gone.
    signal.throwIfAborted();
    if ((await descent(record.id)) === 'descends') {
      first = record;
      from = middle + 1;
    } else to = middle;
  }
  return first;
}

function ambiguous(prefix: string, records: readonly CommitRecord[]): RequestProblem {
  const names = records.slice(0, 5).map(({ id }) => id.slice(0, prefix.length + 8));
  const several = names.length === 0 ? 'Several commits' : `${names.join(', ')} and possibly others`;
  return refusal(409, 'source/ambiguous-commit', {
    detail: `${several} begin with ${prefix}.`,
    remedy: 'Pass more digits of the id.',
  });
}

function unknownCommit(prefix: string, { location }: { readonly location: string }): RequestProblem {
  return refusal(404, 'source/unknown-commit', {
    detail: `${location} has no commit ${prefix}, as it was last read.`,
    remedy:
      'Check that it was pushed to the branch that the controller follows. A commit that was rebased or squashed has another id there. A fetched repository has only its newest commits.',
  });
}
