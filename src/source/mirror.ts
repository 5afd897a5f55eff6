import { hash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { invalidInput, PortolanError } from '../model/errors.ts';
import { safeLine } from '../model/text.ts';
import { exists } from './checkout.ts';
import type { GitEnd } from './git.ts';
import { GitTransport, KEY_FOLDER, type TransportOptions } from './git-transport.ts';

export interface MirrorOptions extends TransportOptions {
  /** Branch, tag, full ref, whole commit id, or `HEAD`. */
  readonly ref: string;
  /** Folder of the bare repositories. Created if it does not exist. */
  readonly cacheFolder: string;
}

/** A ref of the remote. */
export interface RemoteRef {
  /** The name to fetch: `refs/heads/main`, `HEAD`, or a commit id. */
  readonly name: string;
  /** Id of the commit, or of the tag that names it. */
  readonly id: string;
}

const ASK_LIMIT_MS = 30_000;
const FETCH_LIMIT_MS = 120_000;
/** Time limit of fetching more history. It is short because nothing new is read meanwhile. */
const DEEPEN_LIMIT_MS = 45_000;
const TIDY_LIMIT_MS = 300_000;
/** Number of commits to fetch. The last accepted commit is usually among them. */
const DEPTH = 20;
/** Steps that fetch more history, until it is known whether one commit descends from the other. */
const DEEPEN = ['--deepen=100', '--deepen=1000', '--unshallow'];
const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** A ref name that a remote can have: without steps back, searches, or patterns. */
const REF = /^(?![-./])(?!.*(?:\.\.|\/\/|\/\.|@\{))[^\p{Cc}\s~^:?*[\\]+$/u;

/** A local bare repository that follows one ref of a remote repository, with as little history as needed. */
export class Mirror {
  /** The bare repository. */
  readonly folder: string;
  /** The local ref that corresponds to the ref of the remote. */
  readonly localRef: string;
  readonly #options: MirrorOptions;
  readonly #transport: GitTransport;

  /** @throws PortolanError `invalid` for a ref that no remote can have, or a secret that does not exist. */
  constructor(options: MirrorOptions) {
    const { url, ref, cacheFolder } = options;
    if (!REF.test(ref))
      throw invalidInput(
        'source/bad-revision',
        `"${safeLine(ref)}" cannot be a ref of a remote repository. Nothing was fetched.`,
        'Name a branch, a tag or a full commit id. Steps back such as HEAD~1 work only in local checkouts.',
      );
    this.#options = options;
    this.#transport = new GitTransport(options);
    // Absolute, because git changes to this folder, and the path of a key in it must stay valid.
    this.folder = resolve(cacheFolder, `${shortHash(url)}.git`);
    this.localRef = `refs/portolan/${shortHash(ref)}`;
  }

  /** Creates the repository if it does not exist. */
  async open(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    // A killed process leaves its key behind.
    for (const name of await readdir(this.folder))
      if (name.startsWith(KEY_FOLDER)) await rm(join(this.folder, name), { recursive: true, force: true });
    const parts = ['HEAD', 'objects', 'refs'].map((name) => exists(join(this.folder, name)));
    if ((await Promise.all(parts)).every(Boolean)) return;
    const answer = await this.#transport.run(
      this.folder,
      ['init', '--bare', '--quiet', '--template=', '.'],
      ASK_LIMIT_MS,
    );
    if (answer.exitCode !== 0) throw this.#failed('create the local repository', answer);
  }

  /** Deletes the repository, which may be damaged, or locked by a fetch that was killed. */
  async discard(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Asks the remote for the ref. @throws PortolanError when the remote does not answer, or has no such ref, or two. */
  async resolveRef(): Promise<RemoteRef> {
    const { ref, url } = this.#options;
    if (COMMIT_ID.test(ref)) return { name: ref, id: ref };
    const names = ref === 'HEAD' || ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
    const answer = await this.#transport.run(this.folder, ['ls-remote', '--quiet', '--', url, ...names], ASK_LIMIT_MS);
    if (answer.exitCode !== 0) throw this.#failed(`ask for ${ref}`, answer);
    const found = answer.stdout.split('\n').flatMap((line) => {
      const [, id, name] = /^([0-9a-f]{40,64})\t(.+)$/.exec(line) ?? [];
      return id !== undefined && name !== undefined && names.includes(name) ? [{ name, id }] : [];
    });
    const [one, another] = found;
    if (one === undefined)
      throw invalidInput(
        'source/unknown-revision',
        `${url} has no branch and no tag "${ref}".`,
        'Correct spec.source.ref, or push the branch again.',
      );
    if (another !== undefined)
      throw invalidInput(
        'source/ambiguous-revision',
        `${url} has both a branch and a tag "${ref}".`,
        `Write refs/heads/${ref} for the branch, or refs/tags/${ref} for the tag.`,
      );
    return one;
  }

  /** Fetches a ref with a few earlier commits. @throws PortolanError. */
  async fetch({ name }: RemoteRef): Promise<void> {
    const answer = await this.#fetch(`--depth=${DEPTH}`, name, FETCH_LIMIT_MS);
    if (answer.exitCode !== 0) throw this.#failed(`fetch ${this.#options.ref}`, answer);
  }

  /**
   * Fetches more history, step by step.
   * @param isDecided is called before each step, and returns true to stop.
   */
  async deepen({ name }: RemoteRef, isDecided: () => Promise<boolean>): Promise<void> {
    for (const step of DEEPEN) {
      if (await isDecided()) return;
      const answer = await this.#fetch(step, name, DEEPEN_LIMIT_MS);
      // Without it the descent stays `unknown`, which is safe.
      if (answer.exitCode !== 0) return;
    }
  }

  /**
   * Returns the id that `localRef` has, of a commit or of a tag; undefined if it has none. The remote may have moved its ref between
   * `resolveRef` and a fetch, so it can differ from the id of the `RemoteRef` that was fetched.
   */
  async localId(): Promise<string | undefined> {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', this.localRef];
    const { exitCode, stdout } = await this.#transport.run(this.folder, args, ASK_LIMIT_MS);
    return exitCode === 0 ? stdout.trim() : undefined;
  }

  /** Packs the objects of many fetches, if there are many. */
  async tidy(): Promise<void> {
    const settings = ['-c', 'gc.auto=2000', '-c', 'gc.autoPackLimit=20', '-c', 'gc.autoDetach=false'];
    await this.#transport.run(this.folder, [...settings, 'gc', '--auto', '--quiet'], TIDY_LIMIT_MS);
  }

  #fetch(depth: string, name: string, timeLimitMs: number): Promise<GitEnd> {
    const options = [
      '--quiet',
      '--no-tags',
      '--no-recurse-submodules',
      '--no-auto-maintenance',
      '--no-write-fetch-head',
    ];
    const refspec = `+${name}:${this.localRef}`;
    const args = ['fetch', ...options, depth, '--', this.#options.url, refspec];
    return this.#transport.run(this.folder, args, timeLimitMs);
  }

  #failed(what: string, { end, stderr }: GitEnd): PortolanError {
    const { url } = this.#options;
    const words = safeLine(stderr.replaceAll('\n', ' ').slice(0, 500)).trim();
    const said = words === '' ? '' : ` Git says: ${words}`;
    const [, ...complaint] = COMPLAINTS.find(([pattern]) => pattern.test(stderr)) ?? [/./, ...OTHER];
    const [code, explained, remedy] = end === 'exited' ? complaint : ENDS[end];
    return new PortolanError({
      code,
      disposition: 'give-up',
      message: `Git cannot ${what} of ${url}: ${explained}.${said}`,
      remedy,
    });
  }
}

type Complaint = readonly [code: string, explained: string, remedy: string];

const ENDS: Readonly<Record<Exclude<GitEnd['end'], 'exited'>, Complaint>> = {
  interrupted: ['source/interrupted', 'it was interrupted', 'Do nothing: the daemon is stopping.'],
  'too-slow': [
    'source/remote-slow',
    'it took too long and was killed',
    'Check that the server answers. Portolan retries automatically.',
  ],
  'not-started': ['source/no-git', 'the program git did not start', 'Install git, and ssh for ssh:// addresses.'],
};

const OTHER: Complaint = [
  'source/remote-failed',
  'the server cannot be reached, or is not a git server',
  'Check that the address is correct and the server answers. Portolan retries automatically.',
];

const COMPLAINTS: readonly (readonly [pattern: RegExp, ...Complaint])[] = [
  [
    /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/,
    'source/remote-host-key',
    'its host key is not in the known hosts file, or differs from it',
    'Compare the key with the one that the owner of the server publishes, then add it to spec.source.credentials.knownHosts.',
  ],
  [
    /Authentication failed|could not read Username|could not read Password|returned error: 40[13]|Permission denied/,
    'source/remote-refused',
    'the server rejects the credentials',
    'Correct spec.source.credentials in the configuration: the token may have expired, or may lack access to this repository.',
  ],
  [
    /certificate/,
    'source/remote-tls',
    'its certificate is not trusted',
    'Check that it is the right server, then set spec.source.tls.caFile to the certificate of its authority.',
  ],
  [
    /redirect|returned error: 30[0-9]|unable to update url base/i,
    'source/remote-redirect',
    'the server redirects to another address, and credentials are not sent there',
    'Set spec.source.url to the final address, which usually ends in .git.',
  ],
  [
    /not found|does not appear to be a git repository|does not exist|returned error: 404/i,
    'source/remote-missing',
    'the repository does not exist, or the credentials give no access to it',
    'Correct spec.source.url, or grant the credentials read access.',
  ],
  [
    /not a git repository|File exists|\.lock|corrupt|bad object|unresolved delta|shallow file has changed|did not send all necessary|loose object|index-pack failed|missing/i,
    'source/mirror-damaged',
    'the local copy is damaged or locked',
    'Do nothing: Portolan deletes it and fetches it again. If this repeats, check that the disk is not full.',
  ],
];

/** Returns whether deleting the mirror may help. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof PortolanError)) return false;
  return ['source/mirror-damaged', 'source/git-failed', 'source/incomplete-clone', 'source/no-repository'].includes(
    error.code,
  );
}

function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 16);
}
