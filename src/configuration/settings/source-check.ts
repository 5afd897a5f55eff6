import { durationMsOf } from '../../model/duration.ts';
import { addressProblems } from '../addresses.ts';
import { durationProblems } from '../../kinds/problems.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import type { SignaturePolicy, SourceCredentials, SourceSpec } from './source-spec.ts';

const DEBOUNCE_MAX_MS = 60_000;

/** What the schema of `spec.source` cannot say. */
export function sourceProblems(source: SourceSpec): readonly SpecProblem[] {
  const { url, paths, interval, debounce, credentials, signatures, limits } = source;
  return [
    ...(url === undefined || !url.startsWith('http')
      ? []
      : addressProblems(url, false, 'spec.source.url').map(withoutFlag)),
    ...(url === undefined ? [] : paths.flatMap(pathProblems)),
    ...durationProblems(interval, 'spec.source.interval'),
    ...durationProblems(limits.timeout, 'spec.source.limits.timeout'),
    ...debounceProblems(debounce),
    ...credentialProblems(credentials ?? {}, url, credentials !== undefined),
    ...signatureProblems(signatures),
  ];
}

/** A platform may be reached by plain http on a trusted network; what a source says is not only secret, it is obeyed. */
function withoutFlag({ hint, ...problem }: SpecProblem): SpecProblem {
  return hint === undefined ? problem : { ...problem, hint: hint.replace(/, or set allowPlainHttp.*$/, '') };
}

function pathProblems(path: string, index: number): readonly SpecProblem[] {
  const isWithin = !path.startsWith('/') && !path.split('/').includes('..');
  if (isWithin) return [];
  const message = `${JSON.stringify(path)} leads out of the repository`;
  return [{ code: 'settings/source-path', path: `spec.source.paths[${index}]`, message, expected: 'a path within it' }];
}

function debounceProblems(debounce: string): readonly SpecProblem[] {
  if (durationMsOf(debounce) <= DEBOUNCE_MAX_MS) return [];
  const path = 'spec.source.debounce';
  return [{ code: 'schema/duration', path, message: `debounce is ${debounce}`, expected: 'at most 60s' }];
}

function credentialProblems(
  credentials: SourceCredentials,
  url: string | undefined,
  isGiven: boolean,
): readonly SpecProblem[] {
  if (!isGiven && url?.startsWith('ssh:') !== true) return [];
  const path = 'spec.source.credentials';
  const problem = (message: string, expected: string): readonly SpecProblem[] => [
    { code: 'settings/source-credentials', path, message, expected },
  ];
  const { password, sshKey, knownHosts } = credentials;
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
    return [{ code: 'settings/signers', path, message: 'keys is missing: whose signatures are good?', expected }];
  // From a relative one git would take the checkout's own file.
  if (keys !== undefined && !keys.startsWith('/'))
    return [
      { code: 'settings/signers', path: `${path}.keys`, message: 'the path is relative', expected: 'an absolute path' },
    ];
  return [];
}
