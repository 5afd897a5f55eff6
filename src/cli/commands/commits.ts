import type { CommitDetails, CommitSummary } from '../../model/fleet.ts';
import { SHORT_LENGTH, shortRevision } from '../../model/revision.ts';
import { safeLine } from '../../model/text.ts';
import { commitHeadline, commitStateWords } from '../../views/commit-words.ts';
import { openServer } from '../server/client.ts';
import { addServerOptions } from '../server/options.ts';
import { defineCommand } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { integerArgument, outputOption } from '../session/options.ts';
import { relativeTime } from '../terminal/age.ts';
import type { Mark } from '../terminal/drawing/glyphs.ts';
import { textOfLines, wrap } from '../terminal/text.ts';
import { paintMark, type Reader, readerOf, stateTable } from './status/table.ts';

export const commitsCommand = defineCommand({
  about:
    'Shows what became of a commit: whether a running controller accepted it, which applications have applied it, and why the others wait. Without a commit, it lists the newest ones. Needs a token with the role viewer.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['status', 'attention', 'history'],
  examples: `
The exit code for a commit is 0 if it is applied, or part of an applied one, 1 if it was rejected, and otherwise 4.

Examples:
  portolan commits --server http://127.0.0.1:7780
  portolan commits "$(git rev-parse HEAD)"             # is it live?
  portolan commits 5a2e33 -o json | jq '.waiting[].reason'`,
  parameters: (command) =>
    addServerOptions(command.argument('[sha]', 'the first digits of the id of a commit, or all of them'))
      .option('--limit <n>', 'maximum number of commits in the list', integerArgument(1, 50), 10)
      .addOption(outputOption(['text', 'json'])),
  async run(surroundings, { limit, output, ...flags }, [sha]) {
    const server = openServer(flags, surroundings);
    const { out } = surroundings.terminal;
    const reader = readerOf(surroundings);
    if (sha === undefined) {
      const { items } = (await server.get('commits', 'items', { limit })) as {
        readonly items: readonly CommitSummary[];
      };
      out.write(output === 'json' ? `${JSON.stringify(items, null, 2)}\n` : textOfLines(listLines(items, reader)));
      return EXIT.ok satisfies ExitCode;
    }
    const commit = (await server.get(`commits/${encodeURIComponent(sha)}`, 'revision')) as CommitDetails;
    out.write(output === 'json' ? `${JSON.stringify(commit, null, 2)}\n` : textOfLines(detailLines(commit, reader)));
    return exitCodeOf(commit);
  },
});

function exitCodeOf({ state }: CommitSummary): ExitCode {
  if (state === 'rejected') return EXIT.failed;
  return state === 'applied' || state === 'contained' || state === 'superseded' ? EXIT.ok : EXIT.held;
}

const MARKS: Readonly<Record<CommitSummary['state'], Mark>> = {
  applied: 'good',
  contained: 'good',
  superseded: 'skipped',
  applying: 'waiting',
  reading: 'waiting',
  rejected: 'bad',
  'not-accepted': 'held',
  unknown: 'unknown',
};

function listLines(commits: readonly CommitSummary[], reader: Reader): readonly string[] {
  if (commits.length === 0) return ['The controller has not read a commit since it records them.'];
  const { isTerminal, nowMs, glyphs, paint } = reader;
  const markOf = (at: number): Mark => MARKS[commits[at]?.state ?? 'unknown'];
  const columns = [
    { title: isTerminal ? '  commit' : 'commit' },
    { title: 'state', paint: (text: string, at: number) => paintMark(markOf(at), text, paint) },
    { title: 'applied' },
    { title: isTerminal ? 'age' : 'observed' },
  ];
  const rows = commits.map(({ id, state, progress: { applied, changed }, observedMs, subject }) => [
    `${isTerminal ? `${glyphs.marks[MARKS[state]]} ` : ''}${id.slice(0, SHORT_LENGTH)}`,
    commitStateWords(state),
    `${applied}/${changed}`,
    observedMs === null ? '' : isTerminal ? relativeTime(observedMs, nowMs) : new Date(observedMs).toISOString(),
    subject ?? '',
  ]);
  return stateTable({ columns, title: 'subject', rows }, reader);
}

function detailLines(commit: CommitDetails, reader: Reader): readonly string[] {
  const { revision, author, subject, committedMs, observedMs, acceptedMs, error, problems, waiting, removed } = commit;
  const { paint, isTerminal, columns, nowMs } = reader;
  const fold = (text: string, indent = ''): readonly string[] =>
    isTerminal
      ? wrap(safeLine(text), Math.max(20, columns - indent.length)).map((line) => `${indent}${line}`)
      : [`${indent}${safeLine(text)}`];
  const time = (ms: number): string =>
    isTerminal ? `${relativeTime(ms, nowMs)} (${new Date(ms).toISOString()})` : new Date(ms).toISOString();
  const facts = [
    ...(author === null ? [] : [`author    ${author}`]),
    ...(committedMs === null ? [] : [`committed ${time(committedMs)}`]),
    ...(observedMs === null ? [] : [`observed  ${time(observedMs)}`]),
    ...(acceptedMs === null ? [] : [`accepted  ${time(acceptedMs)}`]),
  ];
  const table = waiting.map(({ application, state, reason, sinceMs, untilMs }) => [
    application,
    state,
    isTerminal ? relativeTime(sinceMs, nowMs) : new Date(sinceMs).toISOString(),
    `${reason}${untilMs === null ? '' : ` (until ${new Date(untilMs).toISOString()})`}`,
  ]);
  const sections: readonly (readonly string[])[] = [
    [
      ...fold(`${shortRevision(revision)}${subject === null ? '' : `  ${subject}`}`).map((line) =>
        paint('title', line),
      ),
      ...facts.flatMap((fact) => fold(fact, '  ')),
    ],
    fold(commitHeadline(commit)),
    error === null ? [] : [...fold(error.message), ...fold(error.remedy)],
    problems.map(({ file, line, column, message }) => safeLine(`${file}:${line}:${column}: ${message}`)),
    table.length === 0
      ? []
      : stateTable(
          { columns: [{ title: 'waits' }, { title: 'state' }, { title: 'since' }], title: 'reason', rows: table },
          reader,
        ),
    (removed ?? 0) === 0 ? [] : fold(`It removed ${removed} from git: unmanaged since.`),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}
