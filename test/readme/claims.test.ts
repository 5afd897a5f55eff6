import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { LISTEN_DEFAULT } from '../../src/configuration/settings/server-spec.ts';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { EXIT_MEANINGS } from '../../src/cli/session/exit-codes.ts';
import { BUDGET_MS } from '../../src/plan/budget.ts';
import { shareLimits } from '../../src/plan/guard.ts';

/** Pages with statements about the behaviour of the program. */
const CONCEPTS = ['docs/concepts/the-daemon.md', 'docs/concepts/safety-rules.md'];

const root = resolve(import.meta.dirname, '../..');
/** Sentences may be wrapped anywhere. */
const page = (path: string): string => readFileSync(join(root, path), 'utf8').replaceAll(/\s+/g, ' ');
const minutes = (ms: number): string => `${ms / 60_000} minutes`;
const percent = (share: number): string => `${share * 100} %`;

test('the numbers of the pages are the defaults of the program', () => {
  const { controller, prune, settle } = defaultSettings();
  const pages = [...CONCEPTS.map(page), page('README.md')].join(' ');
  const claims = [
    `**${LISTEN_DEFAULT}**`.replaceAll('**', '`'),
    `all applications every ${minutes(controller.resyncIntervalMs)} (\`resyncInterval\`)`,
    `missing for ${minutes(controller.pruneAfterMs)} (\`pruneAfter\`)`,
    `${settle.targetStateMs / 1000} seconds for a change or a deletion, ${minutes(settle.creationMs)} for a creation, ${minutes(settle.installMs)} for an install`,
    `removes more than ${prune.maxObjects} objects`,
    `changes or removes more than ${percent(shareLimits(prune.maxShare).maxShare)} of an application`,
    `In ${BUDGET_MS / 3_600_000} hours, one source may remove`,
    `at most ${prune.dailyObjects} objects or ${percent(prune.dailyShare)} on one platform`,
  ];
  expect(claims.filter((claim) => !pages.includes(claim))).toEqual([]);
});

test('the README names no script that does not exist, and its picture is small', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const names = [...readme.matchAll(/\bnpm run (?:-s )?([a-z:]+)/g)].map(([, name = '']) => name);
  expect(names).toContain('dashboard');
  expect(names.filter((name) => !(name in scripts))).toEqual([]);
  for (const [, path = ''] of readme.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g))
    expect(statSync(join(root, path)).size, path).toBeLessThan(100_000);
});

test('the README shows the dashboard, and a plan with each cause of a change', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [dashboard, plan = ''] = [...readme.matchAll(/^!\[[^\]]{40,}\]\((\S+)\)$/gm)].map(([, path]) => path);
  expect(dashboard).toBe('examples/dashboard.png');
  // `npm run reference` makes it from a run; `npm run reference -- --check`, a part of `npm test`, fails if it is stale.
  const picture = readFileSync(join(root, plan), 'utf8');
  for (const cause of ['drift: changed on the platform', 'new in git', 'changed in git', 'no longer in git'])
    expect(picture).toContain(`>(${cause})</text>`);
});

test('the README is short: at most 150 lines of 120 characters', () => {
  const lines = readFileSync(join(root, 'README.md'), 'utf8').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(150);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
  // The map for contributors.
  expect(readFileSync(join(root, 'src/README.md'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});

test('the table of exit codes has every code and no other', () => {
  const text = readFileSync(join(root, 'docs/reference/command-line.md'), 'utf8');
  const section = text.slice(text.indexOf('## Exit codes'));
  const listed = [...section.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, code]) => Number(code));
  expect(listed).toEqual(Object.keys(EXIT_MEANINGS).map(Number));
});

test.for(['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'src/README.md', 'docs/concepts/ledger.md', ...CONCEPTS])(
  'files and folders that %s names exist',
  (path) => {
    // The build makes `dist/`.
    const files = `dist/\n${execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })}`;
    const text = readFileSync(join(root, path), 'utf8');
    const names = [...text.matchAll(/`((?:[a-z][\w.-]*\/)*[a-z][\w-]*(?:\.long)?(?:\.test)?(?:\.tsx?|\/))`/g)];
    const missing = names.flatMap(([, name = '']) =>
      `\n${files}`.match(`[\n/]${name.replaceAll('.', '\\.')}`) ? [] : [name],
    );
    expect(missing).toEqual([]);
  },
);
