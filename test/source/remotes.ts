import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SourceSettings } from '../../src/configuration/settings/source-spec.ts';
import { Secret } from '../../src/model/secret.ts';
import { type FeedChanges, type Listening, listen } from './feeds.ts';
import { commit, git, repository, temporaryFolder, write } from './repositories.ts';

/** A bare repository that others push to, and a checkout that pushes there. */
export interface Remote {
  readonly bare: string;
  readonly work: string;
  /** Commits and pushes. @returns the commit's id. */
  push(files: Readonly<Record<string, string | undefined>>, ...options: readonly string[]): string;
}

export function remote(files: Readonly<Record<string, string>>): Remote {
  const work = repository(files);
  const bare = join(temporaryFolder(), 'team', 'platform.git');
  git(work, 'clone', '--quiet', '--bare', work, bare);
  git(work, 'remote', 'add', 'origin', bare);
  return {
    bare,
    work,
    push(changed, ...options) {
      const id = commit(work, changed);
      git(work, 'push', '--quiet', ...options, 'origin', 'HEAD');
      return id;
    },
  };
}

/** Starts a feed that fetches by itself; `secrets` are those of the environment. */
export function follow(
  settings: Partial<SourceSettings> & { readonly url: string },
  secrets: Readonly<Record<string, string>> = {},
  changes: FeedChanges = {},
): Listening & { readonly cacheFolder: string } {
  const cacheFolder = join(temporaryFolder(), 'cache');
  const listening = listen([], {
    cacheFolder,
    settings: { intervalMs: 3_600_000, ...settings },
    secret: (reference) => () => {
      const value =
        'file' in reference
          ? readFileSync(reference.file, 'utf8').replace(/\n$/, '')
          : (secrets[Object.values(reference)[0] ?? ''] ?? '');
      return new Secret(value, 'test');
    },
    ...changes,
  });
  return { ...listening, cacheFolder };
}

export interface GitServer {
  readonly url: string;
  /** Headers of the requests so far. */
  readonly requests: readonly { readonly path: string; readonly authorization: string | undefined }[];
  /** What is done with a request in place of answering it with git. */
  answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

/** Git's own server behind HTTP on this machine, as it is set up behind a web server. */
export async function gitServer(folder: string, credentials?: string, tls?: ServerOptions): Promise<GitServer> {
  const requests: { path: string; authorization: string | undefined }[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const { authorization } = request.headers;
    requests.push({ path: request.url ?? '', authorization });
    if (state.answer?.(request, response) === true) return;
    if (credentials !== undefined && authorization !== `Basic ${Buffer.from(credentials).toString('base64')}`) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('who are you?');
      return;
    }
    backend(folder, request, response);
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const state: GitServer = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    answer: undefined,
  };
  return state;
}

function backend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://x');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      ...(request.headers['content-encoding'] === 'gzip' ? { HTTP_CONTENT_ENCODING: 'gzip' } : {}),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {});
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const all = Buffer.concat(chunks);
    const end = all.indexOf('\r\n\r\n');
    let status = 200;
    for (const line of all.subarray(0, end).toString('latin1').split('\r\n')) {
      const [name = '', value = ''] = line.split(': ');
      if (name === 'Status') status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status).end(all.subarray(end + 4));
  });
}

/** A certificate of this machine that nobody but a test trusts. @returns it with its key, and the file that it is in. */
export function ownCertificate(): { readonly key: Buffer; readonly cert: Buffer; readonly file: string } {
  const folder = temporaryFolder();
  const [key, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', file], { stdio: 'pipe' });
  return { key: readFileSync(key), cert: readFileSync(file), file };
}

/**
 * Stands in for ssh (`ssh-server.test.ts` has the real one, where there is a server): it notes what it was given and runs the command on this machine.
 * @returns a PATH on which it goes before the real one, and what it noted.
 */
export function standInForSsh(): { readonly path: string; readonly noted: () => string } {
  const folder = temporaryFolder();
  const notes = join(folder, 'notes');
  const script = `#!/bin/sh
echo "args $*" >> ${notes}
while [ $# -gt 0 ]; do
  case "$1" in
    -i) echo "mode $(stat -c %a "$2")" >> ${notes}; sed 's/^/key /' "$2" >> ${notes}; shift 2 ;;
    -o|-F|-p) shift 2 ;;
    *) break ;;
  esac
done
env | sed 's/^/env /' >> ${notes}
echo "host $1" >> ${notes}
shift
exec sh -c "$*"
`;
  write(folder, 'bin/ssh', script);
  chmodSync(join(folder, 'bin', 'ssh'), 0o755);
  mkdirSync(folder, { recursive: true });
  return {
    path: `${join(folder, 'bin')}:${process.env.PATH}`,
    noted: () => (existsSync(notes) ? readFileSync(notes, 'utf8') : ''),
  };
}

/** Arguments of every process on this machine, as anybody may see them. */
export function allArguments(): string {
  return execFileSync('ps', ['-ww', '-eo', 'args'], { encoding: 'utf8' });
}
