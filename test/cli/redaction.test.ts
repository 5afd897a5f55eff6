import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createRedaction, maskInlinePasswords, redacting } from '../../src/cli/session/redaction.ts';
import { openSecret } from '../../src/cli/session/secrets.ts';
import type { Output, Terminal } from '../../src/cli/terminal/terminal.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { spellingsOf } from '../support/spellings.ts';

/** A file name in a folder that goes when the test ends. Not shared with other tests: few imports keep mutants cheap. */
function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-redaction-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'token');
}

const anySecret = fc
  .string({ minLength: 6, maxLength: 40, unit: 'binary' })
  .filter((text) => text.isWellFormed() && !'[secret]'.includes(text));

test('a secret is masked in each of its spellings, exactly, wherever it stands', () => {
  const secret = 'a "b"/+=&?%41\n~ÿ>>>???';
  const redaction = createRedaction();
  redaction.add(secret);
  const spellings = spellingsOf(secret);
  expect(new Set(spellings).size).toBe(5);
  for (const spelling of spellings)
    expect(redaction.redact(`<${spelling}|${spelling}>`), spelling).toBe('<[secret]|[secret]>');
  expect(redaction.redact(Buffer.from(secret).toString('base64'))).toMatch(/^\[secret\]=*$/);
  expect(redaction.redact('a "b" nothing else')).toBe('a "b" nothing else');
});

test('no spelling of any secret survives', () => {
  fc.assert(
    fc.property(anySecret, fc.string({ maxLength: 20 }), fc.nat({ max: 4 }), (secret, around, spelling) => {
      const redaction = createRedaction();
      redaction.add(secret);
      const written = spellingsOf(secret)[spelling] as string;
      expect(redaction.redact(`${around}${written}${around}`)).not.toContain(written);
    }),
  );
});

test.for([
  ['the part first', ['abcdef', 'abcdefghijkl']],
  ['the whole first', ['abcdefghijkl', 'abcdef']],
] as const)('a secret that is part of another leaves nothing of the longer one: %s', ([, secrets]) => {
  const redaction = createRedaction();
  for (const secret of secrets) redaction.add(secret);
  expect(redaction.redact('x abcdefghijkl abcdef')).toBe('x [secret] [secret]');
});

test('five characters are no secret: masked, they would blot out half of every message', () => {
  const redaction = createRedaction();
  redaction.add('abcde');
  expect(redaction.redact('abcde')).toBe('abcde');
  redaction.add('abcdef');
  expect(redaction.redact('abcdef')).toBe('[secret]');
});

test('both outputs of the terminal are masked; the rest of it stays', () => {
  const redaction = createRedaction();
  const text = { out: '', err: '' };
  const output = (name: 'out' | 'err'): Output => ({
    write: (part) => {
      text[name] += part;
    },
    isTerminal: false,
    rows: 24,
    columns: 132,
    color: false,
  });
  const terminal: Terminal = { out: output('out'), err: output('err'), async *input() {} };
  const masked = redacting(terminal, redaction);
  redaction.add('hunter-two');
  masked.out.write('out hunter-two\n');
  masked.err.write('err hunter-two\n');
  expect(text).toEqual({ out: 'out [secret]\n', err: 'err [secret]\n' });
  expect(masked.out.columns).toBe(132);
  expect(masked.input).toBe(terminal.input);
});

/** A clock that moves only when it is told to. */
function handClock(): Clock & { advance(ms: number): void } {
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    sinceBoot: () => ({ boot: '', uptimeMs: 0 }),
    sleep: async () => {},
    advance: (ms) => void (nowMs += ms),
  };
}

test('a variable is read once, and masked from then on', () => {
  const redaction = createRedaction();
  const env: Record<string, string> = { TOKEN: 'first-token' };
  const secret = openSecret({ env: 'TOKEN' }, 'here', { env, clock: handClock(), redaction });
  env['TOKEN'] = 'second-token';
  expect(secret().reveal()).toBe('first-token');
  expect(secret().origin).toBe('environment variable TOKEN');
  expect(redaction.redact('first-token second-token')).toBe('[secret] second-token');
});

test('a file is read again when it may have been rotated, and what was read stays while it cannot be', () => {
  const file = temporaryFile();
  const clock = handClock();
  const redaction = createRedaction();
  writeFileSync(file, 'first-token\r\n');
  const secret = openSecret({ file }, 'here', { env: {}, clock, redaction });
  expect(secret().origin).toBe(`file ${file}`);
  expect(secret().reveal()).toBe('first-token');
  writeFileSync(file, 'second\ntoken\n');
  clock.advance(5_000);
  expect(secret().reveal()).toBe('first-token');
  clock.advance(1);
  expect(secret().reveal()).toBe('second\ntoken');
  writeFileSync(file, '');
  clock.advance(5_001);
  expect(secret().reveal()).toBe('second\ntoken');
  writeFileSync(file, 'third-token');
  clock.advance(5_000);
  expect(secret().reveal(), 'a failed reading counts as one').toBe('second\ntoken');
  clock.advance(1);
  expect(secret().reveal()).toBe('third-token');
  expect(redaction.redact('first-token, second\ntoken, third-token')).toBe('[secret], [secret], [secret]');
});

