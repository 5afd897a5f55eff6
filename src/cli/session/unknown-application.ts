import { didYouMean } from '../../manifest/suggest.ts';
import { invalidInput, type PortolanError } from '../../model/errors.ts';
import { sentences } from '../terminal/text.ts';

/**
 * Returns the error for a command that names an application which the manifests do not have.
 * @param command name of the command, for the code.
 * @param otherwise another way to name an application, where there is one.
 */
export function unknownApplication(
  command: string,
  name: string,
  names: readonly string[],
  otherwise?: string,
): PortolanError {
  return invalidInput(
    `${command}/no-application`,
    `The manifests have no Application called ${name}.`,
    sentences(
      didYouMean(name, names),
      names.length === 0 ? 'They have no Application.' : `They have: ${names.join(', ')}.`,
      otherwise,
    ),
  );
}
