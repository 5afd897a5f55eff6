import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PAGE_PATHS } from './pages.ts';

/** Name of the script that reloads a page whose files did not arrive. Any version answers it to a page of any other version. */
export const BOOT_NAME = 'boot.js';

/** The files of the dashboard, which are the same for everyone and contain no data. */
export interface Dashboard {
  /** The document of all pages. Its addresses begin with `./`. */
  readonly page: string;
  /** Hashed files and the boot script, by name. */
  readonly assets: ReadonlyMap<string, Asset>;
}

interface Asset {
  readonly contentType: string;
  /** Content by its encoding; `identity` is always there. */
  readonly contents: ReadonlyMap<Encoding, Buffer>;
}

type Encoding = 'br' | 'gzip' | 'identity';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const ENCODINGS: readonly (readonly [Encoding, suffix: string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
  ['identity', ''],
];

/**
 * Reads the dashboard into memory, so that an update of the package cannot mix two versions.
 * @returns undefined when it was not built.
 */
export function loadDashboard(folder: string): Dashboard | undefined {
  try {
    const page = readFileSync(join(folder, 'index.html'), 'utf8');
    const names = readdirSync(join(folder, 'assets'));
    const assets = names
      .filter((name) => TYPES[extname(name)] !== undefined)
      .map((name): [string, Asset] => {
        const contents = ENCODINGS.filter(([, suffix]) => names.includes(name + suffix)).map(
          ([encoding, suffix]) => [encoding, readFileSync(join(folder, 'assets', name + suffix))] as const,
        );
        return [name, { contentType: TYPES[extname(name)] ?? '', contents: new Map(contents) }];
      });
    return { page, assets: new Map(assets) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Nothing but files of this origin, nothing inline, and no HTML from texts. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const NOT_BUILT =
  'The dashboard was not built, so this page is missing. The API works.\nRun npm run build in the folder of Portolan (npm run portolan builds it too), then restart the controller.\n';

const METHODS = ['GET', 'HEAD'];

/** Returns whether a request is for the dashboard: those requests need no token, because the answers contain no data. */
export function isForDashboard({ method, headers, routeOptions, url }: FastifyRequest): boolean {
  if (routeOptions.config.isPage === true) return true;
  // A mistyped address in a browser. Addresses of the API do not exist for strangers.
  const isApi = /^\/(?:api|webhooks|metrics|healthz|readyz)\b/.test(url);
  return routeOptions.url === undefined && METHODS.includes(method) && !isApi && acceptsHtml(headers.accept);
}

function acceptsHtml(accept: string | undefined): boolean {
  return /(?:^|,)\s*text\/html\b/i.test(accept ?? '');
}

interface DashboardGate {
  readonly hasDashboard: boolean;
  /** The path prefix of a proxy, `/portolan`, or nothing. */
  readonly basePath: string;
}

/** Adds the pages and files of the dashboard. @param gate returns whether they exist now, because a reload can change it. */
export function addDashboard(app: FastifyInstance, dashboard: Dashboard | undefined, gate: () => DashboardGate): void {
  for (const url of PAGE_PATHS) {
    app.route({
      method: METHODS,
      url,
      config: { isPage: true },
      handler: async (request, reply) => {
        const { hasDashboard, basePath } = gate();
        if (!hasDashboard) return reply.callNotFound();
        return sendPage(dashboard, 200, request, reply, basePath);
      },
    });
  }
  app.route<{ Params: { '*': string } }>({
    method: METHODS,
    url: '/assets/*',
    config: { isPage: true },
    handler: async (request, reply) => {
      if (!gate().hasDashboard) return reply.callNotFound();
      const name = request.params['*'];
      const asset = dashboard?.assets.get(name);
      if (asset === undefined) {
        // It may be a file of another version. On a new connection, the next attempt may reach a replica that has it.
        reply.code(404).header('connection', 'close').type('text/plain; charset=utf-8');
        return reply.send('The file does not exist.\n');
      }
      const encoding = chooseEncoding(asset, request.headers['accept-encoding']);
      reply.header('vary', 'accept-encoding');
      if (name !== BOOT_NAME) reply.header('cache-control', 'public, max-age=31536000, immutable');
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      return reply.type(asset.contentType).send(asset.contents.get(encoding));
    },
  });
}

/** Sends the document of all pages. Its addresses are relative to the path of the request, so any path prefix works. */
export async function sendPage(
  dashboard: Dashboard | undefined,
  status: number,
  { url, originalUrl }: FastifyRequest,
  reply: FastifyReply,
  basePath: string,
): Promise<FastifyReply> {
  const [path = '/', query] = url.split('?');
  // Without its last slash, the prefix itself is a file for a browser, and relative addresses would miss the prefix.
  if (basePath !== '' && originalUrl.split('?')[0] === basePath)
    return reply
      .code(308)
      .header('location', `${basePath}/${query === undefined ? '' : `?${query}`}`)
      .send();
  if (dashboard === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  // Asterisk form (`GET *`) has no slash.
  const up = '../'.repeat(Math.max(0, path.split('/').length - 2));
  return reply
    .code(status)
    .header('content-security-policy', PAGE_POLICY)
    .type('text/html; charset=utf-8')
    .send(up === '' ? dashboard.page : dashboard.page.replaceAll('"./', `"${up}`));
}

/** Returns the best encoding that a request accepts. */
function chooseEncoding({ contents }: Asset, accepted: string | undefined): Encoding {
  const refused = new Set<string>();
  const wanted = new Set<string>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', quality] = part.split(';').map((text) => text.trim());
    (/^q=0(?:\.0*)?$/.test(quality ?? '') ? refused : wanted).add(name);
  }
  const fits = (encoding: Encoding): boolean => wanted.has(encoding) || (wanted.has('*') && !refused.has(encoding));
  return (
    ENCODINGS.map(([encoding]) => encoding).find((encoding) => contents.has(encoding) && fits(encoding)) ?? 'identity'
  );
}