test('a file that stays unreadable is told once, and once more when it is back', () => {
  const file = temporaryFile();
  const clock = handClock();
  const told: string[] = [];
  const log = {
    warn: (message: string, fields?: Readonly<Record<string, unknown>>) =>
      void told.push(`warn ${message}: ${String(fields?.['reason'])} ${String(fields?.['remedy'])}`),
    info: (message: string) => void told.push(`info ${message}`),
  };
  writeFileSync(file, 'first-token');
  const around = { env: {}, clock, redaction: createRedaction() };
  const secret = openSecret({ file }, 'Platform/default spec.auth.value', around, log);
  const use = (): void => {
    clock.advance(5_001);
    expect(secret().reveal()).toBe('first-token');
  };
  rmSync(file);
  use();
  expect(told, 'a rotation takes a moment').toEqual([]);
  use();
  use();
  expect(told).toEqual([
    expect.stringMatching(
      /^warn Platform\/default spec\.auth\.value cannot be read again; its former value stays in use: .*no such file.* \S/,
    ),
  ]);
  writeFileSync(file, 'first-token');
  use();
  use();
  expect(told.slice(1)).toEqual(['info Platform/default spec.auth.value is read again']);
});

test('a mistake of ours while reading is not taken for a file that is away', () => {
  const file = temporaryFile();
  writeFileSync(file, 'first-token');
  const clock = handClock();
  let isBroken = false;
  const redaction = {
    add: () => {
      if (isBroken) throw new TypeError('a bug');
    },
    redact: (text: string) => text,
  };
  const secret = openSecret({ file }, 'here', { env: {}, clock, redaction });
  isBroken = true;
  clock.advance(5_001);
  expect(() => secret()).toThrow('a bug');
});

test.for([
  [{ env: 'NOT_THERE' }, 'environment variable NOT_THERE', 'not set'],
  [{ env: 'EMPTY' }, 'environment variable EMPTY', 'empty'],
] as const)('a reference to nothing is an error of the configuration: %j', ([reference, origin, state]) => {
  const around = { env: { EMPTY: '' }, clock: handClock(), redaction: createRedaction() };
  expect(() => openSecret(reference, 'Store/main spec.accessKey', around)).toThrow(
    expect.objectContaining({
      code: 'secret/missing',
      disposition: 'invalid',
      message: `Store/main spec.accessKey takes its secret from the ${origin}, which is ${state}. Nothing was sent.`,
      remedy: `Set the ${origin}, or correct the reference in the configuration.`,
    }),
  );
});

test('a file that is not there is named with what it was for', () => {
  const around = { env: {}, clock: handClock(), redaction: createRedaction() };
  expect(() => openSecret({ file: '/nowhere/token' }, 'Store/main spec.accessKey', around)).toThrow(
    /the secret of Store\/main spec\.accessKey/,
  );
});

test.for([
  ['postgres://ann:pass-word@db/fleet', 'postgres://ann:[secret]@db/fleet'],
  ['postgresql://ann:pass-word@db/fleet', 'postgresql://ann:[secret]@db/fleet'],
  ['--ledger=postgres://ann:pass-word@db/fleet', '--ledger=postgres://ann:[secret]@db/fleet'],
  ['-l=postgres://:pass-word@db/fleet', '-l=postgres://:[secret]@db/fleet'],
  ['postgres://ann:pass@word:1@db/fleet', 'postgres://ann:[secret]@db/fleet'],
  ['postgres://ann@db/fleet?password=pass-word', 'postgres://ann@db/fleet?password=[secret]'],
  [
    '--ledger=postgresql://ann@db/fleet?a=b&password=pass-word&c=d',
    '--ledger=postgresql://ann@db/fleet?a=b&password=[secret]&c=d',
  ],
  ['postgres://ann@db:pass-word/fleet', 'postgres://ann@db:pass-word/fleet'],
  ['postgres://ann@db/fleet?nopassword=pass-word', 'postgres://ann@db/fleet?nopassword=pass-word'],
  ['postgres://ann/x:pass-word@db/fleet', 'postgres://ann/x:pass-word@db/fleet'],
  ['see postgres://ann:pass-word@db/fleet', 'see postgres://ann:pass-word@db/fleet'],
  ['see postgres://ann@db/fleet?password=pass-word', 'see postgres://ann@db/fleet?password=pass-word'],
] as const)('a word of the command line: %s', ([word, shown]) => {
  const redaction = createRedaction();
  maskInlinePasswords(['plan', word], redaction);
  expect(redaction.redact(word)).toBe(shown);
});
