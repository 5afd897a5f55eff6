import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { formatFile } from '../../src/manifest/format.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { type Json, type JsonObject, plainJson } from '../../src/model/json.ts';

/** Writes documents as people of all tastes do, with a comment wherever one may stand. */
class Author {
  readonly comments: string[] = [];
  readonly #tape: readonly number[];
  #at = 0;

  /** @param tape decides every question; when it is used up, the plainest answer is taken. */
  constructor(tape: readonly number[]) {
    this.#tape = tape;
  }

  /** One of the numbers below `choices`. */
  #choose(choices: number): number {
    this.#at += 1;
    return (this.#tape[this.#at - 1] ?? 0) % choices;
  }

  #comment(): string {
    const comment = `# c${this.comments.length}${this.#choose(3) === 1 ? ': "a" [b' : ''}`;
    this.comments.push(comment);
    return comment;
  }

  #lineEnd(): string {
    return this.#choose(3) === 1 ? `${this.#choose(2) === 1 ? '   ' : ' '}${this.#comment()}` : '';
  }

  /** What may stand above a field: blank lines, and comments in any column. */
  #above(indent: string): readonly string[] {
    switch (this.#choose(6)) {
      case 1:
        return [indent + this.#comment()];
      case 2:
        return ['', '', indent + this.#comment(), indent + this.#comment()];
      case 3:
        return [indent + this.#comment(), ''];
      case 4:
        return [`${this.#choose(2) === 1 ? '' : `${indent}   `}${this.#comment()}`];
      case 5:
        return ['', ''];
      default:
        return [];
    }
  }

  #shuffled<T>(items: readonly T[]): readonly T[] {
    const rest = [...items];
    return items.flatMap(() => rest.splice(this.#choose(rest.length), 1));
  }

  #scalar(value: Json): string {
    if (typeof value !== 'string') return JSON.stringify(value);
    const style = this.#choose(3);
    if (style === 1) return `'${value.replaceAll("'", "''")}'`;
    const isPlain = /^[A-Za-z][A-Za-z0-9 /-]*$/.test(value) && !/^(?:true|false|null)$/i.test(value);
    return style === 0 && isPlain ? value : JSON.stringify(value);
  }

  #flow(value: Json): string {
    if (Array.isArray(value)) return `[${value.map((item: Json) => this.#flow(item)).join(', ')}]`;
    if (typeof value !== 'object' || value === null) return this.#scalar(value);
    const members = this.#shuffled(Object.entries(value as JsonObject));
    return `{ ${members.map(([key, member]) => `${key}: ${this.#flow(member ?? null)}`).join(', ')} }`;
  }

  /** `[ … ]` over several lines, each with its comment. */
  #openFlow(items: readonly Json[], indent: string): readonly string[] {
    return [
      '[',
      ...items.map(
        (item, index) => `${indent}  ${this.#flow(item)}${index < items.length - 1 ? ',' : ''}${this.#lineEnd()}`,
      ),
      `${indent}]`,
    ];
  }

  map(value: JsonObject, indent: string): readonly string[] {
    const lines = this.#shuffled(Object.entries(value)).flatMap(([key, member]) => [
      ...this.#above(indent),
      ...this.#field(`${indent}${this.#choose(4) === 1 ? `"${key}"` : key}:`, member ?? null, indent),
    ]);
    return this.#choose(5) === 1 ? [...lines, indent + this.#comment()] : lines;
  }

  #field(start: string, value: Json, indent: string): readonly string[] {
    const deeper = `${indent}${this.#choose(2) === 1 ? '    ' : '  '}`;
    const isNested = typeof value === 'object' && value !== null;
    if (!isNested || this.#choose(3) === 1) return [`${start} ${this.#flow(value)}${this.#lineEnd()}`];
    if (!Array.isArray(value)) {
      const empty = Object.keys(value).length === 0;
      return empty ? [`${start} {}`] : [`${start}${this.#lineEnd()}`, ...this.map(value as JsonObject, deeper)];
    }
    if (value.length === 0) return [`${start} []`];
    if (this.#choose(4) === 1) {
      const [first = '', ...rest] = this.#openFlow(value as readonly Json[], indent);
      return [`${start} ${first}${this.#lineEnd()}`, ...rest];
    }
    return [`${start}${this.#lineEnd()}`, ...value.flatMap((item: Json) => this.#entry(item, deeper))];
  }

  #entry(item: Json, indent: string): readonly string[] {
    const above = this.#above(indent);
    const isMap = typeof item === 'object' && item !== null && !Array.isArray(item);
    if (!isMap || this.#choose(2) === 1) return [...above, `${indent}- ${this.#flow(item)}${this.#lineEnd()}`];
    const [first, ...rest] = this.#shuffled(Object.entries(item as JsonObject));
    const [key = '', member = null] = first ?? [];
    const below = this.map(Object.fromEntries(rest) as JsonObject, `${indent}  `);
    return [...above, ...this.#field(`${indent}- ${key}:`, member as Json, `${indent}  `), ...below];
  }
}

const documents = [...kindDeclarations.values()].map(({ trust, examples }) => ({ trust, examples }));
const tapes = fc.array(fc.nat(59), { maxLength: 400 });
const sets = fc.constantFrom('manifest', 'operator').chain((trust) =>
  fc.array(fc.constantFrom(...documents.filter((each) => each.trust === trust).flatMap(({ examples }) => examples)), {
    minLength: 1,
    maxLength: 3,
  }),
);

test('whatever the taste of its author, a laid out file means the same, has every comment, and stays as it is', () => {
  fc.assert(
    fc.property(sets, tapes, (set, tape) => {
      const author = new Author(tape);
      const before = `${set.map((document) => author.map(document, '').join('\n')).join('\n---\n')}\n`;
      const result = formatFile(kindDeclarations, { path: 'a.yaml', content: before });
      if (result.type === 'refused') throw new Error(`${result.problems[0]?.message}:\n${before}`);
      const { text } = result;
      expect(parseAllDocuments(text).map((document) => document.toJS() as Json)).toEqual(set);
      expect(text.match(/# c[0-9]+(?:: "a" \[b)?(?=\n)/g)?.toSorted() ?? []).toEqual(author.comments.toSorted());
      expect(formatFile(kindDeclarations, { path: 'a.yaml', content: text })).toMatchObject({
        type: 'formatted',
        text,
      });
      expect(text).not.toMatch(/[ \t]\n|\n\n\n|^\n/);
      // The order of each is that of the examples, which are written in the order of the schema.
      expect([...text.matchAll(/^[A-Za-z]+(?=:)/gm)].map(([key]) => key)).toEqual(
        set.flatMap((each) => Object.keys(each)),
      );
    }),
    { numRuns: 150 },
  );
});

/** What a set of manifests wants, without where it is written. */
function desiredOf(content: string): Json {
  const { desired, problems } = loadManifests({ kinds: kindDeclarations, files: [{ path: 'a.yaml', content }] });
  expect(problems).toEqual([]);
  return plainJson([...desired].map(([id, { labels, annotations, spec }]) => [id, { labels, annotations, spec }]));
}

test('the desired state of a laid out source is the same, as the loader reads it', () => {
  const shop = ['Application', 'Component', 'HttpGatewayRule', 'StoreInstall'].flatMap((kind) => {
    const [first, second] = kindDeclarations.get(kind)?.examples ?? [];
    return kind === 'Component' ? [first, second] : [first];
  }) as readonly JsonObject[];
  fc.assert(
    fc.property(tapes, (tape) => {
      const author = new Author(tape);
      const before = `${shop.map((document) => author.map(document, '').join('\n')).join('\n---\n')}\n`;
      const result = formatFile(kindDeclarations, { path: 'a.yaml', content: before });
      expect(desiredOf(result.type === 'formatted' ? result.text : '')).toEqual(desiredOf(before));
    }),
    { numRuns: 30 },
  );
  expect(shop).toHaveLength(5);
});

const PIECES: readonly string[] = [
  'apiVersion: portolan/v1\n|kind: Application\n|kind: Settings\n|metadata:\n|spec:\n|spec: {}\n|metadata: { name: a }\n',
  '  name: a\n|  team: t\n|  region: r\n|  appId: 1\n|  scopes:\n|    allow:\n|      - a/b/c\n|{ |} |[ |] |, |: |? |- |\n|  |---\n|...\n',
  ' # c\n|# d\n|"|\'|>-\n|\\|\n|\t|\r\n|é|港|    text\n',
].flatMap((line) => line.split(/(?<!\\)\|/).map((piece) => piece.replace('\\|', '|')));

test('whatever a file holds, it is refused, or what comes of it stays as it is', () => {
  const valid =
    'apiVersion: portolan/v1\nkind: Application\nmetadata: { name: a }\nspec:\n  team: t\n  region: r\n  appId: 1\n';
  const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.nat(valid.length), fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 40 })), (at, piece) => {
      const result = formatFile(kindDeclarations, {
        path: 'a.yaml',
        content: valid.slice(0, at) + piece + valid.slice(at),
      });
      if (result.type === 'refused') expect(result.problems.length).toBeGreaterThan(0);
      else
        expect(formatFile(kindDeclarations, { path: 'a.yaml', content: result.text })).toMatchObject({
          text: result.text,
        });
    }),
    { numRuns: 2000 },
  );
});
