import { LIMITS } from '../../src/manifest/limits.ts';

/** How long a reading took. */
export interface Time {
  readonly wallMs: number;
  /** Of all threads. */
  readonly cpuMs: number;
}

/** What reading one bomb cost. */
export interface Cost extends Time {
  readonly bytes: number;
  /** The most memory that the process ever had. */
  readonly rssMib: number;
  readonly exitCode: number;
  readonly outputBytes: number;
  /** Codes of the faults that were reported. */
  readonly codes: readonly string[];
}

const keys = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: 1`).join('\n');
const head = (kind: string) => `apiVersion: portolan/v1\nkind: ${kind}\nmetadata: { name: a }\n`;
const application = `${head('Application')}spec: { team: t, region: r, appId: 1 }\n`;
const rule = (at: number) =>
  `---\napiVersion: portolan/v1\nkind: HttpGatewayRule\nmetadata: {name: r${at}}\nspec: {application: a, component: c, port: 80, domain: d${at}.e.x}\n`;
const component = (at: number) =>
  `---\napiVersion: portolan/v1\nkind: Component\nmetadata: {name: c${at}}\nspec: {application: a, serviceId: ${at.toString(16).padStart(32, '0')}, ports: []}\n`;

/** Repeats numbered pieces until nothing more fits. */
function filled(bytes: number, start: string, piece: (at: number) => string, end = ''): string {
  const pieces = [start];
  let length = start.length + end.length;
  for (let at = 0; ; at += 1) {
    const next = piece(at);
    length += next.length;
    if (length > bytes) break;
    pieces.push(next);
  }
  return pieces.join('') + end;
}

/** Texts of a given size that make a careless reader slow, large, or both. Each is one file. */
export const bombs: Readonly<Record<string, (bytes: number) => string>> = {
  'open brackets': (bytes) => '['.repeat(bytes),
  'open braces': (bytes) => '{'.repeat(bytes),
  'open braces with keys': (bytes) => '{a: '.repeat(bytes / 4),
  'pairs of brackets': (bytes) => '[]'.repeat(bytes / 2),
  'a list of empty maps': (bytes) => filled(bytes, '[', () => '{},', ']'),
  'a list of one-letter texts': (bytes) => filled(bytes, '[', () => 'a,', ']'),
  'a list of quoted nothings': (bytes) => filled(bytes, '[', () => "'',", ']'),
  'a list of lists 30 deep': (bytes) => filled(bytes, '[', () => `${'['.repeat(30)}${']'.repeat(30)},`, ']'),
  'a list of maps with secrets': (bytes) => filled(bytes, '[', () => '{token: a},', ']'),
  'a list of addresses with passwords': (bytes) => filled(bytes, '[', () => 'x://a@b,', ']'),
  commas: (bytes) => `[${','.repeat(bytes - 2)}]`,
  'nested list marks': (bytes) => '- '.repeat(bytes / 2),
  'list marks': (bytes) => '-\n'.repeat(bytes / 2),
  'question marks': (bytes) => '? '.repeat(bytes / 2),
  'question marks on lines': (bytes) => '?\n'.repeat(bytes / 2),
  colons: (bytes) => ': '.repeat(bytes / 2),
  'colons on lines': (bytes) => ':\n'.repeat(bytes / 2),
  'nested maps': (bytes) => filled(bytes, '', (at) => `${' '.repeat(at % 32)}k:\n`),
  anchors: (bytes) => '&a '.repeat(bytes / 3),
  aliases: (bytes) => '- *a\n'.repeat(bytes / 5),
  'aliases of aliases': (bytes) => filled(bytes, 'a: &a [x]\n', (at) => `k${at}: &b${at} [*a,*a,*a,*a,*a,*a,*a,*a]\n`),
  'merge keys': (bytes) => filled(bytes, 'a: {b: c}\n', (at) => `k${at}: {<<: {b: c}}\n`),
  tags: (bytes) => '!a '.repeat(bytes / 3),
  directives: (bytes) => '%a\n'.repeat(bytes / 3),
  'double quotes': (bytes) => '"'.repeat(bytes),
  'quoted texts side by side': (bytes) => '"" '.repeat(bytes / 3),
  'single quotes': (bytes) => "'".repeat(bytes),
  'escapes in quotes': (bytes) => filled(bytes, '"', () => '\\x41', '"'),
  'many quoted texts that are not closed': (bytes) => filled(bytes, '', () => '- "a\n'),
  'line breaks': (bytes) => '\n'.repeat(bytes),
  'carriage returns': (bytes) => '\r'.repeat(bytes),
  blanks: (bytes) => ' '.repeat(bytes),
  tabs: (bytes) => '\t'.repeat(bytes),
  comments: (bytes) => '#\n'.repeat(bytes / 2),
  'documents of nothing': (bytes) => '---\n'.repeat(bytes / 4),
  'ends of documents': (bytes) => '...\n'.repeat(bytes / 4),
  documents: (bytes) => 'a: 1\n---\n'.repeat(bytes / 9),
  'documents that end': (bytes) => 'a\n...\n'.repeat(bytes / 6),
  'documents of one kind': (bytes) => filled(bytes, '', () => 'kind: Component\n---\n'),
  'distinct keys': (bytes) => keys(Math.min(LIMITS.keysPerMap, bytes / 12)),
  'too many distinct keys': (bytes) => filled(bytes, '', (at) => `k${at}: 1\n`),
  'equal keys': (bytes) => 'k: 1\n'.repeat(Math.min(LIMITS.keysPerMap - 1, bytes / 5)),
  'maps of the most keys': (bytes) => filled(bytes, '', (at) => `${at % 4000 === 0 ? '- ' : '  '}k${at}: 1\n`),
  'long keys': (bytes) => filled(bytes, '', (at) => `${'k'.repeat(1000)}${at}: 1\n`),
  'block scalars': (bytes) => 'a: |\n  x\n'.repeat(bytes / 10),
  'one block scalar of many lines': (bytes) => filled(bytes, 'a: |\n', () => ' x\n'),
  'one folded scalar of many lines': (bytes) => filled(bytes, 'a: >\n', () => ' x\n'),
  'plain text of many lines': (bytes) => filled(bytes, 'a: b\n', () => ' x\n'),
  'references to variables': () => `a: "${'${A}'.repeat(LIMITS.scalarLength / 4 - 1)}"`,
  'references to variables in many places': (bytes) => filled(bytes, '', (at) => `k${at}: $\{A${at}}\n`),
  'unfinished references': () => `a: ${'${'.repeat(LIMITS.scalarLength / 2 - 1)}`,
  'control characters': (bytes) => '\u0001'.repeat(bytes),
  'characters that reorder': (bytes) => '\u202e'.repeat(bytes / 3),
  'numbers of many digits': () => `a: ${'9'.repeat(LIMITS.scalarLength - 1)}`,
  'many numbers': (bytes) => filled(bytes, '', () => '- 0x1f\n'),
  'unknown fields': (bytes) => filled(bytes, `${head('Component')}spec:\n`, (at) => `  k${at}: 1\n`),
  'unknown fields in many documents': (bytes) =>
    filled(bytes, '', (at) => `---\n${head('Component')}spec: {a${at}: 1}\n`),
  'unknown kinds': (bytes) => filled(bytes, '', (at) => `---\nkind: K${at}\n`),
  'near misses of kinds': (bytes) => filled(bytes, '', (at) => `---\nkind: HttpGatewayRul${at}\n`),
  'names of a thousand characters': (bytes) =>
    filled(
      bytes,
      '',
      (at) => `---\napiVersion: portolan/v1\nkind: Component\nmetadata: {name: ${'n'.repeat(1000)}${at}}\n`,
    ),
  'the most annotations': (bytes) =>
    filled(
      bytes,
      'apiVersion: portolan/v1\nkind: Application\nmetadata:\n  name: a\n  annotations:\n',
      (at) => `    a${at}: b\n`,
    ),
  'ports of one component': (bytes) =>
    filled(
      bytes,
      `${application}---\n${head('Component')}spec:\n  application: a\n  serviceId: ${'a'.repeat(32)}\n  ports:\n`,
      (at) => `  - {port: ${at + 1}}\n`,
    ),
  'one port again and again': (bytes) =>
    filled(
      bytes,
      `${application}---\n${head('Component')}spec:\n  application: a\n  serviceId: ${'a'.repeat(32)}\n  ports:\n`,
      () => '  - {port: 80, alias: A}\n',
    ),
  'headers of one rule': (bytes) =>
    filled(
      bytes,
      `${head('HttpGatewayRule')}spec:\n  configuration:\n    setHeaders:\n`,
      (at) => `    - {key: X-${at}, value: v}\n`,
    ),
  rules: (bytes) => filled(bytes, application, rule),
  'rules that are all one': (bytes) => filled(bytes, application, () => rule(1)),
  components: (bytes) => filled(bytes, application, component),
  'components that are all one': (bytes) => filled(bytes, application, () => component(1)),
  'references to nothing': (bytes) => filled(bytes, '', rule),
  'installs that were moved': (bytes) =>
    filled(
      bytes,
      application,
      (at) =>
        `---\napiVersion: portolan/v1\nkind: StoreInstall\nmetadata: {name: i${at}, annotations: {portolan/moved-from: i${at + 1}}}\nspec: {application: a, store: s, model: {id: m, version: v}}\n`,
    ),
  'keys that change prototypes': (bytes) => filled(bytes, '', (at) => `- {__proto__: ${at}}\n`),
};
