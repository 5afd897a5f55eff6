import { posix } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';
import {
  AMBIENT_GLOBALS,
  AMBIENT_MODULES,
  type Allowance,
  type Ambient,
  CHANCE_OF_CRYPTO,
  FILE_LINES_MAX,
  FORBIDDEN_FOLDERS,
  FUNCTION_LINES_MAX,
  INSTEAD,
  LAYERS,
  POLICIES,
  REVEALED_IN,
  SPINE,
  TEST_TIME_LIMIT_MS_MIN,
} from './rules.ts';

/** One breach of a rule. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly rule: Rule;
  readonly message: string;
}

export type Rule =
  | 'syntax'
  | 'layer'
  | 'cycle'
  | 'folder-name'
  | 'kind-is-pure'
  | 'spine'
  | 'sandbox-stands-alone'
  | 'ambient'
  | 'stale-allowance'
  | 'file-size'
  | 'function-size'
  | 'unexplained-any'
  | 'unexplained-suppression'
  | 'secret-revealed'
  | 'short-time-limit';

/** Files of a kind that know the platform's API: what it asks, sends and decodes, and when. The rest of a kind is pure. */
const SPEAKS_THE_API: ReadonlySet<string> = new Set(['calls.ts', 'readings.ts', 'requests.ts', 'wire.ts']);

/** What one file imports: the specifier as written, and whether types alone are taken. */
interface Import {
  readonly specifier: string;
  readonly names: readonly string[];
  readonly typesOnly: boolean;
  readonly start: number;
}

interface Parsed {
  readonly path: string;
  readonly text: string;
  readonly program: ESTree.Program;
  readonly comments: readonly { readonly value: string; readonly start: number; readonly end: number }[];
  readonly imports: readonly Import[];
}

/**
 * Checks a set of TypeScript files.
 * @param files path from the project's root (with `/`) → text.
 */
export function checkFiles(
  files: ReadonlyMap<string, string>,
  allowed: Readonly<Record<string, Allowance>>,
): readonly Finding[] {
  const findings: Finding[] = [];
  const used = new Map<string, Set<Ambient>>();
  const sources: Parsed[] = [];
  for (const [path, text] of files) {
    const parsed = parse(path, text, findings);
    if (parsed === undefined) continue;
    findings.push(...folderNames(parsed), ...fileSize(parsed), ...unexplained(parsed), ...shortTimeLimits(parsed));
    if (!path.startsWith('src/')) continue;
    sources.push(parsed);
    findings.push(
      ...importDirection(parsed),
      ...besideTheSpine(parsed),
      ...functionSizes(parsed),
      ...revealedSecrets(parsed),
    );
    const uses = ambientUses(parsed);
    used.set(path, new Set(uses.map((use) => use.ambient)));
    for (const use of uses) {
      if (allowed[path]?.uses.includes(use.ambient) === true) continue;
      const message = `${use.what} is ${use.ambient}: ${INSTEAD[use.ambient]}`;
      findings.push({ file: path, line: use.line, rule: 'ambient', message });
    }
  }
  return [...findings, ...importCycles(sources), ...staleAllowances(allowed, used)];
}

function parse(path: string, text: string, findings: Finding[]): Parsed | undefined {
  const { program, comments, errors } = parseSync(path, text);
  const error = errors[0];
  if (error !== undefined) {
    findings.push({ file: path, line: 1, rule: 'syntax', message: error.message });
    return undefined;
  }
  return { path, text, program, comments, imports: importsOf(program) };
}

