import { commitOf, shortRevision } from '../../model/revision.ts';
import type { ReceiverSettings } from '../../configuration/settings/notifications-spec.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Secret } from '../../model/secret.ts';
import type { ApplicationStatus, ConditionType, SourceStatus } from '../../model/status.ts';
import { safeLine } from '../../model/text.ts';
import { unreachable } from '../../model/unreachable.ts';
import { amount, cut } from '../../plan/words.ts';
import type { OutboundAnswer, OutboundMessage } from '../outbound.ts';
import { matchesLabels } from './rules.ts';

/** Status of a commit for a forge such as GitHub. */
export interface CommitVerdict {
  /** Full commit id. */
  readonly commit: string;
  readonly state: 'pending' | 'success' | 'failure';
  /** Text on one line, of any length. */
  readonly description: string;
}

type Standing = 'applied' | 'drifted' | 'failed' | 'approval' | 'suspended' | 'under-way';

/**
 * Returns the present status of the accepted commit. It is `success` when every application is in sync with it. A
 * suspended application does not delay that, and is named. Later drift does not change it.
 * @param labels selects the applications that count.
 */
export function commitVerdict(
  source: SourceStatus,
  applications: readonly ApplicationStatus[],
  labels: Readonly<Record<string, string>>,
): CommitVerdict | undefined {
  const commit = commitOf(source.acceptedRevision);
  if (commit === undefined) return undefined;
  const counted = applications.filter((application) => matchesLabels(labels, application.labels));
  const by = Map.groupBy(counted, (application) => standingOf(application, source.acceptedRevision));
  const count = (standing: Standing): number => by.get(standing)?.length ?? 0;
  const failed = by.get('failed') ?? [];
  const total = counted.length - count('suspended');
  const applied = count('applied') + count('drifted');
  const drifted = countOf(count('drifted'), 'drifted (only reported)');
  const aside = drifted + countOf(count('suspended'), 'suspended');
  if (failed.length > 0) {
    const names = failed.map(({ id, lastError }) => `${id}${lastError === null ? '' : ` (${lastError.code})`}`);
    return {
      commit,
      state: 'failure',
      description: `${failed.length} of ${total} failed: ${names.join(', ')}${aside}`,
    };
  }
  if (applied === total)
    return { commit, state: 'success', description: `${amount(total, 'application')} in sync${aside}` };
  const approval = countOf(count('approval'), 'waiting for approval');
  const description = `${applied} of ${amount(total, 'application')} in sync${approval}${aside}`;
  return { commit, state: 'pending', description };
}

function countOf(count: number, what: string): string {
  return count === 0 ? '' : `; ${count} ${what}`;
}

function standingOf(application: ApplicationStatus, revision: string | null): Standing {
  if (application.lastAppliedRevision === revision) return 'applied';
  if (application.pause?.type === 'suspended') return 'suspended';
  if (application.approval !== null) return 'approval';
  if (application.lastAttemptedRevision !== revision) return 'under-way';
  const is = (wanted: ConditionType): boolean =>
    application.conditions.some(({ type, status }) => type === wanted && status === 'True');
  if (is('Stalled') || (application.failures > 0 && application.lastError !== null)) return 'failed';
  // By annotation the difference is only reported, so the commit has nothing more to do here.
  const isReported = application.resources.some(({ drift, mode }) => drift !== null && mode !== 'heal');
  return isReported && !is('Reconciling') ? 'drifted' : 'under-way';
}

/** Returns the status of a rejected commit. */
export function refusal(commit: string, message: string): CommitVerdict {
  return { commit, state: 'failure', description: `rejected: ${message}` };
}

/** Returns the status of a commit that a newer one replaced before all of it was applied. */
export function superseded(commit: string, by: string): CommitVerdict {
  return { commit, state: 'pending', description: `superseded by ${shortRevision(by)} before all of it was applied` };
}

type Forge = 'github' | 'gitlab' | 'gitea';

/** Returns a status as the forge's API expects it. @param token its present value. */
export function statusMessage(
  type: Forge,
  { repository = '', url = defaultBase(type), context, link }: ReceiverSettings,
  { commit, state, description }: CommitVerdict,
  token: Secret,
): OutboundMessage {
  const message = (
    path: string,
    headers: OutboundMessage['headers'],
    facts: JsonObject,
    descriptionMax: number,
  ): OutboundMessage => ({
    url: `${url.replace(/\/+$/, '')}${path}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      ...facts,
      description: cut(safeLine(description), descriptionMax),
      ...(link === undefined ? {} : { target_url: link }),
    }),
  });
  switch (type) {
    case 'github': {
      const headers = {
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
        authorization: { prefix: 'Bearer ', value: token },
      };
      return message(`/repos/${repository}/statuses/${commit}`, headers, { state, context }, 140);
    }
    case 'gitlab': {
      const path = `/api/v4/projects/${encodeURIComponent(repository)}/statuses/${commit}`;
      const facts = { state: state === 'failure' ? 'failed' : state, name: context };
      return message(path, { 'private-token': { prefix: '', value: token } }, facts, 255);
    }
    case 'gitea': {
      const headers = { authorization: { prefix: 'token ', value: token } };
      return message(`/api/v1/repos/${repository}/statuses/${commit}`, headers, { state, context }, 255);
    }
    default:
      return unreachable(type);
  }
}

function defaultBase(type: Forge): string {
  return type === 'github' ? 'https://api.github.com' : 'https://gitlab.com';
}

/** Returns whether GitLab rejected a status because the commit has it already, which counts as success. */
export function isSetAlready({ status, text }: OutboundAnswer): boolean {
  return status === 400 && text.includes('Cannot transition status');
}
