import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { formatPath, parsePath } from '../../src/manifest/paths.ts';
import { renderProblems, renderProblemsJson } from '../../src/manifest/render.ts';
import { readPlainScalar } from '../../src/manifest/scalars.ts';
import { parseVariables, substitute } from '../../src/manifest/substitute.ts';
import { editDistance } from '../../src/manifest/suggest.ts';

const PIECES: readonly string[] = [
  'apiVersion: portolan/v1\n|kind: Component\n|kind: Platform\n|kind: Settings\n|metadata:\n|spec:\n',
  '  name: a\n|  application: a\n|  ports:\n|    - |{ |} |[ |] |, |port: 8080|: |? |- |\n|  |\t|---\n|...\n|%YAML 1.1\n',
  '"|\'|>-\n|#|&a |*a |!!str |<<: |~|${A}|${|$${|__proto__: |constructor: |0x1F|1e3|\u0000|\u202e|\ud800|\r|é|😀|\\x',
].flatMap((line) => line.split('|'));

/** Pieces of manifests and of YAML's own syntax, in any order: far more faults per character than arbitrary text. */
const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((parts) => parts.join(''));

const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }),
  pieces,
  fc.json(),
);

test('whatever a file holds, it is read to the end or reported, at a place that exists, and nothing else is touched', () => {
  const before = Object.getOwnPropertyNames(Object.prototype);
  fc.assert(
    fc.property(anything, (content) => {
      const manifests = loadManifests({
        kinds: kindDeclarations,
        files: [{ path: 'a.yaml', content }],
        variables: new Map([['A', '1']]),
      });
      const configuration = loadConfiguration(kindDeclarations, content, 'portolan.yaml');
      const lines = Buffer.from(content).toString('utf8').split('\n').length;
      for (const problem of [...manifests.problems, ...configuration.problems]) {
        expect(problem.message).not.toBe('');
        expect(problem.position.line).toBeGreaterThanOrEqual(1);
        expect(problem.position.line).toBeLessThanOrEqual(lines);
        expect(problem.position.column).toBeGreaterThanOrEqual(1);
      }
      if (manifests.problems.length > 0) expect(manifests.desired.size).toBe(0);
      const text = renderProblems(manifests.problems, { color: false });
      // oxlint-disable-next-line eslint/no-control-regex -- No byte of a file may reach the terminal as a command.
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      expect(JSON.parse(renderProblemsJson(manifests.problems))).toEqual({ problems: manifests.problems });
    }),
    { numRuns: 3000 },
  );
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
const application = (team: string) => `apiVersion: portolan/v1
kind: Application
metadata: { name: shop, labels: { note: "${team}" } }
spec: { team: team-a, region: region-1, appId: 42 }
`;

test('a value of a variable is text in its place and nothing more, whatever it looks like', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 60 }), pieces), (value) => {
      const files = [{ path: 'a.yaml', content: application('<${V}>') }];
      const { desired, problems } = loadManifests({
        kinds: kindDeclarations,
        files,
        variables: new Map([['V', value]]),
      });
      const labels = desired.get('Application/shop')?.labels;
      // Refused where it holds what no value may hold; else it is there as it was given.
      if (problems.length === 0) expect(labels).toEqual({ note: `<${value}>`.normalize('NFC') });
      else expect(problems.map(({ path }) => path)).toEqual(['metadata.labels.note']);
    }),
  );
});

test('what is escaped comes out as it was, whatever variables there are', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ' ', '"') }),
      fc.dictionary(name, fc.string()),
      (text, values) => {
        const escaped = text.replaceAll('${', () => '$${');
        expect(substitute(escaped, new Map(Object.entries(values)))).toEqual({ text, faults: [] });
      },
    ),
  );
});

test('a variable that is not set is a fault, and its text stays', () => {
  fc.assert(
    fc.property(name, (variable) => {
      const { text, faults } = substitute(`a \${${variable}} b`, new Map());
      expect(text).toBe(`a \${${variable}} b`);
      expect(faults.map(({ code }) => code)).toEqual(['substitution/unset']);
    }),
  );
});

test('variables written to a file as JSON strings are read back', () => {
  const value = fc.string();
  fc.assert(
    fc.property(fc.dictionary(name, value), (values) => {
      const entries = Object.entries(values);
      const text = entries.map(([key, item]) => `${key}=${JSON.stringify(item)}`).join('\n');
      const { variables, problems } = parseVariables(text, 'vars.env');
      if (problems.length === 0) expect([...variables]).toEqual(entries);
      else expect(problems[0]?.code).toBe('yaml/unsafe-character');
    }),
  );
});

test('a number is taken only if it reads back as it was written', () => {
  fc.assert(
    fc.property(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.bigInt()), (value) => {
      const scalar = readPlainScalar(String(value));
      if (scalar.ok && typeof scalar.value === 'number')
        expect(String(scalar.value)).toBe(String(value).replace(/^-0$/, '0'));
      else expect(scalar.ok).toBe(false);
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: -65_535, max: 65_535 }), (value) => {
      expect(readPlainScalar(String(value))).toEqual({ ok: true, value: value === 0 ? 0 : value });
    }),
  );
});

test('a path is read back as it was written', () => {
  const step = fc.oneof(fc.nat(), fc.string({ minLength: 1 }), name);
  fc.assert(
    fc.property(fc.array(step), (path) => {
      expect(parsePath(formatPath(path))).toEqual(path);
    }),
  );
});

test('the edit distance is a distance', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
  fc.assert(
    fc.property(word, word, (left, right) => {
      const distance = editDistance(left, right, 20);
      expect(editDistance(right, left, 20)).toBe(distance);
      expect(distance === 0).toBe(left === right);
      expect(editDistance(left, right, Math.max(0, distance - 1)) > Math.max(0, distance - 1)).toBe(distance > 0);
    }),
  );
  expect(editDistance('htpp', 'http', 3)).toBe(1);
  expect(editDistance('serviceNmae', 'serviceName', 3)).toBe(1);
});
