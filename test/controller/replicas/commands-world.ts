import { onTestFinished } from 'vitest';
import type { Core } from '../../../src/controller/core.ts';
import { Commands } from '../../../src/controller/replicas/commands.ts';
import { followLeads } from '../../../src/controller/replicas/unit-changes.ts';
import { UnitWork } from '../../../src/controller/replicas/unit-work.ts';
import { ScopeClaims } from '../../../src/controller/scope-claims.ts';
import type { Command, LeaseUnit } from '../../../src/ledger/shared.ts';
import { PortolanError } from '../../../src/model/errors.ts';
import type { Json } from '../../../src/model/json.ts';
import { logInto } from '../hand-made.ts';
import { HandLeadership } from './hand-leadership.ts';
import { SharedWorld } from './shared-world.ts';

export const UNIT: LeaseUnit = 'platform:default';
export const OTHER: LeaseUnit = 'platform:other';
export const SOURCE: LeaseUnit = 'source:default';
/** Longest time that a hand-over waits for work. */
export const DRAIN_MS = 30_000;
export const never = new AbortController().signal;

/** Replicas that carry out commands. */
export class CommandsWorld extends SharedWorld {
  /** What was carried out, by whom. */
  readonly done: string[] = [];
  readonly refused: string[] = [];
  /** Ages at which the refusals were reported. */
  readonly ages: number[] = [];

  /** @param carry carries a command out at this replica; default: at once. */
  replica(
    name: string,
    carry: (command: Command, signal: AbortSignal) => Promise<Json | undefined> = async () => name,
  ) {
    const shared = this.open(name);
    const leadership = new HandLeadership(shared);
    const unitWork = new UnitWork();
    const commands = new Commands({
      shared,
      leadership,
      units: () => [UNIT, OTHER],
      sourceUnit: SOURCE,
      clock: this.clock,
      log: logInto(this.lines),
      carryOut: (command, signal) => {
        this.done.push(`${name} ${command.method} ${command.args as string}`);
        return carry(command, signal);
      },
      isAwaited: ({ method }) => method !== 'read',
      count: (unit, work) => void unitWork.run(unit, () => work),
      isLong: ({ args }) => args === 'long',
      onlyStops: ({ method }) => method === 'suspend',
      orderOf: ({ method, args }) => (method === 'read' ? undefined : (args as string)),
      refused: ({ method }, { code }, ageMs) => {
        this.refused.push(`${name} ${method} ${code}`);
        this.ages.push(ageMs);
      },
    });
    // As a controller does.
    followLeads({
      leadership,
      unitWork,
      records: new Map(),
      options: { clock: this.clock, log: logInto(this.lines) },
      configuration: { settings: { controller: { drainTimeoutMs: DRAIN_MS } } },
      gates: { beginLead() {} },
      claims: new ScopeClaims(),
    } as unknown as Core);
    commands.start();
    onTestFinished(() => commands.close());
    return { commands, leadership, shared };
  }
}

/** Records a command for the leader of the unit. */
export const add = (to: Commands, method: string, args: Json = 'shop'): Promise<string> =>
  to.add({ unit: UNIT, method, args, by: 'ops' });

export const refusal = new PortolanError({
  code: 'controller/other-plan',
  disposition: 'ask-human',
  message: 'It is another one. Nothing was approved.',
  remedy: 'Look again.',
});
