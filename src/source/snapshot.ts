import { hash } from 'node:crypto';
import type { LedgerOperation } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { amendmentOf } from '../manifest/amended-set.ts';
import type { ResourceId, ScopeKey } from '../model/ids.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { Snapshot } from '../model/owned.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import { mayPrune, type Succession } from '../plan/guard.ts';
import type { SourceReading } from './feed.ts';

/** The commit of a snapshot of plain files. */
const NO_COMMIT = '-';

/** The commit that manifests were read from. */
type SnapshotCommit = Pick<SourceReading, 'descentFrom'> & { readonly id: string };

/** A source whose manifests were checked and planned. */
interface CheckedSource extends SourceLedger {
  /** `snapshotId` of the accepted resources. */
  readonly snapshot: string;
  /** Number of resources. */
  readonly objects: number;
  /** Undefined for plain files. */
  readonly commit: SnapshotCommit | undefined;
  /** An operator allowed the source to have far fewer resources than before. */
  readonly allowShrunk: boolean;
  readonly allowRewind: boolean;
  /** Returns operations of the same transaction. Default: none. */
  also?(accepted: Snapshot): Promise<readonly LedgerOperation[]>;
}

/** Length of the hexadecimal digest of a resource in its line. */
const DIGEST_CHARACTERS = 64;

/** Digests of resources, which stay the same objects while their files do not change. */
const digests = new WeakMap<Resource, string>();

/** The lines of a set in one text, and the offset of each. An amended set takes the text over and changes it. */
interface Text {
  readonly bytes: Buffer;
  readonly places: ReadonlyMap<ResourceId, number>;
}

/** Texts of amended sets, which may be amended again. Other sets have no text here. */
const texts = new WeakMap<DesiredState, Text>();

/** Returns the id of the resources of a source. It does not depend on file names. */
export function snapshotId(desired: DesiredState): string {
  return hash('sha256', amendedText(desired) ?? wholeText(desired)).slice(0, 32);
}

function wholeText(desired: DesiredState): string {
  let text = '';
  desired.forEach((resource) => (text += lineOf(resource)));
  return text;
}

/** Returns the text of an amended set; only the lines of changed resources are rewritten. */
function amendedText(desired: DesiredState): Buffer | undefined {
  const amendment = amendmentOf(desired);
  if (amendment === undefined) return undefined;
  const { before, changed } = amendment;
  const known = texts.get(desired);
  if (known !== undefined) return known.bytes;
  const text = (before && texts.get(before)) ?? textOf(desired);
  if (before !== undefined) texts.delete(before);
  texts.set(desired, text);
  for (const id of changed) {
    const [resource, at] = [desired.get(id), text.places.get(id)];
    if (resource === undefined || at === undefined) throw new Error(`${id} is not in the set that was amended`);
    // The same id, and a digest of the same length: the line stays where it is.
    text.bytes.write(lineOf(resource), at);
  }
  return text.bytes;
}

function textOf(desired: DesiredState): Text {
  const places = new Map<ResourceId, number>();
  let at = 0;
  desired.forEach(({ id }) => {
    places.set(id, at);
    at += Buffer.byteLength(id) + ' \n'.length + DIGEST_CHARACTERS;
  });
  return { bytes: Buffer.from(wholeText(desired)), places };
}

function lineOf(resource: Resource): string {
  return `${resource.id} ${digestOf(resource)}\n`;
}

function digestOf(resource: Resource): string {
  const known = digests.get(resource);
  if (known !== undefined) return known;
  const { labels, annotations, spec } = resource;
  const digest = hash('sha256', canonicalJson([labels, annotations, spec as Json]));
  digests.set(resource, digest);
  return digest;
}

/** Returns whether a snapshot was read from a commit, not from plain files. */
export function isOfCommit(snapshot: Snapshot | undefined): boolean {
  return snapshot !== undefined && snapshot.commit !== NO_COMMIT;
}

/** Returns the relation of a commit to the last accepted one; undefined when one of the two was plain files. */
export async function successionOf(
  commit: SnapshotCommit | undefined,
  last: Snapshot | undefined,
): Promise<Succession | undefined> {
  if (commit === undefined || last === undefined || last.commit === NO_COMMIT) return undefined;
  const descent = await commit.descentFrom(last.commit);
  return { commit: commit.id, before: last.commit, descent, isConfirmed: last.pruneOk };
}

/**
 * Records in the ledger that a source is accepted: after its guards pass, and before the first intent that refers to it.
 * @returns the snapshot in the ledger.
 */
export async function acceptSnapshot(checked: CheckedSource): Promise<Snapshot> {
  const { ledger, source, snapshot: id, objects: size, commit, allowShrunk, allowRewind, clock } = checked;
  const commitId = commit?.id ?? NO_COMMIT;
  const last = await ledger.lastSnapshot(source);
  const succession = allowRewind ? undefined : await successionOf(commit, last);
  const pruneOk = succession === undefined || mayPrune(succession);
  const named = String(allowShrunk ? size : Math.max(size, await largestSize({ ledger, source })));
  const isSame = last?.id === id && last.commit === commitId && last.pruneOk === pruneOk;
  const known = isSame && (await ledger.fact(sizeFact(source))) === named ? last : undefined;
  const snapshot = known ?? {
    id,
    source,
    commit: commitId,
    manifestHash: id,
    objects: size,
    pruneOk,
    acceptedMs: clock.now(),
  };
  const news: readonly LedgerOperation[] = [
    { op: 'accept-snapshot', snapshot },
    { op: 'set-fact', key: sizeFact(source), value: named },
    { op: 'record', event: 'snapshot', detail: { id, commit: commitId, objects: size } },
  ];
  const operations = [...(known === undefined ? news : []), ...((await checked.also?.(snapshot)) ?? [])];
  if (operations.length > 0) await recordOfSource(checked, operations);
  return snapshot;
}

/** An accepted source, and the scopes with removals. */
interface AcceptedSource extends SourceLedger {
  readonly desired: DesiredState;
  /**
   * Returns the scopes whose removals are done when the ledger has none of them left. Approved removals count as done.
   * `undefined`: not all scopes are known.
   */
  scopes(): ReadonlySet<ScopeKey> | undefined;
}

/**
 * Resets the largest size of the source to its present size, once all resources removed from git were removed from the platform:
 * by a command, after a delay, or after an approval. Until then, removals of several commits add up.
 */
export async function resetLargest({ desired, scopes, ...accepted }: AcceptedSource): Promise<void> {
  const { ledger, source } = accepted;
  if ((await largestSize(accepted)) <= desired.size) return;
  const open = scopes();
  if (open === undefined) return;
  const rows = await ledger.objects({ source });
  if (rows.some(({ state, scope, resource }) => state !== 'gone' && open.has(scope) && !desired.has(resource))) return;
  await recordOfSource(accepted, [{ op: 'set-fact', key: sizeFact(source), value: String(desired.size) }]);
}

/** Returns the largest number of resources of the source since all earlier removals were done. */
export async function largestSize({ ledger, source }: Pick<SourceLedger, 'ledger' | 'source'>): Promise<number> {
  return Number((await ledger.fact(sizeFact(source))) ?? 0);
}

function sizeFact(source: string): string {
  return `largest ${source}`;
}
