import { expect } from 'vitest';
import type { Dialect } from '../../src/sandbox/wire.ts';
import type { Run } from '../cli/running.ts';
import type { Scene } from '../cli/scene.ts';
import type { Attack } from './attacks.ts';
import { appliedScene, type Damage, damageBetween, freshScene, inventory, plant } from './world.ts';

/** What the guards promise: removals in one run, and the share of what is on record that one run may hit. */
const REMOVED_MAX = 10;
const SHARE_MAX = 0.3;

export interface Blow {
  readonly damage: Damage;
  readonly run: Run;
  /** Codes of refusals, faults and holds, at most three. */
  readonly stoppedBy: readonly string[];
}

/** One `apply`, and what it did to what was there. */
export async function strike(scene: Scene, flags: readonly string[]): Promise<Blow> {
  const before = inventory(scene.sandbox.state);
  const run = await scene.run('apply', flags);
  const damage = damageBetween(before, inventory(scene.sandbox.state));
  const codes = `${run.out}\n${run.err}`.match(/(?<=[([])(?:[a-z]+\/[a-z][a-z-]*)(?=[)\]])/g) ?? [];
  return { damage, run, stoppedBy: [...new Set(codes)].sort().slice(0, 3) };
}

/** How many objects are on record: what the guards measure by. */
export async function ownedBy(scene: Scene): Promise<number> {
  const { out } = await scene.portolan(['ledger', 'list', '-o', 'json']);
  return (JSON.parse(out) as { objects: readonly object[] }).objects.length;
}

/** What no source may exceed, whatever it says. */
export function expectBounded({ damage, run }: Blow, owned: number, prunes: boolean): void {
  const { removed, closed, changed, foreign } = damage;
  expect(foreign, 'of others').toEqual([]);
  expect(
    removed.filter((name) => /^(?:install|component|application) /.test(name)),
    'never removed',
  ).toEqual([]);
  expect(removed.length, 'removed').toBeLessThanOrEqual(prunes ? REMOVED_MAX : 0);
  expect(removed.length + closed.length + changed.length, 'hit').toBeLessThanOrEqual(Math.floor(SHARE_MAX * owned));
  // What is printed reaches a terminal: nothing in it may move the cursor, and nothing that was not the source's own.
  expect(run.out + run.err).not.toMatch(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]|sandbox-token|demo-store-key|root:/,
  );
}

/** A table of measured damage, in Markdown. */
export class Account {
  readonly #rows: string[][] = [
    ['attack', 'dialect, flags', 'exit', 'removed', 'closed', 'changed', 'of all on record', 'new', 'stopped by'],
    Array.from({ length: 9 }, () => '---'),
  ];

  add(name: string, mode: string, { damage, run, stoppedBy }: Blow, owned: number): void {
    const { removed, closed, changed, created } = damage;
    const hit = removed.length + closed.length + changed.length;
    const share = hit === 0 ? 'nothing' : `${Math.round((100 * hit) / owned)} %`;
    const counts = [removed.length, closed.length, changed.length].map(String);
    this.#rows.push([name, mode, String(run.code), ...counts, share, String(created), stoppedBy.join(', ')]);
  }

  toString(): string {
    return `${this.#rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
  }
}

/** An attack on a state that was applied, without and with `--prune`. */
export async function suffer(attack: Attack, dialect: Dialect, account: Account): Promise<void> {
  const scene = await appliedScene(dialect);
  const owned = await ownedBy(scene);
  plant(scene, attack.files);
  for (const flag of ['', '--prune']) {
    const blow = await strike(scene, flag === '' ? [] : [flag]);
    account.add(attack.name, `${dialect} ${flag}`, blow, owned);
    expectBounded(blow, owned, flag !== '');
  }
}

/** An attack that must end before anything is asked of the platform. */
export async function refuse(attack: Attack, account: Account): Promise<void> {
  const scene = await freshScene('extended');
  plant(scene, attack.files);
  for (const flag of ['', '--prune']) {
    const blow = await strike(scene, flag === '' ? [] : [flag]);
    account.add(attack.name, `extended ${flag}`, blow, 0);
    expectBounded(blow, 0, flag !== '');
    expect(blow.run.code).toBe(3);
    expect(scene.traffic(), 'nothing was sent, nothing was asked').toEqual({ writes: [], reads: [] });
  }
  expect(Object.keys(Object.prototype), 'no prototype was touched').toEqual([]);
}
