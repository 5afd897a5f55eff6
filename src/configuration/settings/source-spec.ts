import { durationMsOf, type DurationText } from '../../model/duration.ts';
import { addressProblems } from '../addresses.ts';
import { durationProblems, problemAt } from '../../kinds/problems.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import { arrayOf, choice, integer, objectOf, string, type TypeOf } from '../../model/schema-words.ts';
import { duration, ONE_LINE, ONE_LINE_PATTERN, SHORT_TIME_PATTERN } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';
import { filePath, secretReference } from '../platform/spec.ts';

/** No user and no query, because a password in them would be shown with the address. `git@` of ssh is not a secret. */
const SOURCE_URL_PATTERN =
  '^(https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~%+/-]*)?|ssh://([A-Za-z0-9._-]+@)?[A-Za-z0-9.:\\[\\]-]+/[A-Za-z0-9._~%+/-]*|file:///[A-Za-z0-9._~%+/-]*)$';

const signaturesSchema = objectOf(
  'Who must have signed the commit that --revision or the daemon reads; plain files have no signature.',
  {
    by: choice(
      'nobody: signatures are not looked at. ssh, gpg: the commit itself, not those before it, must bear a good one.',
      ['nobody', 'ssh', 'gpg'],
      { default: 'nobody' },
    ),
    'keys?': string(
      'Absolute path, outside the checkout. ssh: file of allowed signers. gpg: folder with a keyring; every key in it is trusted.',
      { minLength: 2, maxLength: 4096, pattern: ONE_LINE_PATTERN, 'x-expected': 'an absolute path' },
    ),
  },
  { default: {} },
);

/** The required signature of a commit. */
export type SignaturePolicy = TypeOf<typeof signaturesSchema>;

const limitsSchema = objectOf(
  'What a source may cost. A few small trees can unfold to more folders than any machine holds, and a small file can take hundreds of times its size to parse. The daemon reads and parses in a thread with these limits; a commit over a limit is not applied, and the one before stays in force. After heapMib or timeout was exceeded, the same commit is read again only on `portolan sync`, with other limits or with another version of Portolan.',
  {
    folders: integer(
      'Folders in all. Each takes about 2 KiB of memory: 20000 are 40 MiB, three times those of the Linux kernel.',
      { minimum: 1, maximum: 1_000_000, default: 20_000 },
    ),
    entries: integer(
      'Files and folders in all, manifests or not. Each takes about 0.4 KiB of memory: 200000 are 80 MiB, twice those of the Linux kernel.',
      { minimum: 1, maximum: 10_000_000, default: 200_000 },
    ),
    depth: integer('Folders nested within each other. Paths of most systems end below it.', {
      minimum: 1,
      maximum: 1_000,
      default: 100,
    }),
    sizeMib: integer(
      'MiB of all manifests together; kept in memory beside the heap. 10000 documents of usual size are 4 MiB.',
      { minimum: 1, maximum: 256, default: 64 },
    ),
    documents: integer(
      'Documents in all. The daemon keeps about 4 KiB of each application and of each of its resources in memory: 40000 are 160 MiB.',
      { minimum: 1, maximum: 10_000_000, default: 40_000 },
    ),
    heapMib: integer(
      'MiB of heap for the thread of the daemon that reads and parses the source, and as much for the one that parses manifests sent to POST /api/v1/plan. 10000 documents take about 60 MiB. Both and 160 MiB for the rest of the daemon should fit into the memory of its container.',
      { minimum: 32, maximum: 65_536, default: 192 },
    ),
    timeout: duration(
      'Time to read a commit in the thread of the daemon, and as much to parse it. 10000 documents take a few seconds of processor time.',
      { default: '2m' },
    ),
  },
  { default: {} },
);

/** The limits of a source. A commit that exceeds one is rejected; the daemon keeps running the commit before it. */
export type SourceLimitsSpec = TypeOf<typeof limitsSchema>;
export type SourceLimits = Loaded<SourceLimitsSpec>;
/** The limits that are checked before any file of a commit is read. */
export type FolderLimits = Pick<SourceLimitsSpec, 'folders' | 'entries' | 'depth'>;

