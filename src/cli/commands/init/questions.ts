import { safeLine } from '../../../model/text.ts';
import type { Surroundings } from '../../session/command.ts';
import {
  type Answers,
  badFlag,
  checkFlags,
  documentName,
  faultOf,
  type GivenAnswers,
  readUrl,
  type TextAnswer,
  TOKEN_VARIABLE,
  tokenOf,
  urlOf,
} from './answers.ts';
import { type Choice, type PlatformChoices, reachPlatform } from './platform.ts';
import { didYouMean } from '../../../manifest/suggest.ts';
import { invalidInput } from '../../../model/errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { renderTable } from '../../terminal/table.ts';

/** More invalid answers in a row are not typing mistakes. */
const TRIES_MAX = 5;

/** More choices than fit on a screen do not help. */
const SHOWN_MAX = 30;

/** The value of an answer, or its fault. */
type Reading<T> = { readonly value: T } | { readonly fault: string };

/** A person types `<` to return to the previous question; `ask` then returns `BACK`. */
const BACK_SIGN = '<';
const BACK = Symbol('back');
type Back = typeof BACK;

/** Asks questions on a terminal. */
interface Interview {
  /**
   * Asks until the answer is valid.
   * @param fallback value of an empty answer; undefined: an answer is required.
   * @returns the value, or `BACK` for `<`.
   * @throws PortolanError `invalid` after five invalid answers.
   */
  ask<T>(question: string, fallback: string | undefined, read: (text: string) => Reading<T>): Promise<T | Back>;
  /** Shows choices and asks for one of them. An empty answer means the first. */
  choose<T>(question: string, choices: readonly Choice[], answerOf: (word: string) => T): Promise<T | Back>;
  say(line: string): void;
}

/** Creates an interview. @returns undefined where no person can answer. */
function interviewOn({ ask, err }: Terminal): Interview | undefined {
  if (ask === undefined) return undefined;
  const say = (line: string): void => err.write(`${line}\n`);
  const interview: Interview = {
    say,
    async ask(question, fallback, read) {
      for (let left = TRIES_MAX; left > 0; left -= 1) {
        const shown = fallback === undefined ? '' : ` [${safeLine(fallback)}]`;
        const answer = (await ask(`${question}${shown}: `)).trim();
        if (answer === BACK_SIGN) return BACK;
        const reading = read(answer === '' ? (fallback ?? '') : answer);
        if ('value' in reading) return reading.value;
        say(`  ${safeLine(reading.fault)}`);
      }
      throw invalidInput(
        'cli/no-answer',
        `${TRIES_MAX} answers were not valid.`,
        'Run the command again, or pass the answers as flags (--help names them).',
      );
    },
    async choose(question, choices, answerOf) {
      const rows = choices.slice(0, SHOWN_MAX).map(({ word, about }) => [word, about]);
      const [, ...lines] = renderTable(['', ''], rows).trimEnd().split('\n');
      for (const line of lines) say(`  ${line}`);
      if (choices.length > SHOWN_MAX) say(`  … and ${choices.length - SHOWN_MAX} more`);
      const words = choices.map(({ word }) => word);
      return interview.ask(question, words[0], (text) => {
        if (words.includes(text)) return { value: answerOf(text) };
        return { fault: `no such name. ${didYouMean(text, words) ?? 'Type one of the words above.'}` };
      });
    },
  };
  return interview;
}

/** The answers so far. After a return to an earlier question, former answers stay as proposals. */
type Draft = { readonly [Name in keyof Answers]?: Answers[Name] | undefined };

/** Result of a question: answers, the return to an earlier question, or undefined where a flag has answered it. */
type Answered = Draft | Back | { readonly backTo: number } | undefined;

interface Asking {
  readonly options: GivenAnswers;
  readonly interview: Interview;
  /** Returns the platform of the draft; undefined with `--offline`. */
  platform(draft: Draft): Promise<PlatformChoices | undefined>;
}

/** Asks for the answers that the flags leave open, and shows all of them before anything is written. */
async function interviewed(options: GivenAnswers, interview: Interview, surroundings: Surroundings): Promise<Answers> {
  const platforms = platformsOf(options, surroundings, (why) =>
    interview.say(`  (the platform cannot be read: ${safeLine(why)})`),
  );
  const asking: Asking = { options, interview, platform: platforms.of };
  interview.say('An empty answer takes the value in brackets; < returns to the previous question.');
  try {
    return await inTurn(asking);
  } finally {
    await platforms.close();
  }
}

function givenDraft(options: GivenAnswers): Draft {
  const { url, team, region, appId, name, allowPlainHttp = false, authHeader: header } = options;
  const checkedUrl = url === undefined ? undefined : urlOf(url, allowPlainHttp);
  return { allowPlainHttp, header, url: checkedUrl, token: tokenOf(options), team, region, appId, name };
}