function importsOf(program: ESTree.Program): readonly Import[] {
  const imports: Import[] = [];
  new Visitor({
    ImportDeclaration(node) {
      const names = node.specifiers.map((part) =>
        part.type === 'ImportSpecifier' && part.imported.type === 'Identifier' ? part.imported.name : '*',
      );
      const allTypes =
        node.specifiers.length > 0 &&
        node.specifiers.every((part) => part.type === 'ImportSpecifier' && part.importKind === 'type');
      const typesOnly = node.importKind === 'type' || allTypes;
      imports.push({ specifier: node.source.value, names, typesOnly, start: node.start });
    },
    ExportNamedDeclaration(node) {
      if (node.source === null) return;
      const typesOnly = node.exportKind === 'type';
      imports.push({ specifier: node.source.value, names: ['*'], typesOnly, start: node.start });
    },
    ExportAllDeclaration(node) {
      const typesOnly = node.exportKind === 'type';
      imports.push({ specifier: node.source.value, names: ['*'], typesOnly, start: node.start });
    },
    ImportExpression(node) {
      const specifier = node.source.type === 'Literal' ? String(node.source.value) : '';
      imports.push({ specifier, names: ['*'], typesOnly: false, start: node.start });
    },
    TSImportType(node) {
      imports.push({ specifier: node.source.value, names: ['*'], typesOnly: true, start: node.start });
    },
  }).visit(program);
  return imports;
}

/** Time limits of tests and polls that a busy machine may exceed: they may only detect a hang. */
function shortTimeLimits({ path, text, program }: Parsed): Finding[] {
  const findings: Finding[] = [];
  if (!path.endsWith('.test.ts')) return findings;
  new Visitor({
    CallExpression({ callee, arguments: given, start }) {
      const called = text.slice(callee.start, callee.end);
      if (!/^(?:test|it|describe|beforeAll|beforeEach|afterAll|afterEach)\b|\.poll$/.test(called)) return;
      for (const argument of given) {
        const limits =
          argument.type === 'ObjectExpression'
            ? argument.properties.flatMap((property) =>
                property.type === 'Property' && text.slice(property.key.start, property.key.end) === 'timeout'
                  ? [property.value]
                  : [],
              )
            : [argument];
        for (const limit of limits) {
          if (limit.type !== 'Literal' || typeof limit.value !== 'number' || limit.value >= TEST_TIME_LIMIT_MS_MIN)
            continue;
          const message = `a time limit of ${limit.value} ms: a test may not fail because the machine is slow`;
          findings.push({ file: path, line: lineAt(text, start), rule: 'short-time-limit', message });
        }
      }
    },
  }).visit(program);
  return findings;
}

function importDirection({ path, text, imports }: Parsed): Finding[] {
  const findings: Finding[] = [];
  const from = layerOf(path);
  const say = (rule: Rule, start: number, message: string): void => {
    findings.push({ file: path, line: lineAt(text, start), rule, message });
  };
  if (!LAYERS.includes(from)) say('layer', 0, `src/${from} is not in the list of layers`);
  for (const { specifier, typesOnly, start } of imports) {
    if (!specifier.startsWith('.')) continue;
    const target = posix.join(posix.dirname(path), specifier);
    if (!target.startsWith('src/')) {
      if (target !== 'package.json') say('layer', start, `${target} is outside src`);
      continue;
    }
    const to = layerOf(target);
    if (LAYERS.indexOf(to) > LAYERS.indexOf(from)) say('layer', start, `${from} may not import ${to}: it is below`);
    if (from === 'kinds' && to === 'platform' && !SPEAKS_THE_API.has(posix.basename(path))) {
      say('kind-is-pure', start, `only ${[...SPEAKS_THE_API].join(', ')} of a kind may import platform/`);
    }
    if (from === 'sandbox' && to === 'platform' && !typesOnly) {
      say(
        'sandbox-stands-alone',
        start,
        `the sandbox takes only types from platform/: else one misreading is on both sides`,
      );
    }
  }
  return findings;
}

/**
 * Files that import each other, by any way: statement, `import()`, types alone. Oxlint's `import/no-cycle` does not follow
 * `import()`, which is how commands are loaded.
 */
