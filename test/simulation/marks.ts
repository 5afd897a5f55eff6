import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { Wishes } from './shop.ts';

/** Whether Portolan has recorded a mark of a manifest: `maybe` between a commit in git and the end of a pass that read it. */
type Certainty = 'yes' | 'maybe' | 'no';

const ANNOTATIONS = { keep: ['portolan/prune', 'keep'], restore: ['portolan/on-removal', 'restore'] } as const;
type Mark = keyof typeof ANNOTATIONS;
const MARKS = Object.keys(ANNOTATIONS) as readonly Mark[];

/** Removal marks of rules, by the passes that read their manifests and by the requests: what the ledger says does not count. */
export class RuleMarks {
  readonly #known = new Map<string, Readonly<Record<Mark, Certainty>>>();

  /** A pass begins. */
  told(wishes: Wishes): void {
    this.#learn(wishes, (said, known) => (said === (known === 'yes') ? known : 'maybe'));
  }

  /**
   * A pass has ended well: it has recorded what manifests say. A mark is dropped only once its rule is as its manifest says.
   * @param isInDoubt whether it is not known if a rule was created: nothing of it is on record then.
   */
  ended(
    wishes: Wishes,
    { plan, results }: Extract<Outcome, { type: 'ended' }>,
    isInDoubt: (id: string) => boolean,
  ): void {
    const busy = new Set<string>(
      [...plan.holds, ...plan.deferred, ...plan.actions, ...results.map(({ action }) => action)].map(
        ({ resource }) => resource,
      ),
    );
    this.#learn(wishes, (said, known, id) => {
      if (isInDoubt(id)) return known;
      if (said) return 'yes';
      return busy.has(id) ? known : 'no';
    });
  }

  /** A rule is to be created, and what its manifest says goes with the request. */
  sent(rule: string, { annotations }: Wishes): void {
    const known = this.#known.get(rule);
    if (known === undefined) return;
    const said = MARKS.filter((mark) => isSaid(annotations.get(rule), mark));
    this.#known.set(rule, { ...known, ...Object.fromEntries(said.map((mark) => [mark, 'yes' as const])) });
  }

  of(rule: string, mark: Mark): Certainty {
    return this.#known.get(rule)?.[mark] ?? 'no';
  }

  #learn({ rules, annotations }: Wishes, learn: (said: boolean, known: Certainty, id: string) => Certainty): void {
    for (const name of rules.keys()) {
      const id = `HttpGatewayRule/${name}`;
      const learned = MARKS.map((mark) => {
        return [mark, learn(isSaid(annotations.get(id), mark), this.of(id, mark), id)] as const;
      });
      this.#known.set(id, Object.fromEntries(learned) as Record<Mark, Certainty>);
    }
  }
}

function isSaid(annotations: Readonly<Record<string, string>> | undefined, mark: Mark): boolean {
  const [annotation, value] = ANNOTATIONS[mark];
  return annotations?.[annotation] === value;
}
