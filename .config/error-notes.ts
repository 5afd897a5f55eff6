import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { SIGN_IN_PROBLEMS } from '../src/server/sign-in/problems.ts';

const PASSES = 'Portolan retries automatically. If it lasts, check the log of the platform for this time.';
const DOUBT =
  'Look at the platform, then run `portolan ledger resolve ID --applied` or `--not-applied`. `portolan ledger list` shows the id and the evidence.';

/** Cause and remedy of one code. */
export type Note = readonly [cause: string, remedy: string];

/** Notes by code, from error-notes.yaml. They take precedence over the texts of the code. */
export const ERROR_NOTES: Readonly<Record<string, Note>> = Object.fromEntries(
  Object.entries(
    parse(readFileSync(new URL('error-notes.yaml', import.meta.url), 'utf8')) as Readonly<
      Record<string, { readonly cause: string; readonly remedy: string }>
    >,
  ).map(([code, { cause, remedy }]) => [code, [cause, remedy]]),
);

/** Literals with the form of a code that are something else. */
export const NOT_CODES: ReadonlySet<string> = new Set([
  // Media types.
  'application/json',
  'application/x-www-form-urlencoded',
  'text/event-stream',
  'text/html',
  'text/plain',
  // Annotations of manifests.
  'portolan/moved-from',
  'portolan/on-removal',
  'portolan/overwrite-hidden',
  'portolan/prune',
  'portolan/reconcile',
  'portolan/substitute',
  // Facts of the ledger, keys of steps, paths in examples.
  'events/stream',
  'ledger/platforms',
  'ledger/restored',
  'manifests/prod',
  'owner/name',
  'recreate/create',
  'team/platform',
]);

/** Codes that are composed of the text in the code and a variable, and every value of the variable. */
export const COMPOSED_CODES: Readonly<
  Record<string, Readonly<Record<string, readonly [cause: string, remedy: string]>>>
> = {
  'plan/': {
    'plan/out-of-memory': [
      'Parsing the manifests of a plan request took too much memory.',
      'Send fewer or smaller manifests. The limit is `spec.source.limits.heapMib` of Settings.',
    ],
    'plan/too-slow': [
      'Parsing the manifests of a plan request took too long.',
      'Send fewer or smaller manifests. The limit is `spec.source.limits.timeout` of Settings.',
    ],
    'plan/thread-failed': [
      'Parsing the manifests of a plan request ended its thread because of a bug.',
      'Report it as a bug.',
    ],
  },
  'rule/': {
    'rule/not-as-sent': ['The platform has a new rule that differs from the request whose response was lost.', DOUBT],
  },
  'schema/': Object.fromEntries(
    [
      ['type', 'has another type', 'a value of the expected type'],
      ['enum', 'is not one of the possible values', 'one of the values in the message'],
      ['const', 'is not the only possible value', 'the value in the message'],
      ['pattern', 'does not have the expected form', 'a value of the form in the message'],
      ['format', 'does not have the expected form', 'a value of the form in the message'],
      ['minimum', 'is too small', 'a number of at least the minimum in the message'],
      ['maximum', 'is too large', 'a number of at most the maximum in the message'],
      ['minLength', 'is too short', 'a longer text'],
      ['maxLength', 'is too long', 'a shorter text'],
      ['minItems', 'has too few entries', 'more entries'],
      ['maxItems', 'has too many entries', 'fewer entries'],
      ['minProperties', 'has too few entries', 'more entries'],
      ['maxProperties', 'has too many entries', 'fewer entries'],
      ['anyOf', 'has none of the possible forms', 'a value of a form in the message'],
      ['not', 'has a value that is not allowed', 'another value'],
    ].map(([keyword, fault, write]) => [
      `schema/${keyword}`,
      [`A field ${fault}.`, `Write ${write}; \`portolan explain\` describes the field.`],
    ]),
  ),
  'server/': Object.fromEntries(
    Object.entries(SIGN_IN_PROBLEMS).map(([code, { detail, remedy }]) => [`server/${code}`, [detail, remedy]]),
  ),
  'yaml/': {
    'yaml/anchor': [
      'An anchor of YAML (`&name`) is not allowed.',
      'Write each value where it is used, or use a variable `${NAME}`.',
    ],
    'yaml/alias': [
      'An alias of YAML (`*name`) is not allowed.',
      'Write the value itself. Put a text that starts with `*` in quotes.',
    ],
    'yaml/tag': ['A tag of YAML (`!name`) is not allowed.', 'Delete the tag. Put a value in quotes to make it text.'],
  },
  'source/': {},
  'apply/': {},
  'platform/': {},
  'action/': {
    'action/refused': ['The platform refused the change.', 'Follow the message of the platform.'],
    'action/exists': ['The platform has the object already.', 'Look at it in the console. To manage it, adopt it.'],
    'action/not-sent': ['The request could not be sent.', PASSES],
    'action/not-taken': [
      'The platform accepted the change and did not make it.',
      'Portolan sends it up to three times, then holds it with both values. Look at the object in the console.',
    ],
    'action/throttled': ['The platform answers that there were too many requests.', PASSES],
    'action/stop-scope': [
      'Nothing more was sent for the application, because of the token, the region or the network.',
      'Follow the message: it has the cause.',
    ],
  },
};
