import type { Plugin } from 'rolldown';

const ENTRY = '\0undici-of-portolan';
const REPLACED = '\0less-of-';

/** What we import from undici; its own entry loads four times as much: proxies, mocks, caches, fetch, WebSocket. */
const PARTS = `
import Agent from 'undici/lib/dispatcher/agent.js';
import Client from 'undici/lib/dispatcher/client.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import buildConnector from 'undici/lib/core/connect.js';
import api from 'undici/lib/api/index.js';
Object.assign(Dispatcher.prototype, api);
export { Agent, Client, buildConnector };
`;

/** Modules of Node in the place of which a package gets less, each `[package, module, what it gets]`. */
const LESS: readonly (readonly [importer: string, module: string, code: string])[] = [
  // No connection of ours offers HTTP/2, and undici does without where Node has none.
  ['/undici/', 'node:http2', 'module.exports = { constants: {} };'],
  // commander starts other programs for subcommands that are files of their own; ours are not.
  ['/commander/', 'node:child_process', 'export default {};'],
  // The default import of it evaluates every property there is.
  ['/commander/', 'node:process', 'export default globalThis.process;'],
];

/**
 * A command that ends after half a second loads the parts of packages that it uses. An import of another part of undici fails
 * the build.
 */
export function slimPackages(): Plugin {
  return {
    name: 'slim-packages',
    resolveId(source, importer) {
      if (source === 'undici') return ENTRY;
      const index = LESS.findIndex(([name, module]) => module === source && importer?.includes(name) === true);
      return index === -1 ? null : `${REPLACED}${index}`;
    },
    load(id) {
      if (id === ENTRY) return { code: PARTS, moduleType: 'js' };
      const less = id.startsWith(REPLACED) ? LESS[Number(id.slice(REPLACED.length))] : undefined;
      return less === undefined ? null : { code: less[2], moduleType: 'js' };
    },
  };
}
