import { hash } from 'node:crypto';
import { NAME_LENGTH_MAX } from './schema.ts';

/**
 * Returns a valid `metadata.name` that resembles the text; undefined if too few letters are left, as with Chinese. A name
 * that is too long is cut, and ends in a hash of the whole text.
 */
export function legibleName(text: string): string | undefined {
  const ascii = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = trimmed(ascii.replace(/[^a-z0-9.]+/g, '-').replace(/-*\.[-.]*/g, '.'));
  const lost = /[^\u0000-\u007f]/.test(ascii);
  if (slug === '' || (lost && (slug.match(/[a-z]/g) ?? []).length < 2)) return undefined;
  return slug.length <= NAME_LENGTH_MAX ? slug : suffixed(slug, markOf(text));
}

/** Returns the name with a suffix, cut to the longest valid length. */
function suffixed(name: string, suffix: string): string {
  return `${trimmed(name.slice(0, NAME_LENGTH_MAX - suffix.length - 1))}-${suffix}`;
}

/** Returns the first six hexadecimal digits of a text's hash. */
export function markOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 6);
}

function trimmed(name: string): string {
  return name.replace(/^[-.]+|[-.]+$/g, '');
}

/** Yields the name, then the name with suffixes that distinguish its object; never ends. */
function* candidates(base: string, suffix: string, key: string): Generator<string> {
  yield base;
  yield suffixed(base, legibleName(suffix) ?? markOf(key));
  yield suffixed(base, markOf(key));
  for (let round = 1; ; round += 1) yield suffixed(base, markOf(`${key} ${round}`));
}

/** Gives each object a document name that is unique within its kind. */
export class ExportNames {
  readonly #taken = new Set<string>();
  readonly #given = new Map<string, string>();

  give(kind: string, key: string, preferred: string, suffix = markOf(key)): string {
    const given = this.of(kind, key);
    if (given !== undefined) return given;
    for (const name of candidates(legibleName(preferred) ?? kind.toLowerCase(), suffix, key)) {
      if (this.#taken.has(`${kind}/${name}`)) continue;
      this.#taken.add(`${kind}/${name}`);
      this.#given.set(`${kind} ${key}`, name);
      return name;
    }
    throw new Error('there is always another name');
  }

  /** Reserves a name that another document has already. */
  reserve(kind: string, name: string): void {
    this.#taken.add(`${kind}/${name}`);
  }

  of(kind: string, key: string): string | undefined {
    return this.#given.get(`${kind} ${key}`);
  }
}
