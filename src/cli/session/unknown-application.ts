import { didYouMean } from '../../manifest/suggest.ts';
import { invalidInput, type PortolanError } from '../../model/errors.ts';
import { sentences } from '../terminal/text.ts';

/**
 * A command names an application that the manifests do not have.
 * @param command that asks, for the code.
 * @param otherwise what else could be named, where there is anything.
 */
export function unknownApplication(
  command: string,
  name: string,
  names: readonly string[],
  otherwise?: string,
): PortolanError {
  return invalidInput(
    `${command}/no-application`,
    `The manifests have no Application called ${name}. Nothing was asked.`,
    sentences(
      didYouMean(name, names),
      names.length === 0 ? 'They have none at all.' : `They have: ${names.join(', ')}.`,
      otherwise,
    ),
  );
}
