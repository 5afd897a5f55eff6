import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { SecretReference } from '../configuration/platform/spec.ts';
import type { SourceCredentials } from '../configuration/settings/source-spec.ts';
import { PortolanError } from '../model/errors.ts';
import { type Secret, SECRET_MASK } from '../model/secret.ts';
import { type GitEnd, gitEnvironment, type GitSurroundings, runGit } from './git.ts';

export interface TransportOptions extends GitSurroundings {
  readonly url: string;
  readonly credentials: SourceCredentials | undefined;
  /** PEM file in place of the system's certificates. */
  readonly caFile: string | undefined;
  /** Follows a reference of the configuration. @param where it stands, for messages. */
  readonly secret: (reference: SecretReference, where: string) => () => Secret;
}

const WHERE = 'Settings spec.source.credentials';

/**
 * Runs git commands that talk to one remote repository. What git needs to be let in goes through the environment of that
 * one process, or a file that only this user may read: never through an argument, which everybody on the machine sees.
 * Nothing of the user's or the system's settings counts, no helper is asked, and no redirect is followed.
 */
export class GitTransport {
  readonly #options: TransportOptions;
  readonly #password: (() => Secret) | undefined;
  readonly #key: (() => Secret) | undefined;

  /** @throws PortolanError `secret/missing` when there is nothing at a reference. */
  constructor(options: TransportOptions) {
    this.#options = options;
    const { credentials, secret } = options;
    const { password, sshKey } = credentials ?? {};
    this.#password = password && secret(password, `${WHERE}.password`);
    // A key in a file is used where it is: ssh itself sees to it that nobody else may read it.
    this.#key = sshKey !== undefined && 'env' in sshKey ? secret(sshKey, `${WHERE}.sshKey`) : undefined;
  }

  /**
   * Runs one command to its end.
   * @param folder the bare repository that it works on; must exist.
   */
  async run(folder: string, args: readonly string[], timeLimitMs: number): Promise<GitEnd> {
    const key = this.#keyFile(folder);
    try {
      const password = this.#password?.().reveal();
      const environment = this.#environment(folder, password, key?.file);
      const answer = await runGit(['-C', folder, ...args], { ...this.#options, environment, timeLimitMs });
      // Without the secret, whoever may have repeated it.
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
    // ssh wants the line break at its end that the reading of a secret drops.
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
      // No .netrc and no settings of ssh.
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

/** How the folders of keys begin that are made for one command each. */
export const KEY_FOLDER = 'key-';

const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['credential.helper', ''],
  ['http.followRedirects', 'false'],
  ['http.sslVerify', 'true'],
  // Bytes a second, and for how many seconds: slower is as good as dead.
  ['http.lowSpeedLimit', '100'],
  ['http.lowSpeedTime', '30'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['maintenance.auto', 'false'],
  ['gc.auto', '0'],
  ['protocol.version', '2'],
];

/** Settings as environment: an argument would be seen by everybody on the machine. */
function configuration(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: `${settings.length}`, ...(Object.fromEntries(pairs) as Record<string, string>) };
}

/** Git hands it to a shell; the paths in it have been checked, or are of our own making. */
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

/** ssh gives a meaning to % and to spaces in paths, and the shell to quotes. */
function plainPath(path: string): string {
  if (/^\/[A-Za-z0-9._/@+,:=-]*$/.test(path)) return path;
  throw new PortolanError({
    code: 'source/key-path',
    disposition: 'invalid',
    message: `The path of the ssh key, ${JSON.stringify(path)}, has characters that ssh would not take as they are. Nothing was fetched.`,
    remedy: 'Mount the key under a path of letters, digits and . _ / @ + , : = - only.',
  });
}

function basic(username: string | undefined, password: string): string {
  return Buffer.from(`${username ?? 'git'}:${password}`).toString('base64');
}

/** What a server or git itself may have repeated of the secret. */
function without(text: string, password: string | undefined, username: string | undefined): string {
  if (password === undefined) return text;
  const spellings = [password, encodeURIComponent(password), basic(username, password)];
  return spellings.reduce((masked, spelling) => masked.replaceAll(spelling, SECRET_MASK), text);
}
