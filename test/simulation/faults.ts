import type { WriteClass } from '../../src/model/owned.ts';

/** What a fault does to the effect of a write: nothing happens, it happens as it should, or only much later. */
export type Effect = 'none' | 'now' | 'late' | 'twice';

/** What the client gets: the genuine answer, none at all, a failure of the connection, or something else's answer. */
export type Answer =
  | { readonly type: 'genuine' }
  | { readonly type: 'silence' }
  | { readonly type: 'failure'; readonly failure: 'unsent' | 'ambiguous'; readonly code: string }
  | {
      readonly type: 'other';
      readonly status: number;
      /** Text is sent as it is, as a page. */
      readonly body: object | string;
      readonly retryAfter?: string;
    }
  /** The genuine answer, cut off, with another id in it, or as if the effect had happened. */
  | { readonly type: 'truncated' }
  | { readonly type: 'foreign' }
  | { readonly type: 'slow' };

export interface WriteFault {
  readonly name: string;
  readonly effect: Effect;
  readonly answer: Answer;
  /** Absent: any write. */
  readonly classes?: readonly WriteClass[];
  readonly operations?: readonly string[];
  /** A rejection, or a no in the platform's own words that no row of the classifier knows: counted as a failure of the object. */
  readonly rejects?: true;
}

const UNSURE = ['none', 'now', 'late'] as const;
const CREATIONS: readonly WriteClass[] = ['duplicate-rejecting', 'duplicate-accepting'];
const suffix = { none: 'before', now: 'after', late: 'late', twice: 'twice' } as const;

const page = (status: number): Answer => ({
  type: 'other',
  status,
  body: `<html><body><h1>${status}</h1><p>nginx</p></body></html>`,
});
const said = (status: number, code: number, msg: string | object, shown = ''): Answer => ({
  type: 'other',
  status,
  body: { code, msg, msg_show: shown, data: { bean: {}, list: [] } },
});
const asked = (status: number, retryAfter: string): Answer => ({
  type: 'other',
  status,
  body: { code: status, msg: 'slow down', msg_show: '' },
  retryAfter,
});
const failure = (code: string, kind: 'unsent' | 'ambiguous' = 'ambiguous'): Answer => ({
  type: 'failure',
  failure: kind,
  code,
});
const clusterTimeout = said(400, 10411, { status: 'failed', error: 'read timed out' }, '数据中心操作故障，请稍后重试');

const FILTERED = [401, 403, 404, 405, 413, 415];
const STORE_WRITES = ['install', 'upgrade'];
const STORE_DOWN: Answer = {
  type: 'other',
  status: 400,
  body: { code: 400, msg: null, msg_show: '请求失败，请检查网络和配置', data: { bean: {}, list: [] } },
};

function each(effects: readonly Effect[], name: string, answer: Answer, more: Partial<WriteFault> = {}): WriteFault[] {
  return effects.map((effect) => ({ name: `${name}-${suffix[effect]}`, effect, answer, ...more }));
}

