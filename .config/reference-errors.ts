import { codeTemplates, type CodeUse, scanCodes } from './error-scan.ts';
import { COMPOSED_CODES, ERROR_NOTES, NOT_CODES } from './error-notes.ts';
import { GENERATED, type Page, table } from './markdown.ts';

const FOLDER = 'docs/reference/errors';

interface CodeText {
  readonly code: string;
  readonly cause: string;
  readonly remedy: string;
}

/** The subject of the codes of an area. Every area needs one. */
const AREAS: Readonly<Record<string, string>> = {
  action: 'changes of a run',
  adopt: 'adoption through a controller',
  application: 'applications',
  apply: 'the result of a run',
  cli: 'command lines and their files',
  component: 'components and their ports',
  configuration: 'the configuration',
  conformance: '`portolan conformance`',
  controller: 'requests to a running controller',
  dashboard: 'the dashboard',
  demo: '`portolan demo`',
  document: 'documents of a manifest',
  drift: 'drift',
  effect: 'changes that had no effect',
  export: '`portolan export`',
  format: '`portolan fmt`',
  guard: 'guards: limits and rules that hold a plan',
  history: '`portolan history`',
  identity: 'names of resources',
  input: 'input of a command',
  install: 'installs from a store',
  intent: 'requests whose outcome is unknown',
  ledger: 'the ledger',
  limit: 'limits of manifests',
  monitor: '`portolan monitor`',
  monitoring: 'monitoring',
  orphan: 'orphaned resources',
  outbound: 'addresses of receivers and collectors',
  plan: 'plans',
  platform: 'the platform and its answers',
  policy: 'policies of the operator',
  prune: 'removals',
  reconcile: 'modes of a resource',
  reference: 'references between documents',
  rule: 'gateway rules',
  sandbox: 'the sandbox',
  schema: 'fields of a document',
  scope: 'scopes',
  secret: 'secrets',
  server: 'the HTTP API',
  settings: 'Settings',
  source: 'the source',
  store: 'stores',
  substitution: 'variables in manifests',
  undo: '`apply --undo`',
  variables: 'files of variables',
  yaml: 'YAML',
};

/** Returns a page for each area of codes, and one that lists them. @throws when a code has no cause or no remedy. */
export function errorPages(root: string): readonly Page[] {
  const texts = codeTexts(root);
  const areas = Map.groupBy(texts, ({ code: one }) => one.split('/')[0] ?? '');
  const unknown = [...areas.keys()].filter((area) => !(area in AREAS));
  if (unknown.length > 0) throw new Error(`reference-errors.ts has no subject for these areas: ${unknown.join(', ')}`);
  const rows = [...areas].map(([area, codes]) => [
    `[\`${area}/…\`](${area}.md)`,
    AREAS[area] ?? '',
    codes.map(({ code: one }) => `[${one.slice(area.length + 1)}](${area}.md#${anchorOf(one)})`).join(', '),
  ]);
  const index = `${GENERATED}
# Codes of errors, holds and notes

Every message of Portolan ends with a code, such as \`[ledger/locked]\`. \`portolan docs CODE\` shows its entry. A code is
stable: scripts and alerts can use it. ${texts.length} codes exist.

${table(['area', 'subject', 'codes'], rows)}`;
  return [
    { file: `${FOLDER}/README.md`, text: index },
    ...[...areas].map(([area, codes]) => ({
      file: `${FOLDER}/${area}.md`,
      text: `${GENERATED}\n# Codes about ${AREAS[area]}\n\nWords in ‹ › stand for values. [All codes](README.md).\n\n${codes
        .map(entry)
        .join('\n')}`,
    })),
  ];
}

function entry({ code: one, cause, remedy }: CodeText): string {
  return `## ${one}\n\n- **Cause**: ${cause}\n- **Remedy**: ${remedy}\n`;
}

/** Returns the anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll('/', '');
}

/** Returns every code of the program, sorted. @throws when one cannot be read. */
export function codeTexts(root: string): readonly CodeText[] {
  const scanned = scanCodes(root);
  const uses = Map.groupBy(
    scanned.filter((use) => !NOT_CODES.has(use.code)),
    (use) => use.code,
  );
  const composed = Object.values(COMPOSED_CODES).flatMap((codes) => Object.entries(codes));
  const faults = [
    ...codeTemplates(root)
      .filter((start) => !(start in COMPOSED_CODES))
      .map((start) => `COMPOSED_CODES lacks the codes that begin with ${start}`),
    ...Object.keys(ERROR_NOTES)
      .filter((one) => !uses.has(one) && !composed.some(([name]) => name === one))
      .map((one) => `ERROR_NOTES has ${one}, which no code of the program has`),
    ...[...NOT_CODES]
      .filter((one) => !scanned.some((use) => use.code === one))
      .map((one) => `NOT_CODES has ${one}, which the code does not contain`),
  ];
  const found = [...uses].map(([name, places]): CodeText => {
    const [cause, remedy] = ERROR_NOTES[name] ?? composed.find(([one]) => one === name)?.[1] ?? read(places);
    if (cause === '' || remedy === '')
      faults.push(`${name} has no cause or no remedy: add it to .config/error-notes.yaml`);
    return { code: name, cause, remedy };
  });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const rest = composed
    .filter(([name]) => !uses.has(name))
    .map(([name, [cause, remedy]]) => ({ code: name, cause, remedy }));
  return [...found, ...rest].toSorted((a, b) => (a.code < b.code ? -1 : 1));
}

/** Returns cause and remedy of the place that has both. */
function read(places: readonly CodeUse[]): readonly [string, string] {
  const pairs = places.map(({ texts, named }): readonly [string, string] => {
    const cause = named['message'] ?? named['detail'] ?? texts[0] ?? '';
    const expected = named['expected'] ?? texts.find((text) => text !== cause && /^[^A-Z]/.test(text));
    const remedy =
      named['remedy'] ??
      named['override'] ??
      named['hint'] ??
      texts.find((text) => text !== cause && /^[A-Z]/.test(text));
    return [sentence(cause), sentence(remedy ?? (expected === undefined ? '' : `Use ${expected}`))];
  });
  return pairs.find((pair) => pair[0] !== '' && pair[1] !== '') ?? ['', ''];
}

/** The start of a text that is a path or a value of a document, so that it keeps its lower case. */
const FIELD = /^[a-z]\w*(?:\.[a-z]\w*)+ |^[a-z]+[A-Z]\w*:? /;

/** Returns a text of the code as a sentence of a page, with its values as code. */
function sentence(text: string): string {
  const plain = text
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(`[^`]*`)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replace(/[*_\\[\]]/g, '\\$&')
            .replace(/<([^<>]*)>/g, (_, name) => `‹${name}›`)
            .replaceAll('<', '&lt;'),
    )
    .join('');
  return plain
    .split(/ Or: /)
    .filter((part) => part !== '')
    .map((part) => {
      const first = FIELD.test(part) ? part : part.charAt(0).toUpperCase() + part.slice(1);
      return /[.!?:]$/.test(first) ? first : `${first}.`;
    })
    .join(' Or: ');
}