function importCycles(sources: readonly Parsed[]): Finding[] {
  const findings: Finding[] = [];
  const byPath = new Map(sources.map((parsed) => [parsed.path, parsed]));
  const done = new Set<string>();
  const visit = (path: string, chain: readonly string[]): void => {
    const { text, imports } = byPath.get(path) ?? { text: '', imports: [] };
    for (const { specifier, start } of imports) {
      const target = posix.join(posix.dirname(path), specifier);
      const from = [...chain, path].indexOf(target);
      if (from !== -1) {
        const message = [...chain, path].slice(from).concat(target).join(' → ');
        findings.push({ file: path, line: lineAt(text, start), rule: 'cycle', message });
      } else if (byPath.has(target) && !done.has(target)) visit(target, [...chain, path]);
    }
    done.add(path);
  };
  for (const path of byPath.keys()) if (!done.has(path)) visit(path, []);
  return findings;
}

function besideTheSpine({ path, text, imports }: Parsed): Finding[] {
  if (layerOf(path) === 'reconcile' || POLICIES.has(path)) return [];
  return imports.flatMap(({ specifier, names, typesOnly, start }): Finding[] => {
    const target = posix.join(posix.dirname(path), specifier);
    const kept = SPINE[target];
    // A part calls its neighbours; only types are nobody's business.
    if (kept === undefined || typesOnly || posix.dirname(target) === posix.dirname(path)) return [];
    const called = kept === 'all' ? names : names.filter((name) => name === '*' || kept.test(name));
    if (called.length === 0) return [];
    const message = `${called.join(', ')} of ${target}: call reconcile() with a policy`;
    return [{ file: path, line: lineAt(text, start), rule: 'spine', message }];
  });
}

/** `src/kinds/x/y.ts` → `kinds`; `src/main.ts` → `main.ts`. */
function layerOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function folderNames({ path }: Parsed): Finding[] {
  const bad = path
    .split('/')
    .slice(0, -1)
    .find((folder) => FORBIDDEN_FOLDERS.has(folder));
  if (bad === undefined) return [];
  return [
    { file: path, line: 1, rule: 'folder-name', message: `a folder called ${bad} says nothing: name its subject` },
  ];
}

function fileSize({ path, text }: Parsed): Finding[] {
  const lines = text.split('\n').length - 1;
  if (lines <= FILE_LINES_MAX) return [];
  return [{ file: path, line: lines, rule: 'file-size', message: `${lines} lines, at most ${FILE_LINES_MAX}` }];
}

/** Whole functions: with their comments, and with the functions inside them. */
function functionSizes({ path, text, program }: Parsed): Finding[] {
  const findings: Finding[] = [];
  const note = (node: { start: number; end: number }): void => {
    const lines = text.slice(node.start, node.end).split('\n').length;
    if (lines <= FUNCTION_LINES_MAX) return;
    const message = `a function of ${lines} lines, at most ${FUNCTION_LINES_MAX}`;
    findings.push({ file: path, line: lineAt(text, node.start), rule: 'function-size', message });
  };
  new Visitor({ FunctionDeclaration: note, FunctionExpression: note, ArrowFunctionExpression: note }).visit(program);
  return findings;
}

function revealedSecrets({ path, text, program }: Parsed): Finding[] {
  if (layerOf(path) === 'platform' || path in REVEALED_IN) return [];
  const findings: Finding[] = [];
  new Visitor({
    MemberExpression(node) {
      if (node.property.type !== 'Identifier' || node.property.name !== 'reveal') return;
      const message = 'a Secret is revealed only in platform/, when a request is put on the wire';
      findings.push({ file: path, line: lineAt(text, node.start), rule: 'secret-revealed', message });
    },
  }).visit(program);
  return findings;
}

