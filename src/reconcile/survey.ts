import PQueue from 'p-queue';
import type { ApplyWorld } from './apply/world.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { errorFacts, invalidInput, PortolanError } from '../model/errors.ts';
import { scopeKey } from '../model/ids.ts';
import type { OwnedObject } from '../model/owned.ts';
import { inParts } from '../model/parts.ts';
import { planDigestParts } from '../plan/digest.ts';
import { planDocument, type PlanDocument, type UnobservedScope } from '../plan/document.ts';
import { type Orphan, orphanNotes, orphansOf, type UnresolvedApplication } from '../plan/orphans.ts';
import { observeOnly } from './policies/observe-only.ts';
import type { RunPolicy } from './policies/run.ts';
import type { PassOptions, Prepared, Work } from './work.ts';
import { compareText } from '../model/text.ts';

/** The state of every application, and the plan of all of them. */
export interface Survey {
  readonly prepared: readonly Prepared[];
  readonly errors: readonly { readonly application: string; readonly error: PortolanError }[];
  /** The orphans of the whole source, also if only some of its applications were surveyed. */
  readonly orphans: readonly Orphan[];
  /** A guard over the run as a whole refused it: nothing may be sent for any application. */
  readonly isRefused: boolean;
  readonly document: PlanDocument;
}

export interface SurveyInput {
  readonly works: readonly Work[];
  readonly options: PassOptions;
  readonly ledger: Ledger;
  readonly source: string;
  /** Revision of the source; null for plain files. */
  readonly revision: string | null;
  /** Applications looked at side by side. */
  readonly parallelism: number;
  world(work: Work): ApplyWorld;
  readonly policy: RunPolicy;
  /**
   * Returns the applications of the source that are not surveyed; `unknown`: there may be any. Called only where an
   * object would be called orphaned. Absent: there are none.
   */
  readonly besides?: () => Promise<readonly Work[] | 'unknown'>;
  /** Called between two long steps, so that the event loop of the process can do other work. */
  readonly pause?: () => Promise<void>;
}

/** Observes and plans every application, several at once; one that fails is reported and delays no other. */
export async function survey(input: SurveyInput): Promise<Survey> {
  const prepared: Prepared[] = [];
  const errors: { application: string; error: PortolanError }[] = [];
  const queue = new PQueue({ concurrency: input.parallelism });
  await queue.addAll(
    input.works.map((work) => async () => {
      try {
        await input.pause?.();
        prepared.push(await observeOnly(work, input.world(work), input.options));
      } catch (error) {
        // An interrupted read sent nothing, and its partial result is not a plan.
        if (!(error instanceof PortolanError) || error.code === 'platform/stopped') throw error;
        errors.push({ application: work.application.id, error });
      }
    }),
  );
  await input.pause?.();
  const sound = withoutShared(prepared, errors);
  sound.sort((left, right) => compareText(left.work.application.id, right.work.application.id));
  errors.sort((left, right) => compareText(left.application, right.application));
  const owned = input.options.ledgerKnown
    ? (await input.ledger.objects({ source: input.source })).filter((object) => object.state !== 'gone')
    : [];
  const ofRun = await input.policy(sound, owned);
  const refusals = [...sound.flatMap((one) => one.refusals), ...ofRun];
  const plans = sound.map(({ plan }) => plan);
  const digests = await inParts(planDigestParts(plans), async () => await input.pause?.());
  const orphans = await findOrphans(input, owned, sound, errors);
  return {
    prepared: sound,
    errors,
    orphans,
    isRefused: ofRun.length > 0,
    document: planDocument(
      {
        source: input.source,
        revision: input.revision,
        ledger: input.options.ledgerKnown ? 'known' : 'none',
        scopes: plans,
        unobserved: errors.map(unobserved),
        refusals,
        notes: orphanNotes(orphans),
      },
      digests,
    ),
  };
}

async function findOrphans(
  { works, besides }: SurveyInput,
  owned: readonly OwnedObject[],
  sound: readonly Prepared[],
  errors: Survey['errors'],
): Promise<readonly Orphan[]> {
  const failed = new Set(errors.map(({ application }) => application));
  const unresolved = works.filter(({ application }) => failed.has(application.id)).map(unresolvedOf);
  const found = orphansOf(owned, new Set(sound.map(({ scope }) => scopeKey(scope))), unresolved);
  const others = found.length === 0 ? [] : ((await besides?.()) ?? []);
  if (others === 'unknown') return [];
  return orphansOf(
    found.flatMap(({ objects }) => objects),
    new Set(),
    others.map(unresolvedOf),
  );
}

/** Returns an application as its manifest names it. */
export function unresolvedOf({ application: { spec } }: Work): UnresolvedApplication {
  return { platform: spec.platform, region: spec.region, appId: spec.appId };
}

/** Two documents that resolve to one application would undo each other: neither is touched. */
function withoutShared(
  prepared: readonly Prepared[],
  errors: { application: string; error: PortolanError }[],
): Prepared[] {
  const sound: Prepared[] = [];
  for (const [scope, claimants] of Map.groupBy(prepared, ({ scope: of }) => scopeKey(of))) {
    if (claimants.length === 1) sound.push(...claimants);
    else {
      const error = sharedScope(
        scope,
        claimants.map(({ work }) => work),
      );
      for (const { work } of claimants) errors.push({ application: work.application.id, error });
    }
  }
  return sound;
}

/** Returns the error for several documents that name the same application. */
export function sharedScope(scope: string, works: readonly Work[]): PortolanError {
  const names = works
    .map(({ application: { id, position } }) => `${id} (${position.file}:${position.line})`)
    .sort()
    .join(' and ');
  return invalidInput(
    'application/same-scope',
    `${names} are the same application ${scope}; nothing was done for either`,
    'Keep one of them and let the other documents name it.',
  );
}

function unobserved({ application, error }: Survey['errors'][number]): UnobservedScope {
  return { application, ...errorFacts(error) };
}
