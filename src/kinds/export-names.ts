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
export function suffixed(name: string, suffix: string): string {
  return `${trimmed(name.slice(0, NAME_LENGTH_MAX - suffix.length - 1))}-${suffix}`;
}

/** Six hexadecimal digits that stand for a text, always the same. */
export function markOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 6);
}

function trimmed(name: string): string {
  return name.replace(/^[-.]+|[-.]+$/g, '');
}

/** Names of documents: unique within a kind, and one for each object. */
export class ExportNames {
  readonly #taken = new Map<string, string>();
  readonly #given = new Map<string, string>();

  give(kind: string, key: string, wished: string, suffix = markOf(key)): string {
    const given = this.of(kind, key);
    if (given !== undefined) return given;
    const base = legibleName(wished) ?? kind.toLowerCase();
    const candidates = [base, suffixed(base, legibleName(suffix) ?? markOf(key)), suffixed(base, markOf(key))];
    for (let name = candidates.shift(), round = 0; ; round += 1) {
      const free = name ?? suffixed(base, markOf(`${key} ${round}`));
      if (!this.#taken.has(`${kind}/${free}`)) {
        this.#taken.set(`${kind}/${free}`, key);
        this.#given.set(`${kind} ${key}`, free);
        return free;
      }
      name = candidates.shift();
    }
  }

  /** Others have this name, wherever they are: nothing that is written gets it from now on. */
  reserve(kind: string, name: string): void {
    if (!this.#taken.has(`${kind}/${name}`)) this.#taken.set(`${kind}/${name}`, '');
  }

  of(kind: string, key: string): string | undefined {
    return this.#given.get(`${kind} ${key}`);
  }
}
