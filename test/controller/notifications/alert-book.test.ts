import { expect, test } from 'vitest';
import { alertChanges, alertText, endedText, subjectOf } from '../../../src/controller/notifications/alert.ts';
import { AlertBook, EXPIRES_MS } from '../../../src/controller/notifications/alert-book.ts';
import type { ControllerEvent } from '../../../src/model/status.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { event } from '../hand-made.ts';

const DAY = 24 * 60 * 60 * 1000;

function scene() {
  const clock = new VirtualClock();
  const led = new Set(['platform:east']);
  const book = new AlertBook(clock, (unit) => led.has(unit));
  const found = (facts: Partial<ControllerEvent>) => {
    const one = event({ atMs: clock.now(), ...facts });
    const [change] = alertChanges(one);
    if (change === undefined) throw new Error('it is no alert');
    return { one, subject: subjectOf(change.alert, one), text: alertText(change.alert, one, 'default') };
  };
  return {
    clock,
    led,
    book,
    show(by: 'own' | 'other' | 'status', facts: Partial<ControllerEvent> = {}, unit = 'platform:east') {
      const { one, subject, text } = found(facts);
      book.show({ subject, text, atMs: one.atMs, unit: unit as 'here' }, by);
    },
    end(facts: Partial<ControllerEvent> = {}) {
      const { one, subject } = found({ type: 'drift.gone', severity: 'info', ...facts });
      book.end(subject, one.atMs, (open) => open && endedText(open, one));
    },
    /** What is sent now, as far as it can be delivered. */
    send(isDelivered = true): readonly string[] {
      const batch = book.take();
      const posts = book.posts(batch, 0);
      if (isDelivered) book.delivered(batch);
      return posts.map(({ labels, startsAt }) => {
        const { resource, label_env: env } = labels as Record<string, string>;
        return `${startsAt === undefined ? 'end' : 'start'} ${resource} ${env}`;
      });
    },
  };
}

test('an alert of another leader is sent from the moment that this process leads its unit', () => {
  const { book, led, send, show } = scene();
  show('other', {}, 'platform:west');
  expect(book.hasDue).toBe(false);
  expect(send()).toEqual([]);
  led.add('platform:west');
  expect(send()).toEqual(['start Component/shop-web prod']);
});

test('a start of another leader that is stored after the end does not start the alert', () => {
  const { book, clock, end, send, show } = scene();
  const startedMs = clock.now();
  clock.advance(1_000);
  end();
  show('other', { atMs: startedMs });
  expect([...book.open()]).toEqual([]);
  clock.advance(1_000);
  show('other');
  expect(send()).toEqual(['start Component/shop-web prod']);
});

test('the end of an alert that Alertmanager cannot have is not sent, but one that it may have is', () => {
  const { end, send, show } = scene();
  show('own');
  end();
  expect(send()).toEqual([]);
  show('other');
  end();
  expect(send(false)).toEqual(['end Component/shop-web prod']);
  // Its end was not delivered, so it may fire.
  show('own');
  end();
  expect(send()).toEqual(['end Component/shop-web prod']);
});

test('an alert that starts once more with other labels ends by the former ones', () => {
  const { book, end, send, show } = scene();
  show('own');
  send();
  end();
  show('own', { labels: { env: 'test' } });
  expect(send()).toEqual(['end Component/shop-web prod', 'start Component/shop-web test']);
  book.renew();
  expect(send()).toEqual(['start Component/shop-web test']);
});

test('a retry sends what stands then', () => {
  const { book, end, led, show } = scene();
  show('own');
  show('own', { resource: 'Component/blog' });
  const batch = book.take();
  expect(book.posts(batch, 0)).toHaveLength(2);
  end();
  expect(book.posts(batch, 0)).toHaveLength(1);
  led.clear();
  expect(book.posts(batch, 0)).toEqual([]);
});

test('an end that cannot be delivered is given up when its alert has expired', () => {
  const { book, clock, end, send, show } = scene();
  show('own');
  send();
  end();
  expect(send(false)).toHaveLength(1);
  clock.advance(EXPIRES_MS + 1);
  book.renew();
  expect(send()).toEqual([]);
});

test('an alert that nothing confirms is forgotten after a day', () => {
  const { book, clock, show } = scene();
  show('own');
  clock.advance(DAY - 1);
  book.renew();
  expect([...book.open()]).toHaveLength(1);
  clock.advance(2);
  book.renew();
  expect([...book.open()]).toEqual([]);
});

test('all alerts have their turn, and there are not too many', () => {
  const { book, send, show } = scene();
  for (let at = 0; !book.isFull; at += 1) show('own', { resource: `Component/web-${at}` });
  expect([...book.open()]).toHaveLength(4_000);
  const sent = new Set<string>();
  for (let turn = 0; turn < 20; turn += 1) {
    for (const one of send()) sent.add(one);
    // The next round begins before all were sent.
    if (turn % 3 === 0) book.renew();
  }
  expect(sent.size).toBe(4_000);
});
