/** Rules of plain English, as data and pure functions over text. `english.test.ts` runs them over every text of the project. */

export interface EnglishRule {
  /** The words to write in place of those that the pattern finds. */
  readonly use: string;
  readonly pattern: RegExp;
  /** A text that breaks the rule, so that a rule that finds nothing any more is noticed. */
  readonly sample: string;
}

/** The left column of the dictionary, and what makes a sentence a riddle. */
export const ENGLISH_RULES: readonly EnglishRule[] = [
  { use: 'removed from git', pattern: /no longer names?|no longer named/gi, sample: 'what git no longer names' },
  {
    use: 'in sync; matches the manifests',
    pattern: /\bas (?:the )?(?:source|manifests?|git|documents?) says?\b|\bwished\b|make the platform as/gi,
    sample: 'Everything is as the manifests say.',
  },
  { use: 'is reported', pattern: /\btold\b|\btells?\b/gi, sample: 'each receiver is told of drift' },
  {
    use: 'corrected, fixed',
    pattern: /\bputs? right\b|\bmend(?:s|ed|ing)?\b/gi,
    sample: '### Mended',
  },
  { use: 'requires manual action', pattern: /(?:asks?|needs?) (?:for )?a person/gi, sample: 'it needs a person' },
  { use: 'paused (circuit breaker open)', pattern: /left alone/gi, sample: 'the region is left alone for a while' },
  {
    use: 'resumes, continues',
    pattern: /\bgo(?:es|ne)? on\b|\bgoing on\b|\bwent on\b|\bgoOn\w*/gi,
    sample: 'the run goes on with 3 changes',
  },
  { use: 'sync requested', pattern: /asked for a look/gi, sample: 'ci asked for a look' },
  {
    use: 'rejected; still running commit X',
    pattern: /was not taken|what was accepted stands/gi,
    sample: 'it was not taken; what was accepted stands',
  },
  { use: 'applying X', pattern: /being made as/gi, sample: 'it is being made as 12ab says' },
  { use: 'unmanaged, orphaned', pattern: /looked after|looks? after/gi, sample: 'it is no longer looked after' },
  { use: 'N pending', pattern: /\bto follow\b/gi, sample: '2 to follow' },
  { use: 'become ready', pattern: /c[oa]mes? to run/gi, sample: 'an install that must come to run' },
  { use: 'should have (desired)', pattern: /\bshall\b/gi, sample: 'the port shall have an alias' },
  { use: 'can be set by an environment variable', pattern: /\btwins?\b/gi, sample: 'it has a twin in the environment' },
  { use: 'takes precedence over', pattern: /\bgo(?:es)? before\b/gi, sample: 'a flag goes before a file' },
  {
    use: 'format, formatted',
    pattern: /\blay(?:s|ing)? (?:\w+ )?out\b|\blaid out\b/gi,
    sample: 'Lay manifests out the way all are',
  },
  { use: 'initialize a project', pattern: /working folder/gi, sample: 'begin a working folder' },
  { use: 'retry, requeue, re-observe', pattern: /\banew\b/gi, sample: 'it is planned anew' },
  {
    use: 'quick check, observe',
    pattern: /\bglanc(?:e|es|ed|ing)\b|[a-z]Glanc\w+/gi,
    sample: 'a glance at the platform',
  },
  {
    // `settle` by itself stays where it is the name of the setting.
    use: 'only: the settle window of a write in doubt',
    pattern: /(?<!all)(?<![.`])settle(?:d|s)?\b(?![ -]window|:|\.[a-z]|`)|\bsettling\b/gi,
    sample: 'a person settles a doubtful install',
  },
  {
    use: 'ledger view, ledger record',
    pattern: /\bbooks\b|\bkeeping\b|[Bb]ooks\b|[Kk]eeping\b|\bMemory(?!Max\b|DenyWriteExecute\b)[A-Z]\w*/g,
    sample: 'the books of the scope',
  },
  { use: 'manual resolution', pattern: /\bby[ -]hand\b/gi, sample: 'resolve it by hand' },
  {
    use: 'the reason: connection refused, timed out',
    pattern: /no whole answer/gi,
    sample: 'no whole answer: timeout',
  },
  { use: 'is not an X', pattern: /(?<!\b[Tt]here )\bis no (?!longer\b)[a-z]/g, sample: 'this is no number' },
  { use: 'the ledger (state file)', pattern: /durable memory/gi, sample: 'the durable memory' },
  { use: 'new in git', pattern: /first apply/gi, sample: 'first apply of it' },
  // `nobody` is a value of a setting.
  { use: 'the noun', pattern: /(?<!['`])\bnobody\b(?!:)|\bsomebody\b|\bwhoever\b/gi, sample: 'so nobody was asked' },
  { use: 'one full stop', pattern: /(?<![./])\.\.(?=\s|$)/gm, sample: 'It failed.. Try again.' },
  {
    use: 'an, before a vowel',
    pattern: /\b[aA] (?=[aeio][a-z])(?!one\b|once\b|eu)/g,
    sample: 'a application',
  },
  {
    use: 'the singular after 1',
    pattern: /\b1 (?:removals|changes|documents|rules|ports|applications|actions|files|resources|faults|problems)\b/g,
    sample: '1 removals',
  },
  {
    use: 'a subject and a verb: "Returns…", "Holds…"',
    pattern: /\/\*\*\s+(?:\* )?(?:What|How|Where|Of|As|Whoever|That)\b/g,
    sample: '/** What it is. */',
  },
  {
    use: 'the noun, in place of What, Whoever, Of or That at the start of a sentence',
    pattern: /(?:(?<=[.:;!] )|(?<=\/\/ )|(?<=['"`])|(?<=\* ))(?:What|Whoever|Of|That)\s+(?!\w+\s*\?)[a-z]/g,
    sample: 'Nothing is sent. What follows is skipped.',
  },
];

export interface EnglishFinding {
  readonly file: string;
  readonly line: number;
  /** The line of the text. */
  readonly text: string;
  readonly use: string;
}

/** A line of a file that breaks a rule and has to stay as it is. */
export interface EnglishException {
  readonly file: string;
  /** A part of the line. */
  readonly text: string;
  readonly reason: string;
}

/** Returns every place where a text breaks a rule, rule by rule. */
export function englishFindings(file: string, text: string): readonly EnglishFinding[] {
  const lines = text.split('\n');
  return ENGLISH_RULES.flatMap(({ use, pattern }) =>
    [...text.matchAll(pattern)].map(({ index, 0: found }) => {
      const line = text.slice(0, index + found.length).split('\n').length;
      return { file, line, text: lines[line - 1]?.trim() ?? '', use };
    }),
  );
}

/** Returns the findings that no exception covers, and the exceptions that cover nothing. */
export function withoutExceptions(
  findings: readonly EnglishFinding[],
  exceptions: readonly EnglishException[],
): { readonly left: readonly EnglishFinding[]; readonly unused: readonly EnglishException[] } {
  const covers = (exception: EnglishException, finding: EnglishFinding): boolean =>
    exception.file === finding.file && finding.text.includes(exception.text);
  return {
    left: findings.filter((finding) => !exceptions.some((exception) => covers(exception, finding))),
    unused: exceptions.filter((exception) => !findings.some((finding) => covers(exception, finding))),
  };
}