/** `any` needs a comment on its line or the line above, and so does every order to a tool to look away. */
function unexplained({ path, text, program, comments }: Parsed): Finding[] {
  const findings: Finding[] = [];
  const commented = new Set(comments.flatMap(({ start, end }) => [lineAt(text, start), lineAt(text, end)]));
  new Visitor({
    TSAnyKeyword(node) {
      const line = lineAt(text, node.start);
      if (commented.has(line) || commented.has(line - 1)) return;
      findings.push({
        file: path,
        line,
        rule: 'unexplained-any',
        message: 'say in a comment why this cannot be typed',
      });
    },
  }).visit(program);
  for (const { value, start } of comments) {
    const words = value.trim();
    const orders = /^(?:oxlint-disable|eslint-disable|biome-ignore|@ts-ignore|@ts-expect-error|@ts-nocheck)\b/.test(
      words,
    );
    // The compiler's order needs no rule's name, so whatever follows it is the reason.
    if (!orders || /(?: -- |: |^@ts-expect-error )\S/.test(words)) continue;
    const message = `give the reason behind " -- ": ${words}`;
    findings.push({ file: path, line: lineAt(text, start), rule: 'unexplained-suppression', message });
  }
  return findings;
}

interface AmbientUse {
  readonly ambient: Ambient;
  readonly what: string;
  readonly line: number;
}

function ambientUses({ text, program, imports }: Parsed): readonly AmbientUse[] {
  const uses: AmbientUse[] = [];
  const add = (ambient: Ambient, what: string, start: number): void => {
    uses.push({ ambient, what, line: lineAt(text, start) });
  };
  for (const { specifier, names, typesOnly, start } of imports) {
    if (typesOnly) continue;
    const module = specifier.replace(/^node:/, '');
    const ambient = AMBIENT_MODULES[module];
    if (ambient !== undefined) add(ambient, specifier, start);
    if (module === 'crypto') {
      const chance = names.filter((name) => name === '*' || CHANCE_OF_CRYPTO.has(name));
      if (chance.length > 0) add('chance', `${chance.join(', ')} of node:crypto`, start);
    }
  }
  const notReferences = new Set<object>();
  new Visitor({
    MemberExpression(node) {
      if (!node.computed) notReferences.add(node.property);
      if (node.object.type !== 'Identifier' || node.property.type !== 'Identifier') return;
      const name = `${node.object.name}.${node.property.name}`;
      if (name === 'Date.now') add('clock', name, node.start);
      if (name === 'Math.random') add('chance', name, node.start);
      if (name.startsWith('crypto.') && CHANCE_OF_CRYPTO.has(node.property.name)) add('chance', name, node.start);
    },
    Property(node) {
      if (!node.computed && !node.shorthand) notReferences.add(node.key);
    },
    MethodDefinition: (node) => void notReferences.add(node.key),
    PropertyDefinition: (node) => void notReferences.add(node.key),
    TSPropertySignature: (node) => void notReferences.add(node.key),
    TSMethodSignature: (node) => void notReferences.add(node.key),
    NewExpression(node) {
      const isDate = node.callee.type === 'Identifier' && node.callee.name === 'Date';
      if (isDate && node.arguments.length === 0) add('clock', 'new Date()', node.start);
    },
    Identifier(node) {
      const ambient = Object.hasOwn(AMBIENT_GLOBALS, node.name) ? AMBIENT_GLOBALS[node.name] : undefined;
      if (ambient !== undefined && !notReferences.has(node)) add(ambient, node.name, node.start);
    },
  }).visit(program);
  return uses;
}

function staleAllowances(
  allowed: Readonly<Record<string, Allowance>>,
  used: ReadonlyMap<string, ReadonlySet<Ambient>>,
): Finding[] {
  return Object.entries(allowed).flatMap(([file, { uses }]) =>
    uses
      .filter((ambient) => used.get(file)?.has(ambient) !== true)
      .map((ambient): Finding => {
        const message = `the allow-list lets this file use ${ambient}, and it does not: take it off the list`;
        return { file, line: 1, rule: 'stale-allowance', message };
      }),
  );
}

const lineStarts = new Map<string, readonly number[]>();

function lineAt(text: string, offset: number): number {
  let starts = lineStarts.get(text);
  if (starts === undefined) {
    starts = [...text.matchAll(/\n/g)].map(({ index }) => index);
    lineStarts.set(text, starts);
  }
  let low = 0;
  for (let high = starts.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}