/** Asks the questions in order, and returns to an earlier one where an answer says so. */
async function inTurn(asking: Asking): Promise<Answers> {
  /** Indexes of the questions that a person answered. */
  const answered: number[] = [];
  let draft = givenDraft(asking.options);
  for (let at = 0; at < QUESTIONS.length; ) {
    const outcome = await QUESTIONS[at]?.(draft, asking);
    if (outcome === undefined) at += 1;
    else if (outcome === BACK || 'backTo' in outcome) {
      const target = outcome === BACK ? at - 1 : outcome.backTo;
      while ((answered.at(-1) ?? -1) > target) answered.pop();
      const before = answered.pop();
      if (before === undefined) asking.interview.say('  This is the first question.');
      else at = before;
    } else {
      draft = { ...draft, ...outcome };
      answered.push(at);
      at += 1;
    }
  }
  return draft as Answers;
}

const TEAM_QUESTION = 2;
const QUESTIONS: readonly ((draft: Draft, asking: Asking) => Promise<Answered>)[] = [
  askUrl,
  askToken,
  askTeam,
  askRegion,
  askAppId,
  askName,
  review,
];

async function askUrl(draft: Draft, { options, interview }: Asking): Promise<Answered> {
  if (options.url !== undefined) return undefined;
  const { allowPlainHttp = false } = options;
  return interview.ask('Address of the platform', draft.url, (text): Reading<Draft> => {
    const read = readUrl(text, allowPlainHttp);
    return 'url' in read ? { value: read } : read;
  });
}

/** Asks for the reference to the token. A token itself is refused and not shown. */
async function askToken({ token }: Draft, { options, interview }: Asking): Promise<Answered> {
  if (tokenOf(options) !== undefined) return undefined;
  interview.say(
    'Do not type the token itself. Type the name of the variable, or the path of the file, that contains it.',
  );
  const former = token === undefined ? undefined : 'env' in token ? token.env : token.file;
  return interview.ask('Variable or file with the token', former ?? TOKEN_VARIABLE, (text): Reading<Draft> => {
    const isPath = text.includes('/');
    const fault = faultOf(isPath ? 'file' : 'env', text);
    if (fault !== undefined) return { fault };
    return { value: { token: isPath ? { file: text } : { env: text } } };
  });
}

async function askTeam(draft: Draft, { options, interview }: Asking): Promise<Answered> {
  if (options.team !== undefined) return undefined;
  return interview.ask('Team', draft.team, textReader('team'));
}

async function askRegion(draft: Draft, asking: Asking): Promise<Answered> {
  const { options, interview } = asking;
  const usable = await regionsOf(draft, asking);
  if (options.region !== undefined) return undefined;
  if (usable.length === 0) return interview.ask('Region', draft.region, textReader('region'));
  return interview.choose('Region', usable, (region) => ({ region }));
}

async function askAppId(draft: Draft, asking: Asking): Promise<Answered> {
  const { options, interview } = asking;
  const found = await applicationsOf(draft, asking);
  if ('fault' in found) {
    interview.say(`  ${found.fault}`);
    return { backTo: TEAM_QUESTION };
  }
  if (options.appId !== undefined) return undefined;
  const question = 'Number of the application';
  if (found.length > 0) return interview.choose(question, found, (word) => ({ appId: Number(word) }));
  return interview.ask(question, draft.appId?.toString(), (text): Reading<Draft> => {
    const appId = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(appId) ? { value: { appId } } : { fault: 'expected a whole number from 1' };
  });
}

async function askName(draft: Draft, asking: Asking): Promise<Answered> {
  if (asking.options.name !== undefined) return undefined;
  const proposal = await proposedName(draft, asking);
  return asking.interview.ask('Name of the application in manifests', proposal, textReader('name'));
}

/** Shows all answers. Without this question, the last answer could not be changed. */
async function review(draft: Draft, { interview }: Asking): Promise<Answered> {
  const { url = '', token, team, region, appId, name = '' } = draft;
  const where = token === undefined ? '' : 'env' in token ? `variable ${token.env}` : `file ${token.file}`;
  interview.say('');
  interview.say(`  platform     ${safeLine(url)}, token in ${safeLine(where)}`);
  interview.say(`  application  ${safeLine(`${team}/${region}/${appId}`)}, called ${safeLine(name)}`);
  return interview.ask('Write the files', 'yes', (text): Reading<Draft> => {
    if (/^y(?:es)?$/i.test(text)) return { value: {} };
    return { fault: 'expected yes, or < to change an answer; Ctrl-C ends without writing anything' };
  });
}

type Known = Pick<Asking, 'options' | 'platform'>;

