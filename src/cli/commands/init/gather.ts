import { PortolanError } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';
import type { Surroundings } from '../../session/command.ts';
import { type Answers, checkFlags, type GivenAnswers, TOKEN_VARIABLE } from './answers.ts';
import { givenDraft, interviewed, interviewOn, platformsOf, proposedName, regionsOf } from './questions.ts';

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
  if (missing.length > 0)
    throw new PortolanError({
      code: 'cli/no-terminal',
      disposition: 'invalid',
      message: 'Something is not known, and nobody can answer: this does not run on a terminal. Nothing was written.',
      remedy: `Pass ${missing.map((name) => FLAG[name]).join(', ')}.`,
    });
  const platforms = platformsOf(options, surroundings, (why) =>
    surroundings.terminal.err.write(
      `note: team, region and application were not checked, because the platform cannot be read: ${safeLine(why)}\n`,
    ),
  );
  try {
    const draft = { token: { env: TOKEN_VARIABLE }, ...givenDraft(options) };
    const known = { options, platform: platforms.of };
    await regionsOf(draft, known);
    const proposed = await proposedName(draft, known);
    // A flag has given each of the others.
    return { ...draft, name: options.name ?? proposed } as Answers;
  } finally {
    await platforms.close();
  }
}
