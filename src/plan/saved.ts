import { hash } from 'node:crypto';
import { PortolanError } from '../model/errors.ts';
import { canonicalJson, type Json, plainJson } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import type { PlanDocument } from './document.ts';
import type { Succession } from './guard.ts';
import { planDigest } from './digest.ts';

/**
 * A plan in a file, with all it takes to make it again: `apply FILE` observes anew, plans the same wishes with the same
 * permissions, and goes on only if that gives the same plan. It has no secret: neither manifests nor plans know one.
 */
export interface SavedPlan {
  readonly format: typeof FORMAT;
  /** Rises when an older reader would misread it. */
  readonly formatVersion: 1;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly savedMs: number;
  readonly savedBy: string;
  readonly plan: PlanDocument;
  readonly desired: readonly Resource[];
  /** Of the manifests; null for plain files. */
  readonly commit: { readonly id: string; readonly name: string } | null;
  /** What the source had been applied from before, and how the commit stands to that; null: from nothing. */
  readonly basis: {
    readonly snapshot: string;
    readonly commit: string;
    readonly descent: Succession['descent'] | null;
  } | null;
  /** null: there was no ledger yet. */
  readonly ledger: { readonly lineage: string } | null;
  /** Where the names in it led to: another address is another platform. */
  readonly platforms: readonly { readonly name: string; readonly url: string }[];
  readonly stores: readonly {
    readonly name: string;
    readonly url: string;
    readonly domain: string;
    readonly type: string;
  }[];
  readonly allowed: PlanAllowances;
  /** Arguments of `portolan plan` that make a plan like this one; without values of variables. */
  readonly command: readonly string[];
}

/** What a plan was made with, beyond the manifests. */
export interface PlanAllowances {
  readonly prune: boolean;
  /** `all`, or `Kind/name`. */
  readonly adopt: 'all' | readonly string[];
  /** null: everything. */
  readonly targets: readonly string[] | null;
  /** null: as the operator's settings say when it is carried out. */
  readonly maxShare: number | null;
  readonly maxPrunes: number | null;
  readonly allowEmpty: boolean;
  readonly allowShrunk: boolean;
  readonly allowRewind: boolean;
  /** Scopes that a first install may go into; absent in files of earlier versions. */
  readonly firstInstall?: readonly string[];
}

const FORMAT = 'portolan-saved-plan';
const FORMAT_VERSION = 1;

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
  if (!isRecord(value) || value['format'] !== FORMAT) throw notSaved(file);
  const { checksum, ...content } = value;
  if (value['formatVersion'] !== FORMAT_VERSION) throw otherVersion(file, value['formatVersion']);
  if (!fits(checksum, content)) throw damaged(file);
  const saved = content as unknown as SavedPlan;
  if (!isPlan(content) || saved.plan.digest !== planDigest(saved.plan.scopes)) throw inconsistent(file);
  return saved;
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
    return undefined; // Then it is no saved plan.
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notSaved(file: string): PortolanError {
  return new PortolanError({
    code: 'plan/not-a-saved-plan',
    disposition: 'invalid',
    message: `${file} is not a file that plan --save wrote. Nothing was done.`,
    remedy: 'Name such a file; manifests are named with -f, as in portolan apply -f manifests/.',
  });
}

function otherVersion(file: string, version: unknown): PortolanError {
  return new PortolanError({
    code: 'plan/saved-by-another-version',
    disposition: 'invalid',
    message: `${file} has format ${JSON.stringify(version)} of saved plans, and this Portolan reads format ${FORMAT_VERSION}. Nothing was done.`,
    remedy: 'Plan again with the Portolan that is to apply it.',
  });
}

function damaged(file: string): PortolanError {
  return new PortolanError({
    code: 'plan/saved-damaged',
    disposition: 'invalid',
    message: `${file} is not as it was written: its checksum does not fit. Nothing was done.`,
    remedy: 'Fetch it again from where it was saved, or plan again. A saved plan cannot be edited.',
  });
}

function inconsistent(file: string): PortolanError {
  return new PortolanError({
    code: 'plan/saved-inconsistent',
    disposition: 'invalid',
    message: `${file} does not hold together: its parts are not those of a plan. Nothing was done.`,
    remedy: 'Plan again with the Portolan that is to apply it, and look into where this file comes from.',
  });
}
