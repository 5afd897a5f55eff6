import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { git } from '../source/repositories.ts';

/** What stands in for GitHub's API: the few calls that our files make, answered as its documentation has them. */
export interface Forge {
  readonly url: string;
  readonly comments: { readonly id: number; body: string; readonly user: { readonly type: string } }[];
  /** Of each commit, newest first. */
  readonly statuses: Map<string, { readonly context: string; readonly description: string; readonly state: string }[]>;
  /** Pull requests that were merged. */
  readonly merged: {
    readonly number: number;
    readonly merge_commit_sha: string;
    readonly head: { readonly sha: string };
  }[];
  /** Branch → its newest commit. */
  readonly branches: Map<string, string>;
  /** Calls without the token, or that it does not have. */
  readonly refused: string[];
}

/** @param repository the folder that the forge compares commits of. */
export async function openForge(repository: string): Promise<Forge> {
  const comments: Forge['comments'] = [
    { id: 1, body: '<!-- portolan:plan:default --> is what I look for', user: { type: 'User' } },
  ];
  const statuses: Forge['statuses'] = new Map();
  const merged: Forge['merged'] = [];
  const branches: Forge['branches'] = new Map();
  const refused: string[] = [];
  const answer = (method: string, path: string, body: Record<string, string>): unknown => {
    const [, issue, comment] = /^\/(?:issues\/(\d+)\/comments|issues\/comments\/(\d+))$/.exec(path) ?? [];
    const [, posted] = /^\/statuses\/([0-9a-f]{40})$/.exec(path) ?? [];
    const [, commit, what] = /^\/commits\/([0-9a-f]{40})\/(pulls|statuses)$/.exec(path) ?? [];
    if (issue !== undefined && method === 'GET') return comments;
    if (issue !== undefined && method === 'POST') {
      const made = { id: comments.length + 1, body: body['body'] ?? '', user: { type: 'Bot' } };
      comments.push(made);
      return made;
    }
    const known = comments.find(({ id }) => String(id) === comment);
    if (known !== undefined && method === 'PATCH') return Object.assign(known, { body: body['body'] });
    if (posted !== undefined && method === 'POST') {
      const { context = '', description = '', state = '' } = body;
      if (description.length > 140) return undefined;
      statuses.set(posted, [{ context, description, state }, ...(statuses.get(posted) ?? [])]);
      return { context };
    }
    if (what === 'pulls' && method === 'GET') return merged.filter((one) => one.merge_commit_sha === commit);
    const [, base, tip] = /^\/compare\/([0-9a-f]{40})\.\.\.([0-9a-f]{40})$/.exec(path) ?? [];
    if (base !== undefined && tip !== undefined && method === 'GET') return { status: standing(repository, base, tip) };
    const [, branch] = /^\/commits\/([^/]+)$/.exec(path) ?? [];
    if (branch !== undefined && method === 'GET') return { sha: branches.get(decodeURIComponent(branch)) };
    if (what === 'statuses' && method === 'GET') return statuses.get(commit ?? '') ?? [];
    return undefined;
  };
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { pathname } = new URL(request.url ?? '/', 'http://forge');
      const path = pathname.replace(/^\/repos\/acme\/shop/, '');
      const isAllowed = request.headers.authorization === 'Bearer forge-token';
      const value = isAllowed ? answer(request.method ?? '', path, text === '' ? {} : JSON.parse(text)) : undefined;
      if (value === undefined) refused.push(`${request.method} ${path}`);
      response.writeHead(value === undefined ? 403 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, comments, statuses, merged, branches, refused };
}

function standing(repository: string, base: string, tip: string): string {
  if (base === tip) return 'identical';
  const common = git(repository, 'merge-base', base, tip);
  if (common === base) return 'ahead';
  return common === tip ? 'behind' : 'diverged';
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
