import { hash } from 'node:crypto';
import type { Json } from '../model/json.ts';
import type { FieldChange } from '../model/plan.ts';
import { hasChanges, type PlanDocument } from '../plan/document.ts';
import type { PlanReport } from '../plan/report.ts';
import { entriesOf, type Entry, type State, STATES } from './entries.ts';
import { headline } from './headline.ts';
import { HTML_STYLE } from './html-style.ts';
import { html } from './markdown-text.ts';
import { amount, CAUSE_WORDS, driftedFrom, isOwnChange, ownCause, SYMBOL, valueText } from '../plan/words.ts';

/** The content security policy: nothing is loaded or run, except the one style, which its hash allows. */
const POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', HTML_STYLE, 'base64')}'; base-uri 'none'; form-action 'none'`;

/** Returns a report as one HTML file without scripts. It can be folded, searched and printed. */
export function renderHtml(report: PlanReport, version: string): string {
  const { plan } = report;
  const entries = entriesOf(report);
  const byApplication = Map.groupBy(entries, (entry) => entry.application);
  const title = headline(report);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${html(`${title} · ${plan.source} · Portolan`)}</title>
<style>${HTML_STYLE}</style>
</head>
<body>
<header>
<p class="brand">Portolan</p>
<h1>${html(title)}</h1>
${facts(report)}
${counts(report)}
</header>
<main>
${attention(entries)}${plan.scopes.map((scope) => application(scope, byApplication.get(scope.application) ?? [])).join('')}${aside(entries)}</main>
<footer><p>${footer(report, version)}</p></footer>
</body>
</html>
`;
}

function facts({ plan, applied }: PlanReport): string {
  const rows: readonly (readonly [string, string])[] = [
    ['Source', plan.source],
    ...(plan.revision === null ? [] : [['Revision', plan.revision] as const]),
    ...(hasChanges(plan) ? [['Digest', plan.digest] as const] : []),
    ...(applied === undefined ? [] : [['Exit code', String(applied.exitCode)] as const]),
  ];
  const cells = rows.map(([name, value]) => `<div><dt>${name}</dt><dd><code>${html(value)}</code></dd></div>`);
  return `<dl class="facts">${cells.join('')}</dl>`;
}

function counts({ plan, applied }: PlanReport): string {
  const { summary } = plan;
  const results = applied?.outcomes.flatMap((outcome) => (outcome.type === 'ended' ? outcome.results : [])) ?? [];
  const shown =
    results.length > 0
      ? (['done', 'failed', 'in-doubt', 'skipped'] as const).map((status) => {
          const { word, tone } = STATES[status];
          return [word, results.filter((result) => result.status === status).length, tone] as const;
        })
      : ([
          ['to create', summary.create, 'create'],
          ['to change', summary.update, 'update'],
          ['to delete', summary.delete, 'delete'],
          ['pending', summary.deferred, 'note'],
          ['held', summary.held, 'hold'],
          ['in sync', summary.inSync, 'note'],
        ] as const);
  const items = shown.map(
    ([name, value, tone]) => `<li class="${value === 0 ? 'none' : tone}"><b>${value}</b> ${name}</li>`,
  );
  return `<ul class="counts">${items.join('')}</ul>`;
}

/** Returns the section of errors and holds, which stands above everything else. */
function attention(entries: readonly Entry[]): string {
  const urgent = entries.filter(isUrgent);
  if (urgent.length === 0) return '';
  const cards = urgent.map((entry) => {
    const subject = entry.resource ?? entry.application;
    return entryHtml(entry, subject === undefined ? '' : `<h3>${html(subject)}</h3>`);
  });
  return `<section class="attention"><h2>Requires manual action</h2>\n${cards.join('')}</section>\n`;
}

function isUrgent({ level, state }: Entry): boolean {
  return level === 'error' || state === 'held';
}

/** Returns an entry without its details, which the section above shows already. */
function withoutDetail(entry: Entry): Entry {
  const { detail: _, remedy: __, ...rest } = entry;
  return { ...rest, changes: [], effects: [] };
}

function application(scope: PlanDocument['scopes'][number], all: readonly Entry[]): string {
  const entries = all
    .filter(({ state }) => state !== 'held' && state !== 'unobserved')
    .map((entry) => (isUrgent(entry) ? withoutDetail(entry) : entry));
  const { platform, team, region, appId } = scope.scope;
  const place = `${platform}/${team}/${region}/${appId}`;
  const isQuiet = entries.length === 0;
  const changes = scope.actions.filter(isOwnChange).length + scope.deferred.length;
  const said = [
    changes === 0 ? 'no changes' : amount(changes, 'change'),
    ...(scope.holds.length > 0 ? [`${scope.holds.length} held`] : []),
    `${scope.inSync.length} in sync`,
  ].join(', ');
  const groups = resourcesOf(entries).map(
    ([resource, own]) =>
      `<div class="resource"><h3>${html(resource ?? scope.application)}</h3>\n${own.map((entry) => entryHtml(entry, '')).join('')}</div>\n`,
  );
  return `<details${isQuiet ? '' : ' open'}>
<summary><h2>${html(scope.application)}</h2> <span class="muted">${html(place)} · ${said}</span></summary>
${groups.join('')}${inSync(scope.inSync)}</details>
`;
}

