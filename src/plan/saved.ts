import { hash } from 'node:crypto';
import { invalidInput } from '../model/errors.ts';
import { isRecord } from '../platform/fields.ts';
import { canonicalJson, type Json, plainJson } from '../model/json.ts';
import type { ResourceId } from '../model/ids.ts';
import {
  arrayOf,
  count,
  described,
  literal,
  nullable,
  number,
  objectOf,
  only,
  ref,
  type Schema,
  string,
  text,
  textMap,
  time,
  trueOrFalse,
  type TypeOf,
} from '../model/schema-words.ts';
import { formatVersion, type PlanDocument } from './document.ts';
import type { Succession } from './guard.ts';
import { planDigest } from './digest.ts';

const FORMAT = 'portolan-saved-plan';
const FORMAT_VERSION = 1;

const resource = objectOf('A manifest, checked, with its values filled in.', {
  id: string<ResourceId>('Kind/name.', { pattern: '^[^/]+/[^/]+$' }),
  kind: text,
  name: text,
  labels: textMap,
  annotations: textMap,
  spec: { type: 'object' } as Schema,
  position: objectOf('Position in its file.', { file: text, line: count, column: count }),
});

const allowances = objectOf('Permissions and limits beyond the manifests.', {
  prune: trueOrFalse,
  adopt: { anyOf: [only('all'), arrayOf(text)] } as Schema<'all' | readonly string[]>,
  targets: described(nullable(arrayOf(text)), 'null: everything.'),
  maxShare: described(nullable(number('', { minimum: 0, maximum: 1 })), 'null: as Settings say when it is applied.'),
  maxPrunes: nullable(count),
  allowEmpty: trueOrFalse,
  allowShrunk: trueOrFalse,
  allowRewind: trueOrFalse,
  'firstInstall?': described(arrayOf(text), 'Scopes. Absent in files of earlier versions.'),
});
export type PlanAllowances = TypeOf<typeof allowances>;

/** The format of a plan in a file. */
export const savedPlanSchema = objectOf('A plan in a file.', {
  format: only(FORMAT),
  formatVersion,
  savedMs: time,
  savedBy: text,
  plan: ref<PlanDocument>('Plan'),
  desired: arrayOf(resource),
  commit: described(nullable(objectOf('A commit.', { id: text, name: text })), 'null: the manifests are plain files.'),
  basis: nullable(
    objectOf('The snapshot applied before from this source; null: none.', {
      snapshot: text,
      commit: text,
      descent: nullable(literal<Succession['descent']>('descends', 'does-not-descend', 'unknown')),
    }),
  ),
  ledger: described(nullable(objectOf('The ledger.', { lineage: text })), 'null: there was no ledger yet.'),
  platforms: arrayOf(objectOf('A platform. Another URL is another platform.', { name: text, url: text })),
  stores: arrayOf(objectOf('A store.', { name: text, url: text, domain: text, type: text })),
  allowed: allowances,
  command: described(arrayOf(text), 'Arguments of portolan plan that make such a plan, without values of variables.'),
});

/**
 * A plan in a file, with everything needed to make it again: `apply FILE` observes, plans the same manifests with the same
 * permissions, and continues only if the result is the same plan. It holds no secret: neither manifests nor plans have one.
 */
export type SavedPlan = TypeOf<typeof savedPlanSchema>;

/** The text of a file: equal plans give equal texts. */
export function sealPlan(facts: Omit<SavedPlan, 'format' | 'formatVersion'>): string {
  const content = plainJson({ format: FORMAT, formatVersion: FORMAT_VERSION, ...facts }) as object;
  return canonicalJson({ ...content, checksum: checksumOf(content) });
}

/**
 * Reads such a text. A checksum shows that it is as it was written; it does not show who wrote it, so what is in it is
 * checked as manifests are before it is used.
 * @param file for messages.
 * @throws PortolanError `invalid` for what is none, is of another version, is damaged, or does not fit together.
 */
export function openPlan(text: string, file: string, isPlan: (value: unknown) => boolean): SavedPlan {
  const value = parsed(text);
  if (!isRecord(value) || value['format'] !== FORMAT)
    throw invalidInput(
      'plan/not-a-saved-plan',
      `${file} is not a file that plan --save wrote. Nothing was done.`,
      'Name such a file; manifests are named with -f, as in portolan apply -f manifests/.',
    );
  const { checksum, ...content } = value;
  if (value['formatVersion'] !== FORMAT_VERSION)
    throw invalidInput(
      'plan/saved-by-another-version',
      `${file} has format ${JSON.stringify(value['formatVersion'])} of saved plans, and this Portolan reads format ${FORMAT_VERSION}. Nothing was done.`,
      'Plan again with the Portolan that is to apply it.',
    );
  if (!fits(checksum, content))
    throw invalidInput(
      'plan/saved-damaged',
      `${file} is not as it was written: its checksum does not fit. Nothing was done.`,
      'Fetch it again from where it was saved, or plan again. A saved plan cannot be edited.',
    );
  const saved = content as unknown as SavedPlan;
  if (isPlan(content) && saved.plan.digest === planDigest(saved.plan.scopes)) return saved;
  throw invalidInput(
    'plan/saved-inconsistent',
    `${file} does not hold together: its parts are not those of a plan. Nothing was done.`,
    'Plan again with the Portolan that is to apply it, and look into where this file comes from.',
  );
}

function checksumOf(content: object): string {
  return hash('sha256', canonicalJson(content as Json));
}

function fits(checksum: unknown, content: object): boolean {
  try {
    return checksum === checksumOf(content);
  } catch (error) {
    // Nested deeper than anything that was ever written.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The text is not JSON, so it is not a saved plan.
  }
}
