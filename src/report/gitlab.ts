import { hash } from 'node:crypto';
import type { Level } from './entries.ts';
import { worstFirst } from './entries.ts';
import { fileOf, type Finding } from './findings.ts';

const SEVERITIES: Readonly<Record<Level, 'critical' | 'minor' | 'info'>> = {
  error: 'critical',
  warning: 'minor',
  notice: 'info',
};

/**
 * Returns findings as a code quality report of GitLab, which a merge request shows beside its changes. The report can contain
 * only findings with a position in a file.
 * @see https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */
export function renderGitlab(findings: readonly Finding[]): string {
  const entries = worstFirst(findings).flatMap(({ code, level, title, lines, resource, key, position }) => {
    const file = fileOf(position);
    if (file === undefined || position === undefined) return [];
    return {
      description: [title, ...lines].join(' · '),
      check_name: code,
      fingerprint: hash('sha256', JSON.stringify([code, resource ?? '', key])),
      severity: SEVERITIES[level],
      // GitLab finds no file whose path begins with ./
      location: { path: file.replaceAll('\\', '/').replace(/^(?:\.\/)+/, ''), lines: { begin: position.line } },
    };
  });
  return `${JSON.stringify(entries, null, 2)}\n`;
}
