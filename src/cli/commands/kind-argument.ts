import type { Declarations, KindDeclaration } from '../../kinds/kind.ts';
import { didYouMean } from '../../manifest/suggest.ts';
import { invalidInput } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import { renderTable } from '../terminal/table.ts';
import type { Output } from '../terminal/terminal.ts';
import { sentences } from '../terminal/text.ts';

/**
 * Returns the kind that a word of the command line means. Ignores case, a plural s and dashes.
 * @throws PortolanError `invalid` when there is none.
 */
export function kindCalled(kinds: Declarations, word: string): KindDeclaration<unknown> {
  const wanted = plain(word);
  const declarations = [...kinds.values()];
  const found = declarations.find(({ kind }) => [plain(kind), plain(`${kind}s`)].includes(wanted));
  if (found !== undefined) return found;
  const known = declarations.map(({ kind }) => kind);
  throw invalidInput(
    'cli/unknown-kind',
    `There is no kind called ${safeLine(word)}.`,
    sentences(didYouMean(word, known), `There are: ${known.join(', ')}.`),
  );
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '');
}

/** Formats the kinds as a table, with the file that contains each. */
export function kindsTable(kinds: Declarations, out: Output): string {
  const rows = [...kinds.values()].map((one) => [one.kind, placeOf(one.trust), one.specSchema.description]);
  return renderTable(['kind', 'location', 'description'], rows, out);
}

/** Returns where documents of a kind are written. */
export function placeOf(trust: KindDeclaration<unknown>['trust']): 'configuration' | 'manifests' {
  return trust === 'operator' ? 'configuration' : 'manifests';
}
