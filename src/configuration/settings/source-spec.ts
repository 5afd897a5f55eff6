import { durationMsOf, type DurationText } from '../../model/duration.ts';
import { addressProblems } from '../addresses.ts';
import { durationProblems, problemAt } from '../../kinds/problems.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import { arrayOf, choice, integer, objectOf, section, string, type TypeOf } from '../../model/schema-words.ts';
import { duration, ONE_LINE, ONE_LINE_PATTERN, SHORT_TIME_PATTERN } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';
import { filePath, secretReference } from '../platform/spec.ts';

/** No user and no query, because a password in them would be shown with the address. `git@` of ssh is not a secret. */
const SOURCE_URL_PATTERN =
  '^(https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~%+/-]*)?|ssh://([A-Za-z0-9._-]+@)?[A-Za-z0-9.:\\[\\]-]+/[A-Za-z0-9._~%+/-]*|file:///[A-Za-z0-9._~%+/-]*)$';

const signaturesSchema = section(
  'The required signature of a commit that --revision or the daemon reads. Plain files have no signature.',
  {
    by: choice(
      'nobody: signatures are not checked. ssh, gpg: the commit itself, not those before it, must have a valid signature.',
      ['nobody', 'ssh', 'gpg'],
      { default: 'nobody' },
    ),
    'keys?': string(
      'Absolute path outside the checkout. ssh: file of allowed signers. gpg: folder of a keyring, in which every key is trusted.',
      { minLength: 2, maxLength: 4096, pattern: ONE_LINE_PATTERN, 'x-expected': 'an absolute path' },
    ),
  },
);

/** The required signature of a commit. */
export type SignaturePolicy = TypeOf<typeof signaturesSchema>;

const limitsSchema = section(
  'Limits of a source. A few small trees can expand to more folders than a machine can store, and a small file can take hundreds of times its size to parse. The daemon reads and parses in a thread with these limits. A commit that exceeds a limit is rejected, and the daemon keeps running the commit before it. After heapMib or timeout was exceeded, the same commit is read again only on `portolan sync`, with other limits or with another version of Portolan.',
  {
    folders: integer(
      'Maximum number of folders. Each takes about 2 KiB of memory: 20000 take 40 MiB. The Linux kernel has a third as many.',
      { minimum: 1, maximum: 1_000_000, default: 20_000 },
    ),
    entries: integer(
      'Maximum number of files and folders, manifests or not. Each takes about 0.4 KiB of memory: 200000 take 80 MiB. The Linux kernel has half as many.',
      { minimum: 1, maximum: 10_000_000, default: 200_000 },
    ),
    depth: integer('Maximum depth of nested folders. Most systems do not support longer paths.', {
      minimum: 1,
      maximum: 1_000,
      default: 100,
    }),
    sizeMib: integer(
      'Maximum size of all manifests in MiB, which are stored in memory beside the heap. 10000 documents of usual size have 4 MiB.',
      { minimum: 1, maximum: 256, default: 64 },
    ),
    documents: integer(
      'Maximum number of documents. The daemon stores about 4 KiB of each application and of each resource in memory: 40000 take 160 MiB.',
      { minimum: 1, maximum: 10_000_000, default: 40_000 },
    ),
    heapMib: integer(
      'Heap in MiB of the thread that reads and parses the source, and of the thread that parses manifests sent to POST /api/v1/plan. 10000 documents take about 60 MiB. The memory of the container should have room for both and for 160 MiB of the rest of the daemon.',
      { minimum: 32, maximum: 65_536, default: 192 },
    ),
    timeout: duration(
      'Time limit to read a commit, and time limit to parse it. 10000 documents take a few seconds of processor time.',
      { default: '2m' },
    ),
  },
);

/** The limits of a source. A commit that exceeds one is rejected; the daemon keeps running the commit before it. */
export type SourceLimitsSpec = TypeOf<typeof limitsSchema>;
export type SourceLimits = Loaded<SourceLimitsSpec>;
/** The limits that are checked before any file of a commit is read. */
export type FolderLimits = Pick<SourceLimitsSpec, 'folders' | 'entries' | 'depth'>;

const credentialsSchema = objectOf(
  'Credentials for url: username and password for https, sshKey and knownHosts for ssh. No others are tried.',
  {
    'username?': string('https: user of the password. With a token, forges accept any name.', {
      pattern: '^[^:\\u0000-\\u001f\\u007f]+$',
      maxLength: 256,
      default: 'git',
      'x-expected': 'a name without a colon',
    }),
    'password?': secretReference('https: password or access token, by reference.'),
    'sshKey?': secretReference('ssh: private key without a passphrase, by reference.'),
    'knownHosts?': string('ssh: known_hosts file, as ssh-keyscan writes it. Hosts that are not in it are refused.', {
      pattern: '^/[A-Za-z0-9._/@+,:=-]*$',
      maxLength: 4096,
      'x-expected': 'an absolute path of letters, digits and . _ / @ + , : = -',
    }),
  },
);

