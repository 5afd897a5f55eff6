import { defineKind } from '../../../src/kinds/define.ts';
import type { Exported } from '../../../src/kinds/export.ts';
import { inBoth, UPDATE } from '../../../src/kinds/field-effects.ts';
import type { KindDeclaration } from '../../../src/kinds/kind.ts';
import type { Readable } from '../../../src/model/reading.ts';
import {
  type DiffContext,
  type Difference,
  noDifference,
  presentRecordOf,
  type Recording,
  type StepProposal,
  type WithdrawBase,
} from '../../../src/kinds/reconciled.ts';
import { API_VERSION, nameOf } from '../../../src/kinds/schema.ts';
import type { OwnedObject } from '../../../src/model/owned.ts';
import { keyOf as readingOf, type Reading } from '../../../src/model/reading.ts';
import { recordOf, recordsOf } from '../../../src/platform/envelope.ts';
import type { Answer } from '../../../src/platform/answer.ts';
import { writeAddress } from '../../../src/platform/address.ts';
import type { ClassifierRow, WriteEvidence } from '../../../src/platform/verdict.ts';
import { type AppAddress, defineWrite, NO_EVIDENCE } from '../../../src/platform/writes.ts';
import { decides, recordReader, type RecordTable } from '../../../src/platform/record-fields.ts';

/** A kind that the program does not have: a line of text that an application shows to its visitors. */
export interface BannerSpec {
  readonly application: string;
  readonly text: string;
}