/** Everything that may befall a write; names are those of the trace and of the counts. */
export const writeFaults: readonly WriteFault[] = [
  { name: 'refused', effect: 'none', answer: failure('ECONNREFUSED', 'unsent') },
  { name: 'no-such-host', effect: 'none', answer: failure('ENOTFOUND', 'unsent') },
  ...each(UNSURE, 'reset', failure('ECONNRESET')),
  ...each(UNSURE, 'timeout', { type: 'silence' }),
  ...each(UNSURE, 'status-500', said(500, 10401, 'server error', '<trace>')),
  ...each(UNSURE, 'page-502', page(502)),
  ...each(UNSURE, 'page-504', page(504)),
  ...each(['none', 'now'], 'page-503', page(503)),
  ...each(UNSURE, 'cluster-400', clusterTimeout),
  ...each(['none'], 'failed-400', said(400, 400, 'install app failure', '安装应用失败'), {
    classes: CREATIONS,
    rejects: true,
  }),
  // A 4xx after the work was committed.
  ...each(['now'], 'failed-400', said(400, 400, 'install app failure', '安装应用失败'), { classes: CREATIONS }),
  ...each(['none'], 'busy-409', said(409, 409, 'wait a moment please', '操作过于频繁，请稍后再试')),
  ...each(['now'], 'busy-409', said(409, 409, 'wait a moment please', '操作过于频繁，请稍后再试'), {
    classes: CREATIONS,
  }),
  ...each(['none'], 'status-429', asked(429, '7')),
  ...each(['none'], 'status-429-absurd', asked(429, '99999999')),
  ...each(['none'], 'status-429-date', asked(429, 'Fri, 20 Nov 2026 12:30:00 GMT')),
  ...each(['none'], 'status-503-retry-after', asked(503, '3')),
  ...each(['now'], 'status-503-retry-after', asked(503, '3'), { classes: CREATIONS }),
  ...each(['none', 'now'], 'licence-401', {
    type: 'other',
    status: 401,
    body: { code: 10400, msg: 'licence expired', msg_show: '' },
  }),
  ...each(['none'], 'forbidden-403', said(403, 403, 'forbidden')),
  // Proxies that filter answers: the same statuses before the platform and after it, without its shape or in it.
  ...FILTERED.flatMap((status) => each(['none', 'now'], `filtered-${status}`, page(status))),
  ...FILTERED.flatMap((status) =>
    each(['none', 'now'], `filtered-json-${status}`, {
      type: 'other',
      status,
      body: { code: status, message: 'blocked' },
    }),
  ),
  ...FILTERED.flatMap((status) =>
    each(['now'], `forged-${status}`, said(status, status, 'no'), { classes: ['duplicate-accepting'] }),
  ),
  ...each(['none'], 'store-key-403', said(403, 10407, 'no store permissions', '没有云应用商店操作权限,去认证'), {
    operations: ['install'],
    rejects: true,
  }),
  ...each(['now'], 'store-key-403', said(403, 10407, 'no store permissions', '没有云应用商店操作权限,去认证'), {
    operations: STORE_WRITES,
  }),
  ...each(['none'], 'store-down-400', STORE_DOWN, { operations: STORE_WRITES, rejects: true }),
  ...each(['now'], 'store-down-400', STORE_DOWN, { operations: STORE_WRITES }),
  ...each(['none'], 'store-model-404', said(404, 404, '{"msg":"app not found"}', '资源不存在'), {
    operations: STORE_WRITES,
    rejects: true,
  }),
  ...each(['none', 'now'], 'region-404', said(404, 404, 'region no found this resource'), { rejects: true }),
  ...each(['none'], 'status-412', said(412, 412, 'precondition failed'), { rejects: true }),
  ...each(
    ['none'],
    'validation-400',
    { type: 'other', status: 400, body: { detail: '参数错误', err: {}, code: 20400 } },
    {
      rejects: true,
      operations: ['addPort', 'updatePort', 'deletePort', 'createRule', 'updateRule', 'deleteRule', 'install'],
    },
  ),
  ...each(['none'], 'region-not-ready-409', said(409, 2001, 'region is not ready')),
  { name: 'truncated', effect: 'now', answer: { type: 'truncated' } },
  { name: 'other-shape', effect: 'now', answer: { type: 'other', status: 200, body: { ok: true } } },
  { name: 'foreign-id', effect: 'now', answer: { type: 'foreign' } },
  ...each(['none', 'now'], 'page-200', page(200)),
  ...each(['none', 'now'], 'failed-200', said(200, 500, 'failed')),
  ...each(['none'], 'redirect-302', { type: 'other', status: 302, body: '' }),
  ...each(['none'], 'redirect-307', { type: 'other', status: 307, body: '' }),
  ...each(['now'], 'too-large', failure('TOO_LARGE')),
  { name: 'slow-answer', effect: 'now', answer: { type: 'slow' } },
  // An intermediary delivers it twice: harmless where the server refuses or repeats the second.
  {
    name: 'delivered-twice',
    effect: 'twice',
    answer: { type: 'genuine' },
    classes: ['target-state', 'duplicate-rejecting'],
  },
  // Accepted, and nothing came of it: only where the answer proves nothing.
  {
    name: 'accepted-not-done',
    effect: 'none',
    answer: { type: 'other', status: 200, body: '' },
    classes: ['target-state'],
    rejects: true,
  },
];

export interface ReadFault {
  readonly name: string;
  readonly act: ReadAct;
  /** Only for answers that are lists. */
  readonly lists?: true;
  /** Absent: any read. */
  readonly operations?: readonly string[];
  /** The answer is believed although it is not true. */
  readonly lies?: true;
}

export type ReadAct =
  | { readonly type: 'answer'; readonly answer: Answer }
  /** Answered from some milliseconds ago, at most the time that two readings of an absence are apart. */
  | { readonly type: 'stale' }
  /** For a while, every such listing is empty. */
  | { readonly type: 'empty' }
  | { readonly type: 'no-list' }
  | { readonly type: 'shuffled' }
  | { readonly type: 'more-fields' };

const answered = (name: string, answer: Answer): ReadFault => ({ name, act: { type: 'answer', answer } });

/** Everything that may befall a read. */
export const readFaults: readonly ReadFault[] = [
  answered('read-refused', failure('ECONNREFUSED', 'unsent')),
  answered('read-reset', failure('ECONNRESET')),
  answered('read-timeout', { type: 'silence' }),
  answered('read-500', said(500, 10401, 'server error', '<trace>')),
  answered('read-502', page(502)),
  answered('read-429', asked(429, '2')),
  answered('read-429-absurd', asked(429, '99999999')),
  answered('read-503', asked(503, '3')),
  answered('read-cluster-400', clusterTimeout),
  answered('read-403', said(403, 403, 'forbidden')),
  { ...answered('read-store-400', STORE_DOWN), operations: ['listInstalled'] },
  answered('read-404-page', page(404)),
  answered('read-404-region', said(404, 404, 'region no found this resource')),
  answered('read-truncated', { type: 'truncated' }),
  answered('read-other-shape', { type: 'other', status: 200, body: { ok: true } }),
  answered('read-page-200', page(200)),
  answered('read-failed-200', said(200, 500, 'failed')),
  answered('read-redirect', { type: 'other', status: 302, body: '' }),
  answered('read-slow', { type: 'slow' }),
  { name: 'read-stale', act: { type: 'stale' }, lies: true },
  { name: 'read-empty', act: { type: 'empty' }, lists: true, lies: true },
  { name: 'read-no-list', act: { type: 'no-list' }, lists: true },
  { name: 'read-shuffled', act: { type: 'shuffled' }, lists: true },
  { name: 'read-more-fields', act: { type: 'more-fields' } },
];

const hiding = new Set(
  writeFaults
    .filter(({ effect, answer }) => effect === 'now' && answer.type === 'other' && answer.status >= 400)
    .map((fault) => fault.name),
);

/** The platform does an install and then says no: where it lists no components, only their number tells that it did. */
export function hidesInstall(fault: string, operation: string): boolean {
  return operation === 'install' && hiding.has(fault);
}