/**
 * Returns the regions that the platform lists; empty where it cannot be read.
 * @throws PortolanError `invalid` when a flag names another one.
 */
async function regionsOf(draft: Draft, { options, platform }: Known): Promise<readonly Choice[]> {
  const choices = (await (await platform(draft))?.regions(draft.team ?? '')) ?? [];
  // A name that a manifest could not contain is not offered.
  const usable = choices.filter(({ word }) => faultOf('region', word) === undefined);
  if (options.region !== undefined && usable.length > 0 && !usable.some(({ word }) => word === options.region))
    throw badFlag('--region', `the platform lists ${listed(usable.map(({ word }) => word))}`);
  return usable;
}

/**
 * Returns the applications that the platform lists for the team and region of the draft; empty where it cannot be read.
 * @throws PortolanError `invalid` when a flag names an unknown team or application.
 */
async function applicationsOf(
  draft: Draft,
  { options, platform }: Known,
): Promise<readonly Choice[] | { readonly fault: string }> {
  const found = (await (await platform(draft))?.applications(draft.team ?? '', draft.region ?? '')) ?? [];
  if ('fault' in found) {
    if (options.team !== undefined) throw badFlag('--team', found.fault);
    return found;
  }
  const isKnown = found.length === 0 || found.some(({ word }) => word === String(options.appId));
  if (options.appId === undefined || isKnown) return found;
  const known = found.map(({ word, about }) => `${word} (${about})`);
  throw badFlag('--app-id', `the platform lists ${listed(known)} in that team and region`);
}

/** Returns a name derived from the one that the platform shows. */
async function proposedName(draft: Draft, known: Known): Promise<string> {
  const { appId = 0 } = draft;
  const found = await applicationsOf(draft, known);
  const shown = 'fault' in found ? '' : (found.find(({ word }) => word === String(appId))?.about ?? '');
  return documentName(shown, appId);
}

const LISTED_MAX = 20;

function listed(words: readonly string[]): string {
  const more = words.length > LISTED_MAX ? ` and ${words.length - LISTED_MAX} more` : '';
  return `${safeLine(words.slice(0, LISTED_MAX).join(', '))}${more}`;
}

function textReader(answer: TextAnswer & keyof Draft): (text: string) => Reading<Draft> {
  return (text) => {
    const fault = faultOf(answer, text);
    return fault === undefined ? { value: { [answer]: text } } : { fault };
  };
}

/** Returns the platform for the current answers. It is opened again when the address or token changes. */
function platformsOf(options: GivenAnswers, surroundings: Surroundings, onFailure: (why: string) => void) {
  const opened = new Map<string, PlatformChoices>();
  return {
    async of({ url = '', token = { env: TOKEN_VARIABLE }, header = '', allowPlainHttp = false }: Draft) {
      if (options.offline === true) return undefined;
      const reach = { url, token, header, allowPlainHttp };
      const key = JSON.stringify(reach);
      const platform = opened.get(key) ?? (await reachPlatform(reach, surroundings, onFailure));
      opened.set(key, platform);
      return platform;
    },
    async close(): Promise<void> {
      for (const platform of opened.values()) await platform.close();
    },
  };
}

const NEEDED = ['url', 'team', 'region', 'appId'] as const;
const FLAG = { url: '--url', team: '--team', region: '--region', appId: '--app-id' } as const;

/**
 * Returns every answer: from the flags, and the rest from a person. Both are checked against the listings of the
 * platform.
 * @throws PortolanError `invalid` when a flag is invalid, or answers are missing and there is no terminal.
 */
export async function gatherAnswers(options: GivenAnswers, surroundings: Surroundings): Promise<Answers> {
  checkFlags(options);
  const missing = NEEDED.filter((name) => options[name] === undefined);
  const interview = missing.length === 0 ? undefined : interviewOn(surroundings.terminal);
  if (interview !== undefined) return await interviewed(options, interview, surroundings);
  if (missing.length > 0)
    throw invalidInput(
      'cli/no-terminal',
      'Answers are missing, and questions need a terminal.',
      `Pass ${missing.map((name) => FLAG[name]).join(', ')}.`,
    );
  const platforms = platformsOf(options, surroundings, (why) =>
    surroundings.terminal.err.write(
      `note: team, region and application were not checked, because the platform cannot be read: ${safeLine(why)}\n`,
    ),
  );
  try {
    const given = givenDraft(options);
    const draft = { ...given, token: given.token ?? { env: TOKEN_VARIABLE } };
    const known = { options, platform: platforms.of };
    await regionsOf(draft, known);
    const proposed = await proposedName(draft, known);
    // The flags have given each of the others.
    return { ...draft, name: options.name ?? proposed } as Answers;
  } finally {
    await platforms.close();
  }
}
