import type { SecretReference } from '../../../configuration/platform/spec.ts';
import { PortolanError } from '../../../model/errors.ts';
import { type Answers, faultOf, readUrl, type TextAnswer } from './answers.ts';

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

/** What a client of the platform is made of. */
export type Reach = Pick<Answers, 'url' | 'allowPlainHttp' | 'header' | 'token'>;

export const TOKEN_VARIABLE = 'PORTOLAN_TOKEN';

/** Checks each flag by itself. @throws PortolanError `invalid` for the first that cannot be used. */
export function checkFlags(options: GivenAnswers): void {
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

/** The address as it is written down, from a flag that was checked. */
export function urlOf(url: string, allowPlainHttp: boolean): string {
  const read = readUrl(url, allowPlainHttp);
  if ('fault' in read) throw badFlag('--url', read.fault);
  return read.url;
}

/** Where the flags say that the token is; undefined where they do not. */
export function tokenOf({ authEnv, authFile }: GivenAnswers): SecretReference | undefined {
  if (authFile !== undefined) return { file: authFile };
  return authEnv === undefined ? undefined : { env: authEnv };
}

/** The value is not shown: it may be a token. */
export function badFlag(flag: string, fault: string): PortolanError {
  return new PortolanError({
    code: 'cli/bad-answer',
    disposition: 'invalid',
    message: `${flag} cannot be used: ${fault}. Nothing was written.`,
    remedy: `Correct ${flag}.`,
  });
}
