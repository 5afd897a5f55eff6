import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { SecretReference } from '../configuration/platform/spec.ts';
import type { SourceCredentials } from '../configuration/settings/source-spec.ts';
import { invalidInput } from '../model/errors.ts';
import { type Secret, SECRET_MASK } from '../model/secret.ts';
import { type GitEnd, gitEnvironment, type GitSurroundings, runGit } from './git.ts';

export interface TransportOptions extends GitSurroundings {
  readonly url: string;
  readonly credentials: SourceCredentials | undefined;
  /** PEM file that replaces the certificates of the system. */
  readonly caFile: string | undefined;
  /** Opens the secret of a reference. @param where the place of the reference, for messages. */
  readonly secret: (reference: SecretReference, where: string) => () => Secret;
}

const WHERE = 'Settings spec.source.credentials';

/**
 * Runs git commands for one remote repository. Credentials go through the environment of that process, or a file that only this
 * user can read: never through an argument, which all users of the machine can see. Ignores the settings of the user and the
 * system, starts no credential helper, and follows no redirect.
 */
export class GitTransport {
  readonly #options: TransportOptions;
  readonly #password: (() => Secret) | undefined;
  readonly #key: (() => Secret) | undefined;

  /** @throws PortolanError `secret/missing` when a secret does not exist. */
  constructor(options: TransportOptions) {
    this.#options = options;
    const { credentials, secret } = options;
    const { password, sshKey } = credentials ?? {};
    this.#password = password && secret(password, `${WHERE}.password`);
    // A key file is used in place: ssh itself refuses one that other users can read.
    this.#key = sshKey !== undefined && !('file' in sshKey) ? secret(sshKey, `${WHERE}.sshKey`) : undefined;
  }

  /**
   * Runs one command to its end.
   * @param folder the bare repository. It must exist.
   */
  async run(folder: string, args: readonly string[], timeLimitMs: number): Promise<GitEnd> {
    const key = this.#keyFile(folder);
    try {
      const password = this.#password?.().reveal();
      const environment = this.#environment(folder, password, key?.file);
      const answer = await runGit(['-C', folder, ...args], { ...this.#options, environment, timeLimitMs });
      // Git or the server may have repeated the secret.
      return { ...answer, stderr: without(answer.stderr, password, this.#options.credentials?.username) };
    } finally {
      if (key?.folder !== undefined) rmSync(key.folder, { recursive: true, force: true });
    }
  }

  #keyFile(folder: string): { readonly file: string; readonly folder?: string } | undefined {
    const reference = this.#options.credentials?.sshKey;
    if (reference === undefined) return undefined;
    if ('file' in reference) return { file: plainPath(resolve(reference.file)) };
    const own = mkdtempSync(join(folder, KEY_FOLDER));
    const file = join(own, 'key');
    chmodSync(own, 0o700);
    // ssh needs the line break at the end, which reading a secret removes.
    writeFileSync(file, `${this.#key?.().reveal().trimEnd()}\n`, { mode: 0o600 });
    return { file, folder: own };
  }

  #environment(folder: string, password: string | undefined, key: string | undefined): Record<string, string> {
    const { url, credentials, caFile, path } = this.#options;
    const settings: (readonly [string, string])[] = [...SETTINGS, ['safe.directory', folder]];
    if (caFile !== undefined) settings.push(['http.sslCAInfo', resolve(caFile)]);
    if (password !== undefined) {
      const header = `Authorization: Basic ${basic(credentials?.username, password)}`;
      settings.push([`http.${url}.extraHeader`, header]);
    }
    return {
      ...gitEnvironment(path, folder),
      // So that git and ssh read neither .netrc nor settings of the user.
      HOME: folder,
      GIT_ASKPASS: '/bin/false',
      SSH_ASKPASS: '/bin/false',
      GIT_ALLOW_PROTOCOL: new URL(url).protocol.replace(':', ''),
      GIT_SSH_VARIANT: 'ssh',
      GIT_SSH_COMMAND: sshCommand(key, credentials?.knownHosts),
      ...configuration(settings),
    };
  }
}

/** Prefix of the folders that hold the ssh key of one command. */
export const KEY_FOLDER = 'key-';

const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['credential.helper', ''],
  ['http.followRedirects', 'false'],
  ['http.sslVerify', 'true'],
  // A transfer below 100 bytes a second for 30 seconds fails.
  ['http.lowSpeedLimit', '100'],
  ['http.lowSpeedTime', '30'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['maintenance.auto', 'false'],
  ['gc.auto', '0'],
  ['protocol.version', '2'],
];

/** Returns settings as environment variables, because all users of the machine can see arguments. */
function configuration(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: `${settings.length}`, ...(Object.fromEntries(pairs) as Record<string, string>) };
}

/** Returns the ssh command, which git passes to a shell. Its paths were checked or made by Portolan. */
function sshCommand(key: string | undefined, knownHosts: string | undefined): string {
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${knownHosts ?? '/dev/null'}`,
    'GlobalKnownHostsFile=/dev/null',
    'UpdateHostKeys=no',
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'ForwardAgent=no',
    'ClearAllForwardings=yes',
    'PermitLocalCommand=no',
    'ConnectTimeout=15',
    'ServerAliveInterval=10',
    'ServerAliveCountMax=3',
  ];
  const identity = key === undefined ? '' : ` -i '${key}'`;
  return `ssh -F /dev/null${identity} ${options.map((option) => `-o '${option}'`).join(' ')}`;
}

/** Returns the path if ssh and the shell take it literally: ssh expands % and splits at spaces, the shell reads quotes. */
function plainPath(path: string): string {
  if (/^\/[A-Za-z0-9._/@+,:=-]*$/.test(path)) return path;
  throw invalidInput(
    'source/key-path',
    `The path of the ssh key, ${JSON.stringify(path)}, contains characters that ssh does not take literally. Nothing was fetched.`,
    'Mount the key at a path that contains only letters, digits and . _ / @ + , : = -.',
  );
}

function basic(username: string | undefined, password: string): string {
  return Buffer.from(`${username ?? 'git'}:${password}`).toString('base64');
}

/** Masks the secret in a text of git or of the server. */
function without(text: string, password: string | undefined, username: string | undefined): string {
  if (password === undefined) return text;
  const spellings = [password, encodeURIComponent(password), basic(username, password)];
  return spellings.reduce((masked, spelling) => masked.replaceAll(spelling, SECRET_MASK), text);
}
