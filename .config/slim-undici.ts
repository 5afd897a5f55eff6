import type { Plugin } from 'rolldown';

const ENTRY = '\0undici-of-portolan';
const NO_HTTP2 = '\0no-http2';

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

/**
 * A command that ends after half a second loads the parts of undici that it uses, and not Node's HTTP/2, which no
 * connection of ours offers: undici does without where there is none. An import of another part fails the build.
 */
export function slimUndici(): Plugin {
  return {
    name: 'slim-undici',
    resolveId(source, importer) {
      if (source === 'undici') return ENTRY;
      return source === 'node:http2' && importer?.includes('/undici/') === true ? NO_HTTP2 : null;
    },
    load(id) {
      if (id === ENTRY) return { code: PARTS, moduleType: 'js' };
      return id === NO_HTTP2 ? { code: 'module.exports = { constants: {} };', moduleType: 'js' } : null;
    },
  };
}
