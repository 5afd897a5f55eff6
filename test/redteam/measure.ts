/**
 * A process of its own that validates one hostile file as the command line does, and says what that cost:
 * `measure.ts NAME whole|dense`. `whole` is the largest file that is opened at all, `dense` the largest of its sort that is
 * read to its end. The time is without starting the process, the memory is all of it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Lexer } from 'yaml';
import { LIMITS } from '../../src/manifest/limits.ts';
import { runHere } from '../cli/running.ts';
import { bombs, type Cost } from './bombs.ts';
import { stopwatch } from './stopwatch.ts';

const [name = '', size = 'whole'] = process.argv.slice(2);
const make = bombs[name];
if (make === undefined) throw new Error(`no bomb is called ${name}`);
const folder = mkdtempSync(join(tmpdir(), 'portolan-bomb-'));
try {
  const content = size === 'dense' ? densest(make) : make(LIMITS.fileBytes);
  const file = join(folder, 'bomb.yaml');
  writeFileSync(file, content);
  const sinceStart = stopwatch();
  const { code, out, err } = await runHere(['validate', '-f', file]);
  const cost: Cost = {
    ...sinceStart(),
    bytes: Buffer.byteLength(content),
    rssMib: Math.round(process.resourceUsage().maxRSS / 1024),
    exitCode: code,
    outputBytes: out.length + err.length,
    codes: [...new Set(`${out}${err}`.match(/(?<=\[)[a-z]+\/[a-z-]+(?=\]\n)/gi))].sort(),
  };
  process.stdout.write(JSON.stringify(cost));
} finally {
  rmSync(folder, { recursive: true });
}

/** The longest text of its sort that is not cut for its density. */
function densest(made: (bytes: number) => string): string {
  let low = 0;
  let high = LIMITS.fileBytes;
  while (high - low > 64) {
    const middle = (low + high) >> 1;
    if (isTooDense(made(middle))) high = middle;
    else low = middle;
  }
  return made(low);
}

function isTooDense(text: string): boolean {
  let lexemes = 0;
  for (const _ of new Lexer().lex(text)) if ((lexemes += 1) > LIMITS.lexemes) return true;
  return false;
}
