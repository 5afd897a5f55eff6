/** The picture of a plan in README: what a terminal shows for a real plan against a sandbox. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { systemClock } from '../src/runtime/clock.ts';
import type { Random } from '../src/runtime/random.ts';
import { SANDBOX_TOKEN, startSandbox } from '../src/sandbox/server.ts';
import type { Page } from './markdown.ts';
import { runProgramHere } from './program.ts';

const FILE = 'examples/plan.svg';
const COLUMNS = 92;

/** Ids of the sandbox, so that each run has the same plan and the same digest. */
const countingRandom = (): Random => {
  let count = 0;
  return {
    next: () => 0.5,
    hex: (bytes) => (++count).toString(16).padStart(bytes * 2, '0'),
  };
};

const WEB = '6f3c1d5e8a9b40c7a2e4d6f8091b3c5d';
const rule = (name: string, domain: string, port: number, path = '/'): object => ({
  apiVersion: 'portolan/v1',
  kind: 'HttpGatewayRule',
  metadata: { name },
  spec: { application: 'shop', component: 'shop-web', port, domain, path },
});
const manifests = (ports: readonly object[], rules: readonly object[]): string =>
  [
    {
      apiVersion: 'portolan/v1',
      kind: 'Application',
      metadata: { name: 'shop' },
      spec: { team: 'team-a', region: 'region-1', appId: 42 },
    },
    {
      apiVersion: 'portolan/v1',
      kind: 'Component',
      metadata: { name: 'shop-web' },
      spec: { application: 'shop', serviceId: WEB, ports },
    },
    ...rules,
  ]
    .map((document) => stringify(document))
    .join('---\n');

const web = { port: 8080, protocol: 'http', alias: 'WEB', inner: true, outer: true };
const metrics = { port: 9000, protocol: 'http', alias: 'METRICS', inner: true, outer: false };
const BEFORE = manifests(
  [web, metrics],
  [rule('shop-www', 'www.shop.example.com', 8080), rule('shop-old', 'old.shop.example.com', 8080)],
);
const AFTER = manifests(
  [web, metrics],
  [rule('shop-www', 'www.shop.example.com', 8080, '/shop'), rule('shop-api', 'api.shop.example.com', 8080, '/v1')],
);

/** Returns the picture as a page. */
export async function planPages(root: string): Promise<readonly Page[]> {
  const text = await planText(root);
  return [{ file: FILE, text: svgOf('portolan plan --prune', text) }];
}

/** Returns what a terminal shows, with its colours, for a plan with a cause of each type. */
async function planText(root: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-picture-'));
  const random = countingRandom();
  const sandbox = await startSandbox({ clock: systemClock, random });
  try {
    const configuration = [
      {
        apiVersion: 'portolan/v1',
        kind: 'Platform',
        metadata: { name: 'default' },
        spec: { url: sandbox.url, auth: { header: 'Authorization', value: { env: 'PORTOLAN_TOKEN' } } },
      },
      { apiVersion: 'portolan/v1', kind: 'Settings', spec: { scopes: { allow: ['team-a/region-1/*'] } } },
    ];
    writeFileSync(join(folder, 'portolan.yaml'), configuration.map((document) => stringify(document)).join('---\n'));
    const run = async (wanted: number, ...words: string[]): Promise<string> => {
      const env = {
        PORTOLAN_TOKEN: SANDBOX_TOKEN,
        PORTOLAN_CONFIG: join(folder, 'portolan.yaml'),
        PORTOLAN_LEDGER: join(folder, 'portolan.db'),
        PORTOLAN_FILENAME: join(folder, 'shop.yaml'),
      };
      const { code, out, err } = await runProgramHere(words, root, { columns: COLUMNS, color: true, env, random });
      if (code !== wanted) throw new Error(`portolan ${words.join(' ')} ended with ${code}: ${err}`);
      return out;
    };
    writeFileSync(join(folder, 'shop.yaml'), BEFORE);
    await run(0, 'apply', '--yes');
    // A colleague closes a port in the console.
    const port = `${sandbox.url}/openapi/v1/teams/team-a/regions/region-1/apps/42/services/${WEB}/ports/9000`;
    const closed = await fetch(port, {
      method: 'PUT',
      headers: { Authorization: SANDBOX_TOKEN, 'Content-Type': 'application/json' },
      body: JSON.stringify({ action: 'close_inner' }),
    });
    if (!closed.ok) throw new Error(`the sandbox answered ${closed.status}: ${await closed.text()}`);
    writeFileSync(join(folder, 'shop.yaml'), AFTER);
    return await run(0, 'plan', '--prune');
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const CHARACTER = 8.4;
const LINE = 19;
const TOP = 52;
const LEFT = 18;

/** Colours of a dark terminal, which is readable on pages of both themes. */
const COLORS: Readonly<Record<string, string>> = {
  '31': '#ff9492',
  '32': '#7ee787',
  '33': '#f2cc60',
  '34': '#a5d6ff',
  '36': '#a5d6ff',
};

/** Returns a picture of a terminal that shows a command and its output. */
export function svgOf(command: string, output: string): string {
  const lines = [`\u001B[2m$\u001B[22m \u001B[1m${command}\u001B[22m`, '', ...output.trimEnd().split('\n')];
  const width = Math.round(COLUMNS * CHARACTER + 2 * LEFT);
  const height = TOP + lines.length * LINE;
  const texts = lines.flatMap((line, at) => spansOf(line, TOP + at * LINE));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<style>text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #e6edf3; }</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="#0d1117" stroke="#6e7681"/>
<circle cx="20" cy="18" r="5" fill="#6e7681"/><circle cx="38" cy="18" r="5" fill="#6e7681"/><circle cx="56" cy="18" r="5" fill="#6e7681"/>
${texts.join('\n')}
</svg>
`;
}

/** Returns the parts of a line, each in its colour and as wide as in a terminal, whatever the font. */
function spansOf(line: string, y: number): readonly string[] {
  let style = { isBold: false, isDim: false, color: '' };
  let column = 0;
  return line.split(/(\u001B\[\d+m)/).flatMap((part) => {
    const [, sequence] = /^\u001B\[(\d+)m$/.exec(part) ?? [];
    if (sequence !== undefined) {
      style = styleAfter(style, sequence);
      return [];
    }
    const from = column;
    column += part.length;
    if (part.trim() === '') return [];
    const indent = part.length - part.trimStart().length;
    const text = part.trim();
    const attributes = [
      `x="${((from + indent) * CHARACTER + LEFT).toFixed(1)}"`,
      `y="${y}"`,
      `textLength="${(text.length * CHARACTER).toFixed(1)}"`,
      ...(style.isBold ? ['font-weight="700"'] : []),
      ...(style.color === '' && !style.isDim ? [] : [`style="fill:${style.color === '' ? '#b1bac4' : style.color}"`]),
    ];
    return [`<text ${attributes.join(' ')}>${escaped(text)}</text>`];
  });
}

interface Style {
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly color: string;
}

/** @throws when the program uses a sequence that this does not draw. */
function styleAfter(style: Style, sequence: string): Style {
  if (sequence === '0') return { isBold: false, isDim: false, color: '' };
  if (sequence === '1') return { ...style, isBold: true };
  if (sequence === '2') return { ...style, isDim: true };
  if (sequence === '22') return { ...style, isBold: false, isDim: false };
  if (sequence === '39') return { ...style, color: '' };
  const color = COLORS[sequence];
  if (color === undefined) throw new Error(`the picture has no colour for the sequence ${sequence}`);
  return { ...style, color };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
