import type { Intent } from '../../../src/model/owned.ts';
import type { Action } from '../../../src/model/plan.ts';
import { type AppName, type Content, ruleOf } from './estate.ts';
import type { Commit } from './git.ts';
import type { DriverSettings } from './settings.ts';

/** Rules that platforms have lost without a person's word. No schedule takes the day after which they count no more. */
export class Losses {
  /** The intents of each platform. */
  readonly #lost = new Map<string, Set<string>>();

  add(intent: Intent): void {
    const platform = platformOf(intent);
    this.#lost.set(platform, new Set(this.#lost.get(platform)).add(intent.id));
  }

  /** Returns why one more is too many by any of these settings; nothing if it is not. */
  over(intent: Intent, settings: readonly DriverSettings[]): string[] {
    const most = Math.max(...settings.map(({ spec }) => spec.prune.dailyObjects));
    const lost = this.#lost.get(platformOf(intent))?.size ?? 0;
    return lost < most ? [] : [`${lost + 1} rules removed in a day, of ${most}`];
  }

  /** Returns how many each platform has lost. */
  counts(): readonly (readonly [string, number])[] {
    return [...this.#lost].map(([platform, intents]) => [platform, intents.size]);
  }

  copy(): Losses {
    const copy = new Losses();
    for (const [platform, intents] of this.#lost) copy.#lost.set(platform, new Set(intents));
    return copy;
  }
}

function platformOf({ scope }: Intent): string {
  return scope.slice(0, scope.indexOf('/'));
}

/** Whether a rule goes for good. One whose manifest was ever at another place may have moved there, which costs nothing. */
export function isLoss(
  { object, resource, prune, verb }: Action,
  name: AppName,
  present: Content,
  commits: readonly Commit[],
): boolean {
  if (!prune || verb !== 'delete' || !object.startsWith('rule/')) return false;
  const rule = resource.slice(`HttpGatewayRule/${name}-`.length);
  if (present.apps.get(name)?.rules.has(rule) !== false) return false;
  return commits.every(({ content }) => [undefined, object].includes(ruleOf(content, name, rule)));
}
