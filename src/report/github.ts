import { safeLine } from '../model/text.ts';
import type { Level } from './entries.ts';
import { worstFirst } from './entries.ts';
import { fileOf, type Finding } from './findings.ts';
import { amount, cut } from '../plan/words.ts';

/** The number of annotations of each level that GitHub shows for a step. It drops the others silently. */
const SHOWN_MAX = 10;
/** The number of characters that GitHub shows of a message. It would cut the rest within a character. */
const MESSAGE_CHARACTERS_MAX = 4_000;

const LEVELS = ['error', 'warning', 'notice'] as const satisfies readonly Level[];

/**
 * Returns findings as commands of GitHub Actions, by severity, as many as it shows, and the number of the others.
 * @param summary the last line, for readers of the log.
 */
export function renderGithub(findings: readonly Finding[], summary: string): string {
  const lines: string[] = [];
  const left: string[] = [];
  for (const level of LEVELS) {
    const ofLevel = worstFirst(findings).filter((finding) => finding.level === level);
    lines.push(...ofLevel.slice(0, SHOWN_MAX).map(command));
    if (ofLevel.length > SHOWN_MAX) left.push(amount(ofLevel.length - SHOWN_MAX, level));
  }
  if (left.length > 0)
    lines.push(
      `Not annotated, because GitHub shows ${SHOWN_MAX} of each level: ${left.join(', ')}. Use -o text to see all.`,
    );
  return `${[...lines, plainLine(summary)].join('\n')}\n`;
}

function command({ level, title, lines, position }: Finding): string {
  const file = fileOf(position);
  const properties = [
    ...(file === undefined || position === undefined
      ? []
      : [`file=${property(file)}`, `line=${position.line}`, `col=${position.column}`]),
    `title=${property(cut(title, 200))}`,
  ];
  const message = lines.length === 0 ? title : lines.join('\n');
  return `::${level} ${properties.join(',')}::${data(cut(message, MESSAGE_CHARACTERS_MAX))}`;
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Returns a line that GitHub does not take for a command: `::` at its start and `##[` anywhere would be one. */
function plainLine(text: string): string {
  return safeLine(text)
    .replaceAll('##[', '## [')
    .replace(/^\s*::/, ': :');
}