/** Groups entries in their order. A resource has two groups if a step of another one is between its own. */
function resourcesOf(entries: readonly Entry[]): readonly (readonly [string | undefined, readonly Entry[]])[] {
  const groups: [string | undefined, Entry[]][] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    if (last !== undefined && last[0] === entry.resource) last[1].push(entry);
    else groups.push([entry.resource, [entry]]);
  }
  return groups;
}

function inSync(resources: readonly string[]): string {
  return resources.length === 0
    ? ''
    : `<div class="resource"><h3>In sync</h3>${list('plain muted', resources)}</div>\n`;
}

function aside(entries: readonly Entry[]): string {
  const notes = entries.filter(({ application: of, state }) => of === undefined && state === 'note');
  const titles = notes.map(({ title }) => title);
  return titles.length === 0 ? '' : `<section><h2>Notes</h2>${list('plain', titles)}</section>\n`;
}

function list(style: string, texts: readonly string[]): string {
  return `<ul class="${style}">${texts.map((text) => `<li>${html(text)}</li>`).join('')}</ul>`;
}

function entryHtml(entry: Entry, head: string): string {
  const { tone, mark, word } = lookOf(entry);
  const { title, detail, remedy, cause, changes, effects } = entry;
  const consequences = effects.map((effect) => `also: ${effect}`);
  const also = consequences.length === 0 ? '' : `${list('also muted', consequences)}\n`;
  const tags = [...(word === '' ? [] : [word]), ...(cause === undefined ? [] : [CAUSE_WORDS[cause]])].map(
    (tag) => ` <span class="tag">${html(tag)}</span>`,
  );
  return `<div class="entry ${tone}"><span class="mark" aria-hidden="true">${mark}</span><div>${head}
<p>${title === word ? '' : html(title)}${tags.join('')}</p>
${detail === undefined ? '' : `<p>${html(detail)}</p>\n`}${changeTable(changes, entry)}${also}${remedy === undefined ? '' : `<p class="remedy">${html(remedy)}</p>\n`}</div></div>
`;
}

function changeTable(changes: readonly FieldChange[], { cause, title }: Entry): string {
  if (changes.length === 0) return '';
  // A new object has no former values.
  const isNew = changes.every(({ before }) => before === undefined);
  const rows = changes.map((change) => {
    const more = [driftedFrom(change), ownCause(change, cause)].filter((part) => part !== undefined).map(html);
    const field = `<code>${html(change.path)}</code>${more.map((part) => `<br><span class="muted">${part}</span>`).join('')}`;
    return `<tr><th scope="row">${field}</th>${isNew ? '' : valueCell('before', change.before)}${valueCell('after', change.after)}</tr>`;
  });
  const heads = ['Field', ...(isNew ? ['Value'] : ['Before', 'After'])].map((name) => `<th scope="col">${name}</th>`);
  return `<table><caption class="unseen">Fields: ${html(title)}</caption><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>\n`;
}

function valueCell(name: 'before' | 'after', json: Json | undefined): string {
  const label = ` data-label="${name}"`;
  if (json === undefined) return `<td class="none"${label}>${name === 'before' ? '(unset)' : '(removed)'}</td>`;
  return `<td class="${name}"${label}><span class="value">${html(valueText(json))}</span></td>`;
}

/** Returns the look of an entry: that of its verb for a planned change, else that of its state. The word repeats the colour. */
function lookOf({ state, verb }: Entry): Pick<State, 'tone' | 'mark' | 'word'> {
  if (state !== 'planned' || verb === undefined) return STATES[state];
  return { tone: verb, mark: SYMBOL[verb], word: verb === 'update' ? 'change' : verb };
}

function footer({ plan }: PlanReport, version: string): string {
  const { unchangedFields } = plan.summary;
  return [
    `Portolan ${html(version)}`,
    `${amount(unchangedFields, 'unchanged field')} not shown`,
    ...(plan.ledger === 'none' ? ['no ledger: ownership and causes of changes are unknown'] : []),
    ...(hasChanges(plan) ? ['plans with the same actions have the same digest'] : []),
  ].join(' · ');
}
