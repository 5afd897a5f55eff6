import { hash } from 'node:crypto';
import { NAME_LENGTH_MAX } from './schema.ts';

/**
 * A valid `metadata.name` that reads like the text; undefined where too little of it is left, as of Chinese.
 * What is too long is cut, and ends in a mark of the whole.
 */
export function legibleName(text: string): string | undefined {
  const ascii = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = trimmed(ascii.replace(/[^a-z0-9.]+/g, '-').replace(/-*\.[-.]*/g, '.'));
  const lost = /[^\u0000-\u007f]/.test(ascii);
  if (slug === '' || (lost && (slug.match(/[a-z]/g) ?? []).length < 2)) return undefined;
  return slug.length <= NAME_LENGTH_MAX ? slug : suffixed(slug, markOf(text));
}

/** The name with something behind it that tells it apart, within the length that a name may have. */
function suffixed(name: string, suffix: string): string {
  return `${trimmed(name.slice(0, NAME_LENGTH_MAX - suffix.length - 1))}-${suffix}`;
}

/** Six hexadecimal digits that stand for a text, always the same. */
export function markOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 6);
}

function trimmed(name: string): string {
  return name.replace(/^[-.]+|[-.]+$/g, '');
}

/** The name itself, then with what tells its object from others; without an end. */
function* candidates(base: string, suffix: string, key: string): Generator<string> {
  yield base;
  yield suffixed(base, legibleName(suffix) ?? markOf(key));
  yield suffixed(base, markOf(key));
  for (let round = 1; ; round += 1) yield suffixed(base, markOf(`${key} ${round}`));
}

/** Names of documents: unique within a kind, and one for each object. */
export class ExportNames {
  readonly #taken = new Set<string>();
  readonly #given = new Map<string, string>();

  give(kind: string, key: string, wished: string, suffix = markOf(key)): string {
    const given = this.of(kind, key);
    if (given !== undefined) return given;
    for (const name of candidates(legibleName(wished) ?? kind.toLowerCase(), suffix, key)) {
      if (this.#taken.has(`${kind}/${name}`)) continue;
      this.#taken.add(`${kind}/${name}`);
      this.#given.set(`${kind} ${key}`, name);
      return name;
    }
    throw new Error('there is always another name');
  }

  /** Others have this name, wherever they are: nothing that is written gets it from now on. */
  reserve(kind: string, name: string): void {
    this.#taken.add(`${kind}/${name}`);
  }

  of(kind: string, key: string): string | undefined {
    return this.#given.get(`${kind} ${key}`);
  }
}
