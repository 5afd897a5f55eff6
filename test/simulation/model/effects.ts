import type { Decision } from '../../../src/sandbox/handle.ts';
import type { SandboxState } from '../../../src/sandbox/state.ts';
import { type Books, isPending, type Violate } from '../books.ts';
import { type Content, rulesOf } from '../drivers/estate.ts';
import type { Sent } from '../truth.ts';
import { PORT } from './scenario.ts';

/** What was done to the platform: nothing twice, and no more removals than a day allows, whoever dies in between. */
export class Effects {
  readonly #violate: Violate;
  readonly #dailyObjects: number;
  /** How often each request changed the platform. */
  readonly #changedTimes = new Map<string, number>();
  /** Rules that were removed and ports that were closed, though no person agreed to it. */
  readonly #removed = new Set<string>();

  constructor(violate: Violate, dailyObjects: number) {
    this.#violate = violate;
    this.#dailyObjects = dailyObjects;
  }

  copyFor(violate: Violate): Effects {
    const copy = new Effects(violate, this.#dailyObjects);
    for (const [request, times] of this.#changedTimes) copy.#changedTimes.set(request, times);
    for (const object of this.#removed) copy.#removed.add(object);
    return copy;
  }

  text(): string {
    return `${[...this.#changedTimes].sort().join()} ${[...this.#removed].sort().join()}`;
  }

  acted({ action, intent }: Sent, { changes, effectApplied }: Decision, isApproved: boolean): void {
    if (changes.length > 0) {
      const times = (this.#changedTimes.get(intent.requestHash) ?? 0) + 1;
      this.#changedTimes.set(intent.requestHash, times);
      if (times > 1) this.#violate('I-ONCE', `${action.summary} changed the platform ${times} times`);
    }
    const isAccess = action.object.startsWith('rule/') || action.step.type === 'close_outer';
    if (!effectApplied || !action.prune || !isAccess || isApproved) return;
    this.#removed.add(action.object);
    if (this.#removed.size > this.#dailyObjects)
      this.#violate('I-BUDGET', `${[...this.#removed].join(', ')}: more than ${this.#dailyObjects} in a day`);
  }
}

/** What is not as git says, from the branch, the ledger and the platform's own rows. */
export function differencesOf(content: Content, books: Books, platform: SandboxState): readonly string[] {
  const faults: string[] = [];
  for (const intent of books.intents.values()) if (isPending(intent)) faults.push(`${intent.operation} is in doubt`);
  const wanted = rulesOf(content, 'one');
  const rules = [...platform.rules.all()].filter(({ type }) => type === 1);
  for (const [key, weight] of wanted) {
    const found = rules.filter(({ path }) => key.endsWith(path));
    if (found.length !== 1 || found[0]?.weight !== weight)
      faults.push(`${key} is there ${found.length} times, with weight ${found[0]?.weight}, wanted ${weight}`);
  }
  if (wanted.size === 0 && rules.length > 0) faults.push(`${rules.length} rules were not removed`);
  const isOpen = content.apps.get('one')?.ports.includes(PORT) === true;
  for (const { port, outer } of platform.ports.all())
    if (port === PORT && outer !== isOpen) faults.push(`outer access is ${outer ? 'open' : 'closed'}`);
  return faults;
}
