import { PortolanError } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';
import type { Surroundings } from '../../session/command.ts';
import {
  type Answers,
  badFlag,
  checkFlags,
  documentName,
  type GivenAnswers,
  type Reach,
  TOKEN_VARIABLE,
  tokenOf,
  urlOf,
} from './answers.ts';
import { interviewed, interviewOn } from './questions.ts';
import { type PlatformAtHand, reachPlatform } from './platform.ts';

const NEEDED = ['url', 'team', 'region', 'appId'] as const;
const FLAG = { url: '--url', team: '--team', region: '--region', appId: '--app-id' } as const;

/**
 * Returns every answer: from the flags, and what they leave open from a person. Flags are checked against what the platform
 * lists, as the answers of a person are.
 * @throws PortolanError `invalid` when a flag cannot be used, or answers are missing and there is no terminal.
 */
export async function gatherAnswers(options: GivenAnswers, surroundings: Surroundings): Promise<Answers> {
  checkFlags(options);
  const missing = NEEDED.filter((name) => options[name] === undefined);
  const interview = missing.length === 0 ? undefined : interviewOn(surroundings.terminal);
  if (interview !== undefined) return await interviewed(options, interview, surroundings);
  const { team, region, appId, allowPlainHttp = false, authHeader: header } = options;
  if (options.url === undefined || team === undefined || region === undefined || appId === undefined) {
    throw new PortolanError({
      code: 'cli/no-terminal',
      disposition: 'invalid',
      message: 'Something is not known, and nobody can answer: this does not run on a terminal. Nothing was written.',
      remedy: `Pass ${missing.map((name) => FLAG[name]).join(', ')}.`,
    });
  }
  const url = urlOf(options.url, allowPlainHttp);
  const token = tokenOf(options) ?? { env: TOKEN_VARIABLE };
  const reach = { url, allowPlainHttp, header, token };
  const shown = options.offline === true ? '' : await checkedName({ team, region, appId }, reach, surroundings);
  return { ...reach, team, region, appId, name: options.name ?? documentName(shown, appId) };
}

type ApplicationAddress = Pick<Answers, 'team' | 'region' | 'appId'>;

/**
 * @returns the name that the platform shows of the application, or '' where it cannot be read: a note on stderr says why.
 * @throws PortolanError `invalid` for what the platform does not list.
 */
async function checkedName(place: ApplicationAddress, reach: Reach, surroundings: Surroundings): Promise<string> {
  const { err } = surroundings.terminal;
  const platform = await reachPlatform(reach, surroundings, (why) =>
    err.write(
      `note: team, region and application were not checked, because the platform cannot be read: ${safeLine(why)}\n`,
    ),
  );
  try {
    return await nameOnPlatform(place, platform);
  } finally {
    await platform.close();
  }
}

async function nameOnPlatform({ team, region, appId }: ApplicationAddress, platform: PlatformAtHand): Promise<string> {
  const regions = (await platform.regions(team)) ?? [];
  if (regions.length > 0 && !regions.some(({ word }) => word === region))
    throw badFlag('--region', `the platform lists ${listed(regions.map(({ word }) => word))}`);
  const applications = (await platform.applications(team, region)) ?? [];
  if ('fault' in applications) throw badFlag('--team', applications.fault);
  const found = applications.find(({ word }) => word === String(appId));
  if (applications.length > 0 && found === undefined) {
    const known = applications.map(({ word, about }) => `${word} (${about})`);
    throw badFlag('--app-id', `the platform lists ${listed(known)} in that team and region`);
  }
  return found?.about ?? '';
}

const LISTED_MAX = 20;

function listed(words: readonly string[]): string {
  const more = words.length > LISTED_MAX ? ` and ${words.length - LISTED_MAX} more` : '';
  return `${safeLine(words.slice(0, LISTED_MAX).join(', '))}${more}`;
}
