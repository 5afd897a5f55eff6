import { ATTENTION_KINDS, type AttentionKind, FLEET_STATES } from './fleet-words.ts';
import { resourceIdSchema as id } from './ids.ts';
import type { Doubt } from './manual.ts';
import * as s from './schema-words.ts';
import type { SourceProblem, StatusError } from './status.ts';

/** Answers about the whole fleet: rows of applications, commits with their progress, and items that require manual action. */

const fleetState = s.choice(
  'failing: the last attempt failed. held: it requires manual action. drifted: the platform was changed. pending: it is out of sync with git, or waits. unhealthy: in sync, but it does not run as it should. unknown: not compared. suspended: by a user.',
  FLEET_STATES,
);

const change = s.objectOf('The last write of Portolan to an application.', {
  doneMs: s.time,
  // The commit that last changed its manifests at that time.
  revision: s.text,
});
export type LastChange = s.TypeOf<typeof change>;

const rowSchema = s.objectOf('One application, as a row of a table.', {
  id,
  // `platform/team/region/appId`. null: it was not resolved yet.
  scope: s.nullable(s.text),
  platform: s.text,
  region: s.text,
  team: s.nullable(s.text),
  labels: s.textMap,
  state: fleetState,
  // The time since which it is in this state.
  sinceMs: s.time,
  // The reason of the state, in at most 200 characters; empty if it is in sync.
  reason: s.text,
  // Whether it runs as it should.
  health: s.literal('True', 'False', 'Unknown'),
  // The last revision that it was in sync with.
  revision: s.nullable(s.text),
  // null: Portolan has not changed it since this is recorded.
  change: s.nullable(change),
  resources: s.objectOf('The number of its resources, and of those that are not in sync.', {
    total: s.count,
    notReady: s.count,
  }),
});
export type ApplicationRow = s.TypeOf<typeof rowSchema>;

const counts = s.objectOf('The number of applications by state.', {
  failing: s.count,
  held: s.count,
  drifted: s.count,
  pending: s.count,
  unhealthy: s.count,
  unknown: s.count,
  suspended: s.count,
  'in-sync': s.count,
});
export type FleetCounts = s.TypeOf<typeof counts>;

const facet = s.arrayOf(
  s.objectOf('One value of a filter, and the number of applications that have it.', { value: s.text, count: s.count }),
);
const facets = s.objectOf(
  'The values of each filter that the other filters leave, the most frequent first; at most 50 of each.',
  {
    platform: facet,
    team: facet,
    region: facet,
  },
);
export type FleetFacets = s.TypeOf<typeof facets>;

/** Members of a list of applications besides its items. */
export const fleetMembers = {
  total: s.described(s.count, 'The number of applications that match all filters.'),
  counts: s.described(
    s.ref<FleetCounts>('FleetCounts'),
    'The number of applications by state that match all filters but the state.',
  ),
  'facets?': s.described(s.ref<FleetFacets>('FleetFacets'), 'Present if the query asks for facets.'),
};

const problem = s.ref<SourceProblem>('SourceProblem');

const waiting = s.objectOf('An application that has not applied the commit yet.', {
  application: id,
  state: fleetState,
  blocker: s.choice('The kind of the reason.', [
    'approval',
    'hold',
    'policy',
    'doubt',
    'failure',
    'suspended',
    'window',
    'region',
    'circuit',
    'removal-age',
    'install',
    'report-only',
    'pass',
  ]),
  // The reason, in at most 400 characters.
  reason: s.text,
  sinceMs: s.time,
  // The time at which it continues by itself; null where that is not known.
  untilMs: s.nullable(s.time),
});
export type WaitingApplication = s.TypeOf<typeof waiting>;

const commitMembers = {
  // `main@sha1:<id>`, or `files@sha256:<digest>` for plain files.
  revision: s.text,
  // The full id of the commit; for plain files, their digest.
  id: s.text,
  // null: not known, because the commit is not in the history that this controller has.
  author: s.nullable(s.text),
  subject: s.nullable(s.text),
  committedMs: s.nullable(s.time),
  // null: this controller did not read it by itself.
  observedMs: s.nullable(s.time),
  acceptedMs: s.nullable(s.time),
  state: s.choice(
    'reading: found, not parsed yet. rejected: not applied, because of its problems. applying: not all applications that it changed have applied it. applied: all have. superseded: a later commit is applied instead. contained: read together with a later commit, which contains it. not-accepted: in the repository, but not part of the accepted revision. unknown: not known, because it is older than the records.',
    ['reading', 'rejected', 'applying', 'applied', 'superseded', 'contained', 'not-accepted', 'unknown'],
  ),
  // The revision that was accepted after it, or that contains it.
  successor: s.nullable(s.text),
  // Why it was rejected.
  error: s.nullable(s.ref<StatusError>('StatusError')),
  progress: s.objectOf('The number of applications that it changed, by what became of the change.', {
    changed: s.count,
    applied: s.count,
    waiting: s.count,
    // A later commit changed the application before it had applied this one.
    superseded: s.count,
    // The records of the application do not reach back to this commit.
    unknown: s.count,
  }),
  // The number of applications that it removed, which are unmanaged since; null: not known.
  removed: s.nullable(s.count),
};
const commitSchema = s.objectOf('A commit, and its progress.', commitMembers);
export type CommitSummary = s.TypeOf<typeof commitSchema>;

const commitDetailsSchema = s.objectOf('A commit, its problems, and the applications that it changed.', {
  ...commitMembers,
  problems: s.described(s.arrayOf(problem), 'The first 20 problems.'),
  waiting: s.described(s.arrayOf(waiting), 'The first 100 applications that have not applied it.'),
  applied: s.described(
    s.arrayOf(s.objectOf('An application that applied the commit.', { application: id, appliedMs: s.time })),
    'The first 100 applications that have applied it, the latest first.',
  ),
});
export type CommitDetails = s.TypeOf<typeof commitDetailsSchema>;

const attentionKind = s.choice('The kind of the item.', ATTENTION_KINDS);

const attentionSchema = s.objectOf('Something that requires manual action.', {
  // Stable as long as the item exists.
  key: s.text,
  kind: attentionKind,
  sinceMs: s.time,
  application: s.nullable(id),
  resource: s.nullable(id),
  scope: s.nullable(s.text),
  code: s.text,
  message: s.text,
  remedy: s.text,
  // A command that does it, or that shows more; null: there is none.
  command: s.nullable(s.text),
  'digest?': s.described(s.text, 'The digest of the plan that waits for an approval.'),
  'problems?': s.described(s.arrayOf(problem), 'The places of the faults in the source.'),
  'doubt?': s.described(s.ref<Doubt>('Doubt'), 'The request without a known outcome.'),
});
export type AttentionItem = s.TypeOf<typeof attentionSchema>;

/** Members of a list of items besides them. */
export const attentionMembers = {
  total: s.described(s.count, 'The number of items that match all filters.'),
  counts: s.described(
    s.objectOf(
      'The number of items by kind; a kind without items is absent.',
      Object.fromEntries(ATTENTION_KINDS.map((kind) => [`${kind}?`, s.count])) as {
        readonly [K in AttentionKind as `${K}?`]: s.Schema<number>;
      },
    ),
    'The number of items by kind that match all filters but the kind.',
  ),
};

/** The schemas that the API refers to. */
export const fleetSchemas = {
  ApplicationRow: rowSchema,
  FleetCounts: counts,
  FleetFacets: facets,
  Commit: commitSchema,
  CommitDetails: commitDetailsSchema,
  AttentionItem: attentionSchema,
};
