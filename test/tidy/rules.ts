/** What the code keeps to, as data. `checker.ts` holds it, `tidy.test.ts` runs it over the whole project. */

/** A folder of src may import itself and folders before it. */
export const LAYERS: readonly string[] = [
  'model',
  'runtime',
  'platform',
  'sandbox',
  'kinds',
  'manifest',
  'policies',
  'configuration',
  'plan',
  'ledger',
  'reconcile',
  'report',
  'source',
  'controller',
  'views',
  'server',
  'dashboard',
  'cli',
  'worker.ts',
  'main.ts',
];

/**
 * Parts of the spine that nobody but reconcile/ and the policies may call: whoever has a loop or a guard of his own is
 * not what the simulator runs. A list: these names alone.
 */
export const SPINE: Readonly<Record<string, 'all' | RegExp>> = {
  'src/reconcile/apply/apply-plan.ts': 'all',
  'src/reconcile/resolution/resolve.ts': 'all',
  'src/plan/plan-scope.ts': 'all',
  'src/plan/budget.ts': /^guard[A-Z]/,
  'src/plan/guard.ts': /^(?:guard[A-Z]|tollOf$)/,
  'src/reconcile/passes.ts': 'all',
  'src/reconcile/guards.ts': 'all',
  'src/reconcile/observation.ts': 'all',
  'src/reconcile/read-back.ts': 'all',
  'src/reconcile/rounds.ts': 'all',
};

/** Outside of reconcile/, what a driver lets an application or a source do. */
export const POLICIES: ReadonlySet<string> = new Set([
  'src/controller/acceptance.ts',
  'src/controller/account.ts',
  'src/controller/daemon-policy.ts',
]);

/** Names that say nothing, and so collect everything. */
export const FORBIDDEN_FOLDERS: ReadonlySet<string> = new Set(['util', 'utils', 'lib', 'common', 'helpers']);

export const FILE_LINES_MAX = 400;
export const FUNCTION_LINES_MAX = 60;
/** A time limit of a test detects a hang; a busy machine must stay below it. */
export const TEST_TIME_LIMIT_MS_MIN = 300_000;

/** Parts of the world that code gets handed in, instead of reaching for them. */
export type Ambient = 'clock' | 'chance' | 'process' | 'console' | 'network' | 'files';

/** What to use in its place. */
export const INSTEAD: Readonly<Record<Ambient, string>> = {
  clock: 'take a Clock (src/runtime/clock.ts)',
  chance: 'take a Random (src/runtime/random.ts)',
  process: 'take what you need as an argument: only src/main.ts knows the process',
  console: 'take a Log or a Terminal',
  network: 'take a Transport, or add the file to the allow-list with its reason',
  files: 'take text, or add the file to the allow-list with its reason',
};

/** Global names; `Date` counts where the current time is read. */
export const AMBIENT_GLOBALS: Readonly<Record<string, Ambient>> = {
  performance: 'clock',
  setTimeout: 'clock',
  setInterval: 'clock',
  setImmediate: 'clock',
  process: 'process',
  console: 'console',
  fetch: 'network',
  WebSocket: 'network',
  EventSource: 'network',
};

/** Modules, with or without `node:`; types may be imported from anywhere. */
export const AMBIENT_MODULES: Readonly<Record<string, Ambient>> = {
  timers: 'clock',
  'timers/promises': 'clock',
  perf_hooks: 'clock',
  process: 'process',
  child_process: 'process',
  worker_threads: 'process',
  os: 'process',
  readline: 'process',
  'readline/promises': 'process',
  http: 'network',
  https: 'network',
  http2: 'network',
  net: 'network',
  tls: 'network',
  dgram: 'network',
  dns: 'network',
  'dns/promises': 'network',
  undici: 'network',
  ky: 'network',
  fastify: 'network',
  fs: 'files',
  'fs/promises': 'files',
  sqlite: 'files',
  chokidar: 'files',
  pg: 'network',
};

/** Beside platform/, the few files that put a secret on a wire of their own, each with what for. */
export const REVEALED_IN: Readonly<Record<string, string>> = {
  'src/sandbox/transport.ts': 'the transport in memory stands in for the wire',
  'src/cli/server/client.ts': 'sends the token to the server that commands ask',
  'src/server/secrets.ts': 'compares what callers sent, after the same time for yes and no',
  'src/source/git-transport.ts': 'hands git what a remote repository asks for',
  'src/server/sign-in/provider.ts': 'authenticates the client at the OpenID Connect provider',
  'src/ledger/postgres/pool.ts': 'hands the database the password of its role',
  'src/controller/outbound.ts': 'signs and authenticates what is sent to receivers and collectors',
};

/** Members of node:crypto that are chance. */
export const CHANCE_OF_CRYPTO: ReadonlySet<string> = new Set([
  'randomBytes',
  'randomFill',
  'randomFillSync',
  'randomInt',
  'randomUUID',
  'getRandomValues',
  'webcrypto',
]);

export interface Allowance {
  readonly uses: readonly Ambient[];
  readonly reason: string;
}

