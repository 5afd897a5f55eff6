import type { SecretReference } from '../../kinds/platform/spec.ts';
import { PortolanError } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import type { Surroundings } from '../command.ts';
import { type Answers, documentName, faultOf, readAppId, readUrl, type TextAnswer } from './answers.ts';
import { type Choice, type Interview, interviewOn, type Reading } from './interview.ts';
import { type PlatformAtHand, reachPlatform } from './platform.ts';

/** What the flags say. */
export interface GivenAnswers {
  readonly url?: string | undefined;
  readonly authEnv?: string | undefined;
  readonly authFile?: string | undefined;
  readonly authHeader: string;
  readonly team?: string | undefined;
  readonly region?: string | undefined;
  readonly appId?: number | undefined;
  readonly name?: string | undefined;
  readonly allowPlainHttp?: true | undefined;
  readonly offline?: true | undefined;
}

const TOKEN_VARIABLE = 'PORTOLAN_TOKEN';
const NEEDED = ['url', 'team', 'region', 'appId'] as const;
const FLAG = { url: '--url', team: '--team', region: '--region', appId: '--app-id' } as const;

/**
 * Every answer: from the flags, and what they leave open from a person.
 * @throws PortolanError `invalid` when a flag cannot be used, or answers are missing and nobody can be asked.
 */
export async function gatherAnswers(options: GivenAnswers, surroundings: Surroundings): Promise<Answers> {
  checkFlags(options);
  const missing = NEEDED.filter((name) => options[name] === undefined);
  const interview = missing.length === 0 ? undefined : interviewOn(surroundings.terminal);
  if (interview !== undefined) return await interviewed(options, interview, surroundings);
  const { url, team, region, appId } = options;
  if (url === undefined || team === undefined || region === undefined || appId === undefined) {
    throw new PortolanError({
      code: 'cli/no-terminal',
      disposition: 'invalid',
      message: 'Something is not known, and nobody can answer: this does not run on a terminal. Nothing was written.',
      remedy: `Pass ${missing.map((name) => FLAG[name]).join(', ')}.`,
    });
  }
  const reach = reachOf(options, url);
  return { ...reach, team, region, appId, name: options.name ?? documentName('', appId) };
}

/** What it takes to reach the platform, from flags that were checked. */
function reachOf(options: GivenAnswers, url: string): Pick<Answers, 'url' | 'allowPlainHttp' | 'header' | 'token'> {
  const { authEnv = TOKEN_VARIABLE, authFile, authHeader, allowPlainHttp = false } = options;
  const read = readUrl(url, allowPlainHttp);
  if ('fault' in read) throw badFlag('--url', read.fault);
  const token: SecretReference = authFile === undefined ? { env: authEnv } : { file: authFile };
  return { url: read.url, allowPlainHttp, header: authHeader, token };
}

function checkFlags(options: GivenAnswers): void {
  const { authEnv, authFile, authHeader, team, region, name, url, allowPlainHttp = false } = options;
  const texts: readonly (readonly [string, TextAnswer, string | undefined])[] = [
    ['--auth-header', 'header', authHeader],
    ['--auth-env', 'env', authEnv],
    ['--auth-file', 'file', authFile],
    ['--team', 'team', team],
    ['--region', 'region', region],
    ['--name', 'name', name],
  ];
  for (const [flag, answer, text] of texts) {
    const fault = text === undefined ? undefined : faultOf(answer, text);
    if (fault !== undefined) throw badFlag(flag, fault);
  }
  const read = url === undefined ? undefined : readUrl(url, allowPlainHttp);
  if (read !== undefined && 'fault' in read) throw badFlag('--url', read.fault);
  if (authEnv !== undefined && authFile !== undefined) {
    throw badFlag('--auth-file', 'the token stands in a variable or in a file; pass one of --auth-env and --auth-file');
  }
}

/** The value is not shown: it may be a token. */
function badFlag(flag: string, fault: string): PortolanError {
  return new PortolanError({
    code: 'cli/bad-answer',
    disposition: 'invalid',
    message: `${flag} cannot be used: ${fault}. Nothing was written.`,
    remedy: `Correct ${flag}.`,
  });
}

async function interviewed(options: GivenAnswers, interview: Interview, surroundings: Surroundings): Promise<Answers> {
  const { allowPlainHttp = false } = options;
  const url = options.url ?? (await interview.ask('Address of the platform', undefined, urlReader(allowPlainHttp)));
  const isTokenKnown = options.authEnv !== undefined || options.authFile !== undefined;
  const token = isTokenKnown ? {} : await askToken(interview);
  const reach = reachOf({ ...options, ...token }, url);
  const tell = (why: string): void => interview.say(`  (the platform cannot be asked: ${safeLine(why)})`);
  const platform = options.offline === true ? undefined : await reachPlatform(reach, surroundings, tell);
  try {
    return { ...reach, ...(await askApplication(options, interview, platform)) };
  } finally {
    await platform?.close();
  }
}

/** Only where the token stands: whoever types the token itself is told, and it is not shown again. */
async function askToken(interview: Interview): Promise<Pick<GivenAnswers, 'authEnv' | 'authFile'>> {
  interview.say('The token is not asked for, only where it stands: the name of a variable, or the path of a file.');
  return await interview.ask('Variable or file with the token', TOKEN_VARIABLE, (text) => {
    const isPath = text.includes('/');
    const fault = faultOf(isPath ? 'file' : 'env', text);
    if (fault !== undefined) return { fault };
    return { value: isPath ? { authFile: text } : { authEnv: text } };
  });
}

async function askApplication(
  options: GivenAnswers,
  interview: Interview,
  platform: PlatformAtHand | undefined,
): Promise<Pick<Answers, 'team' | 'region' | 'appId' | 'name'>> {
  const team = options.team ?? (await interview.ask('Team', undefined, textReader('team')));
  const region = options.region ?? (await askRegion(interview, await platform?.regions(team)));
  const listed = (await platform?.applications(team, region)) ?? [];
  const appId = options.appId ?? (await askAppId(interview, listed));
  const shown = listed.find(({ word }) => word === String(appId))?.about ?? '';
  const proposed = documentName(shown, appId);
  const name =
    options.name ?? (await interview.ask('Name of the application in manifests', proposed, textReader('name')));
  return { team, region, appId, name };
}

async function askRegion(interview: Interview, choices: readonly Choice[] | undefined): Promise<string> {
  // What could not be written down anyway is not offered.
  const usable = (choices ?? []).filter(({ word }) => faultOf('region', word) === undefined);
  return usable.length === 0
    ? await interview.ask('Region', undefined, textReader('region'))
    : await interview.choose('Region', usable);
}

async function askAppId(interview: Interview, choices: readonly Choice[]): Promise<number> {
  if (choices.length > 0) return Number(await interview.choose('Number of the application', choices));
  return await interview.ask('Number of the application', undefined, (text) => {
    const value = readAppId(text);
    return value === undefined ? { fault: 'expected a whole number from 1' } : { value };
  });
}

function textReader(answer: TextAnswer): (text: string) => Reading<string> {
  return (text) => {
    const fault = faultOf(answer, text);
    return fault === undefined ? { value: text } : { fault };
  };
}

function urlReader(allowPlainHttp: boolean): (text: string) => Reading<string> {
  return (text) => {
    const read = readUrl(text, allowPlainHttp);
    return 'url' in read ? { value: read.url } : read;
  };
}