/** A password or token for https, or a key for ssh. It never comes from the repository. */
export type SourceCredentials = TypeOf<typeof credentialsSchema>;

/** JSON Schema of `spec.source` of Settings. */
export const sourceSchema = section('The source that the daemon reads manifests from, and its limits.', {
  'url?': string('Repository that the daemon fetches. Absent: a checkout or folder on this machine.', {
    pattern: SOURCE_URL_PATTERN,
    maxLength: 2048,
    'x-expected':
      'https://host/path, ssh://git@host/path or file:///path (http:// only to this machine), without password or query',
  }),
  'ref?': string('Branch, tag or commit. Default: HEAD.', {
    minLength: 1,
    maxLength: 250,
    pattern: '^[^-\\s][^\\s]*$',
    'x-expected': 'a branch, tag or commit',
  }),
  paths: arrayOf(string('A folder or file.', { minLength: 1, maxLength: 4096, ...ONE_LINE }), {
    maxItems: 1000,
    default: [],
    description:
      'With url: folders and files in the repository; empty: all. Without url: the folders and files that every command without -f reads, relative to its working directory.',
  }),
  interval: duration('Interval at which the source is checked for changes, ± 10 %, even without a notification.', {
    default: '60s',
  }),
  debounce: string<DurationText>('Delay between the first sign of a change and the reading of the source.', {
    pattern: SHORT_TIME_PATTERN,
    maxLength: 8,
    default: '100ms',
    'x-expected': 'a short time such as 100ms or 2s',
  }),
  'credentials?': credentialsSchema,
  'tls?': objectOf('The certificates to trust for url.', {
    'caFile?': filePath('PEM file with the certificates to trust instead of those of the system.'),
  }),
  signatures: signaturesSchema,
  limits: limitsSchema,
});

export type SourceSpec = TypeOf<typeof sourceSchema>;
export type SourceSettings = Loaded<SourceSpec>;

const DEBOUNCE_MAX_MS = 60_000;

/** Returns the problems of `spec.source` that its schema cannot detect. */
export function sourceProblems(source: SourceSpec): readonly SpecProblem[] {
  const { url, paths, interval, debounce, credentials, signatures, limits } = source;
  return [
    ...(url?.startsWith('http') === true ? addressProblems(url, 'never', 'spec.source.url') : []),
    ...(url === undefined ? [] : paths.flatMap(pathProblems)),
    ...durationProblems(interval, 'spec.source.interval'),
    ...durationProblems(limits.timeout, 'spec.source.limits.timeout'),
    ...debounceProblems(debounce),
    ...credentialProblems(credentials, url),
    ...signatureProblems(signatures),
  ];
}

function pathProblems(path: string, index: number): readonly SpecProblem[] {
  const isWithin = !path.startsWith('/') && !path.split('/').includes('..');
  if (isWithin) return [];
  const message = `${JSON.stringify(path)} leads out of the repository`;
  return problemAt(`spec.source.paths[${index}]`, 'settings/source-path', message, 'a path within it');
}

function debounceProblems(debounce: string): readonly SpecProblem[] {
  if (durationMsOf(debounce) <= DEBOUNCE_MAX_MS) return [];
  return problemAt('spec.source.debounce', 'schema/duration', `debounce is ${debounce}`, 'at most 60s');
}

function credentialProblems(
  credentials: SourceCredentials | undefined,
  url: string | undefined,
): readonly SpecProblem[] {
  if (credentials === undefined && url?.startsWith('ssh:') !== true) return [];
  const problem = (message: string, expected: string): readonly SpecProblem[] =>
    problemAt('spec.source.credentials', 'settings/source-credentials', message, expected);
  const { password, sshKey, knownHosts } = credentials ?? {};
  if (url === undefined) return problem('credentials need spec.source.url', 'spec.source.url, or no credentials');
  if (url.startsWith('ssh:')) {
    if (password !== undefined) return problem('ssh takes a key, not a password', 'sshKey and knownHosts');
    if (sshKey === undefined || knownHosts === undefined)
      return problem('ssh needs both sshKey and knownHosts', 'sshKey and knownHosts');
    return [];
  }
  if (sshKey !== undefined || knownHosts !== undefined)
    return problem(
      `sshKey and knownHosts are for ssh, and the url is ${url}`,
      'password, or a url that starts with ssh://',
    );
  if (url.startsWith('file:'))
    return problem('files on this machine need no credentials', 'a file:// url without credentials');
  return password === undefined ? problem('password is missing', 'password, by reference') : [];
}

function signatureProblems({ by, keys }: SignaturePolicy): readonly SpecProblem[] {
  const path = 'spec.source.signatures';
  const expected = by === 'gpg' ? 'the folder of a keyring' : 'a file of allowed signers';
  if (by !== 'nobody' && keys === undefined) return problemAt(path, 'settings/signers', 'keys is missing', expected);
  // git would read a relative path from the checkout.
  if (keys !== undefined && !keys.startsWith('/'))
    return problemAt(`${path}.keys`, 'settings/signers', 'the path is relative', 'an absolute path');
  return [];
}