const credentialsSchema = objectOf(
  'For url: username and password for https, sshKey and knownHosts for ssh. Nothing else is tried.',
  {
    'username?': string('https: who the password belongs to. With a token, forges take any name.', {
      pattern: '^[^:\\u0000-\\u001f\\u007f]+$',
      maxLength: 256,
      default: 'git',
      'x-expected': 'a name without a colon',
    }),
    'password?': secretReference('https: password or access token, by reference.'),
    'sshKey?': secretReference('ssh: private key without a passphrase, by reference.'),
    'knownHosts?': string('ssh: known_hosts file; a host that is not in it is refused. ssh-keyscan writes one.', {
      pattern: '^/[A-Za-z0-9._/@+,:=-]*$',
      maxLength: 4096,
      'x-expected': 'an absolute path of letters, digits and . _ / @ + , : = -',
    }),
  },
);

/** A password or token for https, or a key for ssh. It never comes from the repository. */
export type SourceCredentials = TypeOf<typeof credentialsSchema>;

/** JSON Schema of `spec.source` of Settings. */
export const sourceSchema = objectOf(
  'Where the daemon reads manifests from, and what a source must be like to be read.',
  {
    'url?': string('Repository that the daemon fetches by itself. Absent: a checkout or folder of this machine.', {
      pattern: SOURCE_URL_PATTERN,
      maxLength: 2048,
      'x-expected':
        'https://host/path, ssh://git@host/path or file:///path (http:// only to this machine), without password or query',
    }),
    'ref?': string('Branch, tag or commit. Default: HEAD, the branch that is checked out.', {
      minLength: 1,
      maxLength: 250,
      pattern: '^[^-\\s][^\\s]*$',
      'x-expected': 'a branch, tag or commit',
    }),
    paths: arrayOf(string('A folder or file.', { minLength: 1, maxLength: 4096, ...ONE_LINE }), {
      maxItems: 1000,
      default: [],
      description:
        'With url: folders and files within the repository; none: all of it. Without url: what every command reads without -f, from the folder in which it runs.',
    }),
    interval: duration('How often the source is looked at, whatever is heard of it; ± 10 %.', { default: '60s' }),
    debounce: string<DurationText>('How long after the first sign of a change the source is read.', {
      pattern: SHORT_TIME_PATTERN,
      maxLength: 8,
      default: '100ms',
      'x-expected': 'a short time such as 100ms or 2s',
    }),
    'credentials?': credentialsSchema,
    'tls?': objectOf('How the server of url proves itself.', {
      'caFile?': filePath('PEM file of certificates to trust in place of those of the system.'),
    }),
    signatures: signaturesSchema,
    limits: limitsSchema,
  },
  { default: {} },
);

export type SourceSpec = TypeOf<typeof sourceSchema>;
export type SourceSettings = Loaded<SourceSpec>;

const DEBOUNCE_MAX_MS = 60_000;

/** Returns the problems of `spec.source` that its schema cannot detect. */
export function sourceProblems(source: SourceSpec): readonly SpecProblem[] {
  const { url, paths, interval, debounce, credentials, signatures, limits } = source;
  return [
    ...(url?.startsWith('http') === true ? addressProblems(url, false, 'spec.source.url').map(withoutFlag) : []),
    ...(url === undefined ? [] : paths.flatMap(pathProblems)),
    ...durationProblems(interval, 'spec.source.interval'),
    ...durationProblems(limits.timeout, 'spec.source.limits.timeout'),
    ...debounceProblems(debounce),
    ...credentialProblems(credentials, url),
    ...signatureProblems(signatures),
  ];
}

/** Removes the hint about allowPlainHttp, which a source does not have: Portolan applies everything that a source contains. */
function withoutFlag({ hint, ...problem }: SpecProblem): SpecProblem {
  return hint === undefined ? problem : { ...problem, hint: hint.replace(/, or set allowPlainHttp.*$/, '') };
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
  if (url === undefined)
    return problem('there is no url that they could be for', 'credentials only together with spec.source.url');
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
  if (url.startsWith('file:')) return problem('files of this machine need none', 'a file:// url without credentials');
  return password === undefined ? problem('password is missing', 'password, by reference') : [];
}

function signatureProblems({ by, keys }: SignaturePolicy): readonly SpecProblem[] {
  const path = 'spec.source.signatures';
  const expected = by === 'gpg' ? 'the folder of a keyring' : 'a file of allowed signers';
  if (by !== 'nobody' && keys === undefined)
    return problemAt(path, 'settings/signers', 'keys is missing: whose signatures are good?', expected);
  // git would read a relative path from the checkout.
  if (keys !== undefined && !keys.startsWith('/'))
    return problemAt(`${path}.keys`, 'settings/signers', 'the path is relative', 'an absolute path');
  return [];
}
