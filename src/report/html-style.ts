/** The style of the HTML report. It loads no fonts, images or scripts. Contrast is at least 4.5:1 in both schemes. */
export const HTML_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --text: #1b1f24; --muted: #57606a; --line: #d8dee4;
  --create: #116329; --create-soft: #e3f6e8; --update: #7a4d00; --update-soft: #fff3d1;
  --delete: #b3202b; --delete-soft: #ffe9e8; --hold: #7d2ca3; --hold-soft: #f7ebfd; --note: #0a5bb5; --note-soft: #e6f2ff;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --card: #161b22; --text: #e6edf3; --muted: #9aa5b1; --line: #30363d;
    --create: #56d364; --create-soft: #12261a; --update: #e3b341; --update-soft: #2b2210;
    --delete: #ff8a84; --delete-soft: #33161a; --hold: #d2a8ff; --hold-soft: #271a36; --note: #79c0ff; --note-soft: #10243c;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main, header, footer { max-width: 66rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; text-wrap: balance; }
h2 { font-size: 1.15rem; margin: 0; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
p { margin: .35rem 0; }
code, .value { font: .875em/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.muted { color: var(--muted); }
.brand { color: var(--muted); font-weight: 600; letter-spacing: .02em; margin: 0 0 .25rem; }
dl.facts { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .75rem 0 1.25rem; }
dl.facts div { display: flex; gap: .4rem; min-width: 0; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
ul.counts { list-style: none; display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .75rem; margin: 0 0 1.5rem; padding: 0; }
ul.counts li { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .6rem .9rem; }
ul.counts b { display: block; font-size: 1.6rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
ul.counts li.none b { color: var(--muted); font-weight: 400; }
.create b, .create > .mark { color: var(--create); } .update b, .update > .mark { color: var(--update); }
.delete b, .delete > .mark { color: var(--delete); } .hold b, .hold > .mark { color: var(--hold); }
.note b, .note > .mark { color: var(--note); }
section { margin: 0 0 1.5rem; }
details { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; margin: 0 0 1rem; }
summary { cursor: pointer; padding: .8rem 1rem; display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; border-radius: .6rem; }
summary::before { content: "▸"; color: var(--muted); } details[open] > summary::before { content: "▾"; }
summary::-webkit-details-marker { display: none; }
summary:focus-visible { outline: 3px solid var(--note); outline-offset: 2px; }
.resource { border-top: 1px solid var(--line); padding: .8rem 1rem; }
.entry { display: grid; grid-template-columns: 1.6rem minmax(0, 1fr); gap: 0 .35rem; padding: .35rem 0; }
.entry > .mark { font: 700 1.05rem/1.45 ui-monospace, Menlo, Consolas, monospace; }
.entry > div { min-width: 0; overflow-wrap: anywhere; }
.attention .entry { background: var(--card); border: 1px solid var(--line); border-inline-start: .3rem solid var(--hold); border-radius: .6rem; padding: .7rem .9rem; margin: .6rem 0; }
.attention .entry.delete { border-inline-start-color: var(--delete); }
.attention h2 { margin-bottom: .25rem; }
.tag { display: inline-block; font-size: .8rem; padding: 0 .5rem; border-radius: 1rem; background: var(--note-soft); color: var(--note); white-space: nowrap; }
.delete .tag { background: var(--delete-soft); color: var(--delete); } .hold .tag { background: var(--hold-soft); color: var(--hold); }
.create .tag { background: var(--create-soft); color: var(--create); } .update .tag { background: var(--update-soft); color: var(--update); }
table { border-collapse: collapse; table-layout: fixed; width: 100%; margin: .4rem 0 .2rem; font-size: .9rem; }
th, td { overflow-wrap: anywhere; text-align: start; vertical-align: top; padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line); font-weight: 400; }
thead th { color: var(--muted); border-top: 0; padding-bottom: .15rem; }
td.before { color: var(--delete); } td.after { color: var(--create); } td.none { color: var(--muted); }
ul.plain { margin: .3rem 0; padding-inline-start: 1.1rem; }
ul.also { list-style: none; margin: .2rem 0; padding: 0; }
.remedy::before { content: "→ "; color: var(--muted); }
footer { color: var(--muted); font-size: .85rem; padding-bottom: 2rem; overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 40rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { display: block; border-top: 1px solid var(--line); padding: .3rem 0; }
  th, td { display: block; border: 0; padding: 0; }
  td[data-label]::before { content: attr(data-label) " "; color: var(--muted); }
}
@media print {
  :root { --page: #fff; --card: #fff; }
  body { font-size: 11pt; } details, ul.counts li { break-inside: avoid-page; } .entry { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; } summary::before { content: none; }
}
`;
