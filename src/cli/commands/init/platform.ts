import { listApplications } from '../../../platform/readings.ts';
import { loadConfiguration } from '../../../configuration/configuration.ts';
import { PortolanError } from '../../../model/errors.ts';
import type { PlatformClient } from '../../../platform/client.ts';
import { DEFAULT_CONFIGURATION } from '../../session/configuration.ts';
import type { Surroundings } from '../../session/command.ts';
import { createLog } from '../../session/logging.ts';
import { openPlatforms } from '../../session/platforms.ts';
import { regionStatusWord, takesChanges } from '../region-status.ts';
import type { Reach } from './answers.ts';
import { configurationText } from './folder.ts';

/** A choice: the word to type, and a description. */
export interface Choice {
  readonly word: string;
  readonly about: string;
}

/** Lists the choices that the platform offers. undefined: the platform cannot be read, and the answer must be typed. */
export type PlatformChoices = Awaited<ReturnType<typeof reachPlatform>>;

/**
 * Opens the platform of the answers so far, read only. Its methods do not fail: the first failure is reported once.
 * @param onFailure receives the reason why the platform cannot be read, in one line.
 */
export async function reachPlatform(answers: Reach, surroundings: Surroundings, onFailure: (why: string) => void) {
  const text = configurationText({ ...answers, team: '*', region: '*', appId: 1, name: 'any' });
  const { configuration } = loadConfiguration(surroundings.declarations, text, DEFAULT_CONFIGURATION);
  const log = await createLog({ logLevel: 'error', logFormat: 'text' }, surroundings);
  const platforms = openPlatforms({ configuration, file: undefined, surroundings, log });
  let isOut = false;
  const asked = async <T>(question: (client: PlatformClient) => Promise<T>): Promise<T | undefined> => {
    if (isOut) return undefined;
    try {
      return await question(platforms.client('default'));
    } catch (error) {
      if (!(error instanceof PortolanError) || surroundings.signal.aborted) throw error;
      isOut = true;
      onFailure(error.message);
      return undefined;
    }
  };
  return {
    regions: (team: string) =>
      asked(async (client): Promise<readonly Choice[]> => {
        const regions = (await client.regions({ team })).toSorted(
          (left, right) => Number(takesChanges(right.status)) - Number(takesChanges(left.status)),
        );
        return regions.map(({ name, alias, status }) => ({
          word: name,
          about: `${alias}, ${regionStatusWord(status)}`,
        }));
      }),
    /** `word` is the number, `about` the name; `{ fault }` where the platform has no such team. */
    applications: (team: string, region: string) =>
      asked(async (client): Promise<readonly Choice[] | { readonly fault: string } | undefined> => {
        try {
          const found = await client.read(listApplications, { team, region });
          return found.readable
            ? found.value.map(({ appId, name }) => ({ word: String(appId), about: name }))
            : undefined;
        } catch (error) {
          if (error instanceof PortolanError && error.code === 'platform/unknown-team')
            return { fault: 'the platform has no team of that name' };
          throw error;
        }
      }),
    close: (): Promise<void> => platforms.close(),
  };
}
