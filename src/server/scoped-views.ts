import type { Standing, Within } from '../controller/api.ts';
import type { CommitRecord } from '../controller/commits.ts';
import { outsideScope } from '../controller/plan-bounds.ts';
import { errorFacts } from '../model/errors.ts';
import { type ResourceId, scopeKey } from '../model/ids.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import type { ApplicationStatus, ControllerEvent, ControllerStatus, StatusError } from '../model/status.ts';
import { planDocument } from '../plan/document.ts';
import { compareText } from '../model/text.ts';
import { amount } from '../plan/words.ts';

/** Views for a caller who may see only some applications: others appear only as a number. */

/** Returns the status for some applications. @param status counts only these already. @param all all applications. */
export function limitedStatus(
  status: ControllerStatus,
  all: readonly ApplicationStatus[],
  isWithin: Within,
): ControllerStatus {
  const { problems: _, ...source } = status.source;
  const faults = all.filter((one) => !isWithin(one.scope) && isFaulty(one)).length;
  const resources = all.reduce((sum, one) => sum + (isWithin(one.scope) ? one.resources.length : 0), 0);
  return {
    ...status,
    source: { ...source, error: source.error && faultOutside(source.error), resources },
    regions: status.regions.map((region) => ({ ...region, message: '' })),
    outside: { faults },
  };
}

/** Returns whether an application fails, or requires manual action. */
function isFaulty({ failures, conditions }: ApplicationStatus): boolean {
  return failures > 0 || conditions.some(({ type, status }) => type === 'Stalled' && status === 'True');
}

/** A fault of the source names files and applications, which the caller may not see. */
function faultOutside({ atMs }: StatusError): StatusError {
  return {
    code: 'source/outside-scope',
    message: `${faultsOutside(1)}.`,
    remedy: 'Ask someone whose role covers everything: portolan status shows it.',
    atMs,
  };
}

/**
 * Returns commits without facts about other applications. The author and the subject of a commit show only if it changed an
 * application that the caller may see.
 * @param standings the applications that the caller may see.
 */
export function limitedCommits(
  commits: readonly CommitRecord[],
  standings: readonly Standing[],
): readonly CommitRecord[] {
  const known = new Set(standings.flatMap(({ kept }) => kept.commits.map(({ revision }) => revision)));
  return commits.map((commit) => ({
    ...commit,
    ...(known.has(commit.revision) ? {} : { author: null, subject: null }),
    error: commit.error && faultOutside(commit.error),
    problems: [],
    changed: null,
    removed: null,
  }));
}

/** `1 fault outside your scope`. */
function faultsOutside(count: number): string {
  return `${amount(count, 'fault')} outside your scope`;
}

/** Returns an event as the caller may see it; undefined: not at all. */
export function limitedEvent(event: ControllerEvent, isVisible: Within): ControllerEvent | undefined {
  if (isVisible(event.scope)) return event;
  if (event.application !== null || event.scope !== null) return undefined;
  const shared = SHARED_FACTS[event.type];
  if (shared === undefined) return event.type.startsWith('controller.') ? event : undefined;
  return { ...event, ...shared, labels: {}, resource: null, detail: null };
}

/** The part of an event that every caller may see. The details of these events name applications, files and authors, or quote the configuration. */
const SHARED_FACTS: Readonly<Record<string, Pick<ControllerEvent, 'severity' | 'message'>>> = {
  'controller.reload-refused': { severity: 'error', message: 'a changed configuration was refused' },
  'source.observed': { severity: 'info', message: 'a new revision was read' },
  'source.accepted': { severity: 'info', message: 'the revision was accepted' },
  'source.recovered': { severity: 'info', message: 'the source can be read again' },
  'source.refused': { severity: 'error', message: faultsOutside(1) },
  'source.failed': { severity: 'error', message: faultsOutside(1) },
};

/** Returns a plan without the applications that the caller may not see, and without notes about the whole source. */
export function limitedPlan(document: PlanDocument, isVisible: Within): PlanDocument {
  const [shown = [], hidden = []] = [true, false].map((wanted) =>
    document.scopes.filter(({ scope }) => isVisible(scopeKey(scope)) === wanted),
  );
  if (hidden.length === 0) return { ...document, notes: [] };
  const facts = hidden.map(({ application }) => ({
    application,
    ...errorFacts(outsideScope(application as ResourceId)),
  }));
  const unobserved = [...document.unobserved, ...facts].sort((left, right) =>
    compareText(left.application, right.application),
  );
  return planDocument({ ...document, scopes: shown, unobserved, notes: [] });
}
