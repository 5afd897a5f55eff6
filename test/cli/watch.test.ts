import { expect, test } from 'vitest';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { withLiveRegion } from '../../src/cli/terminal/live-region.ts';
import { createRedaction } from '../../src/cli/session/redaction.ts';
import { type Watched, watch } from '../../src/cli/commands/watch.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';
import { collectingTerminal } from './running.ts';

const lost = new PortolanError({
  code: 'a/b',
  disposition: 'unreachable',
  message: 'Nobody is there.',
  remedy: 'Look.',
});

/** Looks at a list of states in turn, one each ten seconds, and is interrupted when it is at the end. */
async function watching(
  states: readonly (string | PortolanError)[],
  settings: Parameters<typeof collectingTerminal>[0],
  draw: Watched<string>['draw'] = (state) => [state],
) {
  const { terminal: bare, text } = collectingTerminal(settings);
  const { terminal, live } = withLiveRegion(bare);
  const clock = new VirtualClock();
  const stop = new AbortController();
  const frames: string[] = [];
  let nth = 0;
  const watched: Watched<string> = {
    intervalMs: 10_000,
    observe: async () => {
      frames.push(text.out);
      text.out = '';
      const state = states[nth];
      nth += 1;
      if (state === undefined) {
        stop.abort(new Error('ended by SIGINT'));
        frames.push(text.out);
        throw lost;
      }
      if (state instanceof PortolanError) {
        terminal.err.write('warn  retrying\n');
        throw state;
      }
      return state;
    },
    draw,
    print: (state) => `${state}\n`,
  };
  const around = {
    terminal,
    live,
    clock,
    signal: stop.signal,
    env: {},
    packageRoot: '',
    who: '',
    temporaryFolder: '',
    random: seededRandom(1),
    runtimeVersions: { node: '', platform: '' },
    usage: () => ({ rssBytes: 1, heapBytes: 1, heapLimitBytes: 2 }),
    overrides: [],
    kinds: { declared: async () => kindDeclarations, reconciled: async () => reconciledKinds },
    declarations: kindDeclarations,
    redaction: createRedaction(),
  };
  const ended = await watch(watched, around).then(
    (code) => ({ code, error: undefined }),
    (error: unknown) => ({ code: undefined, error }),
  );
  return { ...ended, frames, last: text.out, err: text.err };
}

test('on a terminal it is redrawn in place each second, on a screen of its own, and stays as it was last', async () => {
  const { code, frames, last, err } = await watching(['one', 'two'], { isTerminal: true, columns: 60 });
  expect(code).toBe(130);
  const [, first = '', second = '', atSignal] = frames;
  // While it still looks: a second signal would end it here.
  expect(atSignal).toBe('\u001b[?25h\u001b[?1049l');
  expect(first.startsWith('\u001b[?1049h\u001b[?25l\u001b[?2026h\u001b[H')).toBe(true);
  // Once, and then each second.
  expect(first.split('\u001b[?2026h')).toHaveLength(1 + 10);
  expect(first).toContain('every 10s, seen 12:00:00Z, 9s ago; Ctrl-C ends\u001b[K\r\n\u001b[K\r\none\u001b[K\u001b[J');
  expect(second).toContain('seen 12:00:10Z, 0s ago');
  expect(second).toContain('\r\ntwo\u001b[K');
  // Nothing is ever cleared that is not drawn over: no flicker.
  expect(first + second).not.toContain('\u001b[2J');
  expect(last).toBe('\u001b[?25h\u001b[?1049ltwo\nseen 2026-11-20T12:00:10.000Z\n');
  expect(err).toBe('');
});

test('a look that fails keeps what was seen, with its age and why, and what logs say waits until the end', async () => {
  const { code, frames, err } = await watching(['one', lost, 'two'], { isTerminal: true, columns: 80 });
  expect(code).toBe(130);
  const [, , failed = '', after = ''] = frames;
  expect(failed).toContain('! seen 12:00:00Z, 10s ago, then failed: Nobody is there.\u001b[K\r\n\u001b[K\r\none');
  expect(after).toContain('\r\ntwo');
  expect(err).toBe('warn  retrying\n');
});

test('no line is wider than the window, and what is too high is cut with a word', async () => {
  const lines = Array.from({ length: 9 }, (_, at) => `line ${at} ${'上海'.repeat(20)}`);
  const { frames } = await watching(['one'], { isTerminal: true, columns: 20, rows: 6 }, () => lines);
  const [frame = ''] = (frames[1] ?? '').split('\u001b[?2026h').slice(1);
  expect(frame.replace(/\u001b\[[?\d]*[A-Za-z]/g, '').split('\r\n')).toEqual([
    'every 10s, seen 12:…',
    '',
    'line 0 上海上海上海…',
    'line 1 上海上海上海…',
    'line 2 上海上海上海…',
    'and 6 more lines; e…',
  ]);
});

test('elsewhere it is written whenever it changes, and says once that nothing is known', async () => {
  const { code, frames, last, err } = await watching(['one', 'one', lost, lost, 'two', 'two'], {});
  expect(code).toBe(130);
  expect([...frames, last].join('')).toBe('one\ntwo\n');
  expect(err).toBe('warn  retrying\nnote: Nobody is there. Retrying.\nwarn  retrying\n');
});

test.for([{ isTerminal: true }, {}])('what cannot pass ends it, with the screen given back: %j', async (settings) => {
  const wrong = new PortolanError({ code: 'a/b', disposition: 'invalid', message: 'Wrong.', remedy: 'Correct it.' });
  const { error, last } = await watching(['one', wrong], settings);
  expect(error).toBe(wrong);
  if (settings.isTerminal) expect(last).toContain('\u001b[?25h\u001b[?1049l');
});

test('what cannot even be seen once is an error as without --watch', async () => {
  const { error, last } = await watching([lost], { isTerminal: true });
  expect(error).toBe(lost);
  expect(last).toBe('');
});