interface Banner {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

type BannerStep =
  | { readonly type: 'create'; readonly title: string; readonly text: string }
  | { readonly type: 'update'; readonly id: string; readonly title: string; readonly text: string }
  | { readonly type: 'delete'; readonly id: string; readonly title: string };

const specSchema = {
  type: 'object',
  additionalProperties: false,
  description: 'A line of text that an application shows to its visitors.',
  required: ['application', 'text'],
  properties: {
    application: nameOf('Application'),
    text: { type: 'string', minLength: 1, maxLength: 80, description: 'What it says.' },
  },
} as const;

export const bannerDeclaration: KindDeclaration<BannerSpec> = {
  kind: 'Banner',
  trust: 'manifest',
  effects: [inBoth('spec.text', UPDATE)],
  specSchema,
  examples: [
    {
      apiVersion: API_VERSION,
      kind: 'Banner',
      metadata: { name: 'sale' },
      spec: { application: 'shop', text: 'Everything must go' },
    },
  ],
  references: { 'spec.application': 'Application' },
  check: ({ spec }) =>
    spec.text === spec.text.trim()
      ? []
      : [{ code: 'banner/blank-edge', path: 'spec.text', message: 'the text begins or ends with a blank' }],
  identities: ({ name, spec }) => [{ key: `banner ${spec.application}/${name}`, path: 'metadata.name' }],
};

/** Its fields on the wire: answers are read by it, and bodies written. */
const table: RecordTable<Banner> = {
  id: decides('banner_id', 'id'),
  title: decides('title', 'text'),
  text: decides('text_body', 'text'),
};
const bannerOf = recordReader(table);

const listBanners: Reading<readonly Banner[]> = {
  operation: 'listBanners',
  segments: ['banners'],
  decode: (json, where) => recordsOf(json, where).map(bannerOf),
  expected: { noun: 'a list of banners', fields: ['banner_id'] },
};

interface BannerEvidence extends WriteEvidence {
  readonly type: 'banner';
  readonly banner: Banner;
}

function isOfBanner(evidence: WriteEvidence): evidence is BannerEvidence {
  return evidence.type === 'banner';
}

const shownBanner = ({ json }: Answer): BannerEvidence => ({
  type: 'banner',
  banner: bannerOf(recordOf(json, 'banner')),
});

const rows: readonly ClassifierRow[] = [
  {
    id: 'banner-too-long',
    status: [400],
    msg: ['banner is too long'],
    verdict: 'rejected',
    reason: 'invalid',
    proof: { 'duplicate-rejecting': 'answer', 'target-state': 'answer' },
    why: 'The fake server checks the text before it stores anything.',
  },
];

interface OfBanner {
  readonly app: AppAddress;
  readonly id: string;
}
type Words = Omit<Banner, 'id'>;

const createBanner = defineWrite<Words & Pick<OfBanner, 'app'>>('createBanner', {
  method: 'POST',
  class: 'duplicate-rejecting',
  request: ({ app, title, text }) => ({
    path: writeAddress(app, 'banners'),
    body: { title, text_body: text },
  }),
  evidence: shownBanner,
  rows,
});

const updateBanner = defineWrite<Words & OfBanner>('updateBanner', {
  method: 'PUT',
  class: 'target-state',
  request: ({ app, id, title, text }) => ({
    path: writeAddress(app, 'banners', id),
    body: { title, text_body: text },
  }),
  evidence: shownBanner,
  rows,
});

const deleteBanner = defineWrite<OfBanner>('deleteBanner', {
  method: 'DELETE',
  class: 'target-state',
  request: ({ app, id }) => ({ path: writeAddress(app, 'banners', id) }),
  evidence: () => NO_EVIDENCE,
  rows,
});

type Live = Readable<readonly Banner[]>;
interface Seen {
  readonly banners: Live;
}

const keyOf = (title: string): string => `banner/${title}`;

const recordingOf = ({ id, title, text }: Banner, prior?: Pick<OwnedObject, 'origin'>): Recording => ({
  naturalKey: keyOf(title),
  remoteId: id,
  remoteAux: {},
  origin: prior?.origin ?? 'created',
  state: 'present',
  lastApplied: { text },
  obligation: null,
});

const proposal = (verb: 'create' | 'update' | 'delete', step: BannerStep): StepProposal<BannerStep> => ({
  key: step.type,
  step,
  verb,
  object: keyOf(step.title),
  summary: `${verb} banner ${step.title}`,
  changes: [],
  effects: [],
  after: [],
  needs: [],
  provides: [],
  prune: verb === 'delete',
});

function diff(context: DiffContext<BannerSpec, Live>): Difference<BannerStep> {
  const { resource, live, ledgerView, permissions } = context;
  const { text } = resource.spec;
  const key = keyOf(resource.name);
  const held = (code: string, message: string, remedy: string): Difference<BannerStep> => ({
    ...noDifference,
    claims: [key],
    holds: [{ code, message, remedy, changes: [] }],
  });
  if (!live.readable) return held('banner/unlisted', 'this server lists no banners', 'Use another server.');
  const banner = live.value.find(({ title }) => title === resource.name);
  const change = { field: 'text', path: 'text', after: text };
  if (banner === undefined) {
    const step = proposal('create', { type: 'create', title: resource.name, text });
    return { ...noDifference, claims: [key], steps: [{ ...step, changes: [change] }] };
  }
  const mine = presentRecordOf(ledgerView, 'Banner', key);
  if (mine === undefined && ledgerView.known && !permissions.adopt(resource.id))
    return held('banner/not-ours', `banner ${resource.name} exists`, `Run apply --adopt ${resource.id}.`);
  if (banner.text === text)
    return {
      ...noDifference,
      claims: [key],
      unchangedFields: 1,
      inSync: [recordingOf(banner, { origin: mine?.origin ?? 'adopted' })],
    };
  const step = proposal('update', { type: 'update', id: banner.id, title: resource.name, text });
  return { ...noDifference, claims: [key], steps: [{ ...step, changes: [{ ...change, before: banner.text }] }] };
}

function withdraw(object: OwnedObject, { banners, permissions }: WithdrawBase & Seen): Difference<BannerStep> {
  const banner = banners.readable ? banners.value.find(({ id }) => id === object.remoteId) : undefined;
  if (banner === undefined) return { ...noDifference, forget: [object.naturalKey] };
  if (!permissions.prune)
    return {
      ...noDifference,
      notes: [{ code: 'prune/not-asked', message: `apply --prune would delete ${object.resource}` }],
    };
  return {
    ...noDifference,
    steps: [proposal('delete', { type: 'delete', id: banner.id, title: banner.title })],
  };
}

export const bannerKind = defineKind<BannerSpec, Live, BannerStep, Seen>({
  kind: 'Banner',
  order: 40,
  diff,
  withdraw,
  view: {
    noun: 'banner',
    facts: ({ spec }) => `"${(spec as BannerSpec).text}"`,
    fields: ({ spec }, [row]) => [
      { path: 'text', desired: (spec as BannerSpec).text, lastApplied: row?.lastApplied['text'] },
    ],
  },
  exported: ({ live, application, nameFor }): Exported => {
    const found = live.ofKinds?.get('Banner') as Live | undefined;
    if (found?.readable !== true) return { documents: [], left: [], unseen: ['banners: not listed'] };
    const documents = found.value.map(({ title, text }) => ({
      kind: 'Banner',
      name: nameFor('Banner', title, title),
      spec: { application, text },
      remarks: [],
    }));
    return { documents, left: [], unseen: [] };
  },
  calls: {
    observe: ({ reader }) => reader.read(listBanners),
    observeWithdrawn: async ({ reader }) => ({ banners: await reader.read(listBanners) }),
    observeForExport: (reader) => reader.read(listBanners),
    preimage: () => null,
    touches: () => [readingOf(listBanners)],
    toWrite: (step, { app }) => {
      if (step.type === 'create') return createBanner({ app, title: step.title, text: step.text });
      return step.type === 'update'
        ? updateBanner({ app, id: step.id, title: step.title, text: step.text })
        : deleteBanner({ app, id: step.id });
    },
    applied: (step, { evidence, prior }) => {
      if (step.type === 'delete') return 'gone';
      if (isOfBanner(evidence)) return recordingOf(evidence.banner, prior);
      return recordingOf({ id: prior?.remoteId ?? '', title: step.title, text: step.text }, prior);
    },
    appliedManually: async (step, { id }) => ({
      recording: step.type === 'delete' ? 'gone' : recordingOf({ id: id ?? '', title: step.title, text: step.text }),
      warnings: [],
    }),
    resolve: async (step, { reader }) => {
      const banners = await reader.read(listBanners);
      if (step.type !== 'create') return { type: 'superseded', evidence: 'banners are read and compared again' };
      const banner = banners.readable ? banners.value.find(({ title }) => title === step.title) : undefined;
      return banner === undefined
        ? { type: 'absent-so-far', evidence: 'no banner of this title is listed' }
        : { type: 'applied', recording: recordingOf(banner), evidence: `banner ${banner.id} is listed` };
    },
  },
});