/** The few files that touch the world, each with its reason. An entry that is not needed any more is a fault too. */
export const ALLOWED: Readonly<Record<string, Allowance>> = {
  'src/main.ts': { uses: ['process'], reason: 'turns the process into the surroundings of a command' },
  'src/worker.ts': { uses: ['process'], reason: 'the thread that reads sources; knows that it is one' },
  'src/runtime/thread.ts': { uses: ['process'], reason: 'starts threads, and ends them' },
  'src/runtime/clock.ts': {
    uses: ['clock', 'files', 'process'],
    reason: 'the one real clock; how long the machine has been up, and which start of it this is',
  },
  'src/runtime/random.ts': { uses: ['chance'], reason: 'the one real source of chance' },
  'src/manifest/system-calls.ts': { uses: ['files'], reason: 'reads the manifests that a command is given' },
  'src/platform/http.ts': { uses: ['network'], reason: 'the one transport that meets a socket' },
  'src/controller/outbound.ts': {
    uses: ['network'],
    reason: 'the one way out to receivers of notifications and traces; refuses addresses that no receiver has',
  },
  'src/configuration/forbidden-hosts.ts': { uses: ['network'], reason: 'compares addresses; opens nothing' },
  'src/sandbox/durable.ts': { uses: ['files'], reason: 'keeps the state of a sandbox in a folder' },
  'src/sandbox/server.ts': { uses: ['network'], reason: 'the sandbox is a server' },
  'src/server/app.ts': { uses: ['network'], reason: 'the HTTP API is a server' },
  'src/server/waiting.ts': { uses: ['network'], reason: 'the server of a controller that waits for its database' },
  'src/configuration/settings/server-spec.ts': {
    uses: ['network'],
    reason: 'tells addresses from names; opens nothing',
  },
  'src/server/hosts.ts': { uses: ['network'], reason: 'tells addresses from names; opens nothing' },
  'src/server/metrics-process.ts': { uses: ['clock'], reason: 'asks the loop of this process how busy it was' },
  'src/server/dashboard.ts': {
    uses: ['files'],
    reason: 'reads the files of the dashboard, which the HTTP API serves',
  },
  'src/server/certificates.ts': {
    uses: ['files', 'network'],
    reason: 'reads the certificate of the server, and those that it trusts',
  },
  'src/server/proxies.ts': { uses: ['network'], reason: 'compares addresses; opens nothing' },
  'src/server/sign-in/attempts.ts': { uses: ['network'], reason: 'tells the forms of addresses; opens nothing' },
  'src/server/sign-in/provider-fetch.ts': {
    uses: ['network'],
    reason: 'the one way out to an OpenID Connect provider, with the rules of outbound.ts',
  },
  'src/source/git.ts': { uses: ['process'], reason: 'runs git, which reads commits, and fetches them' },
  'src/source/watcher.ts': { uses: ['files'], reason: 'hears of changed refs and files' },
  'src/source/watch-plan.ts': {
    uses: ['files'],
    reason: 'finds the files and links in which a change of a source shows',
  },
  'src/source/git-transport.ts': { uses: ['files'], reason: 'hands git an ssh key' },
  'src/source/mirror.ts': { uses: ['files'], reason: 'keeps the repository that is fetched' },
  'src/source/folder-scan.ts': { uses: ['files'], reason: 'sees whether plain files hold still' },
  'src/source/checkout.ts': { uses: ['files'], reason: 'finds the git repository that a path belongs to' },
  'src/dashboard/api.ts': { uses: ['network'], reason: 'sends the requests of the dashboard from a browser' },
  'src/dashboard/clock.ts': { uses: ['clock'], reason: 'the one clock of the dashboard in a browser' },
  'src/dashboard/recovery.ts': {
    uses: ['network', 'clock'],
    reason: 'requests files again that did not arrive; the boot script contains it, so it imports nothing',
  },
  'src/dashboard/live.ts': { uses: ['chance'], reason: 'browsers that lost a controller do not all return at once' },
  'src/cli/commands/conformance/proxy.ts': { uses: ['network'], reason: 'the proxy that loses answers is a server' },
  'src/cli/server/client.ts': { uses: ['network'], reason: 'asks a running controller' },
  'src/cli/session/files.ts': {
    uses: ['files'],
    reason: 'reads and writes the files that a command line names, those of --out too, and makes those of the demo',
  },
  'src/cli/commands/init/folder.ts': { uses: ['files'], reason: 'makes the files of a working folder' },
  'src/cli/commands/completion/local-names.ts': {
    uses: ['files'],
    reason: 'looks for names in manifests that may be half written',
  },
  'src/ledger/files.ts': { uses: ['files'], reason: 'creates and secures the ledger file' },
  'src/ledger/lock.ts': { uses: ['files'], reason: 'the lock beside the ledger file' },
  'src/ledger/open-database.ts': { uses: ['files'], reason: 'opens the ledger file' },
  'src/ledger/postgres/pool.ts': { uses: ['network'], reason: 'connects to the database of a ledger' },
};
