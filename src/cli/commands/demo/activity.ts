import type { HttpTransport } from '../../../platform/http.ts';
import type { FaultRule } from '../../../sandbox/faults.ts';
import type { Sandbox } from '../../../sandbox/server.ts';
import type { Checkout } from './checkout.ts';
import {
  DEMO_APPLICATIONS,
  FAILING_REGION,
  firstVariant,
  manifestsOf,
  portsPath,
  type Variant,
  WEB_PORT,
} from './fleet.ts';

/** Holds the parts that the activity of the demo changes: the source, and the platform with its faults. */
export interface Activity {
  readonly checkout: Checkout;
  readonly sandbox: Sandbox;
  readonly transport: HttpTransport;
  /** Shows one line. */
  readonly say: (text: string) => void;
}

/** One thing that happens. It ends at once; its effect may last. */
type Step = (activity: Activity, state: State) => Promise<void>;

interface State {
  readonly variants: Map<string, Variant>;
  /** Faults of the platform by name, until a later step removes them. */
  readonly faults: Map<string, FaultRule>;
  /** Counts the rounds, so that each has other values. */
  round: number;
}

const FILE = (name: string): string => `${name}.yaml`;

/** Makes the first commit, with the manifests of all applications. */
export async function beginActivity(activity: Activity): Promise<() => AsyncGenerator<void>> {
  const variants = new Map(DEMO_APPLICATIONS.map(({ name }) => [name, firstVariant(name)]));
  const files = Object.fromEntries([...variants].map(([name, variant]) => [FILE(name), manifestsOf(name, variant)]));
  const commit = await activity.checkout.commit('Ann Berg', 'Add the manifests of all applications', files);
  activity.say(`commit ${commit} by Ann Berg: the manifests of ${variants.size} applications`);
  const state: State = { variants, faults: new Map(), round: 0 };
  return async function* steps() {
    for (; ; state.round += 1)
      for (const step of STEPS) {
        await step(activity, state);
        yield;
      }
  };
}

/** In this order, so that no fault hides another one. */
const STEPS: readonly Step[] = [
  (activity, state) =>
    change(activity, state, 'search', 'Ben Cole', `Weight of search ${90 - state.round}`, (variant) => ({
      ...variant,
      weight: 90 - (state.round % 80),
    })),
  async (activity) => {
    const status = await put(activity, 'catalog', { action: 'close_outer' });
    activity.say(`drift: another client closes the outer access of catalog-web (${status})`);
  },
  async (activity, state) => {
    const fault = { type: 'drop', when: 'after' } as const;
    inject(activity, state, 'lost', { path: `${portsPath('billing')}/*`, method: 'PUT', times: 1, fault });
    await change(activity, state, 'billing', 'Cleo Dahl', 'Rename the port of billing', (variant) => ({
      ...variant,
      alias: `WEB${state.round + 2}`,
    }));
    activity.say('lost answer: the connection breaks after the platform has done that change');
  },
  async (activity, state) => {
    const fault = { type: 'status', when: 'before', status: 502, body: { msg: 'bad gateway' } } as const;
    inject(activity, state, 'region', { path: `**/regions/${FAILING_REGION}/**`, fault });
    activity.say(`failing region: every request to ${FAILING_REGION} is answered with 502`);
  },
  async (activity) => {
    const text = `${manifestsOf('reviews', firstVariant('reviews'))}---\nkind: Component\nmetadata: { name: [broken\n`;
    const commit = await activity.checkout.commit('Dan Ek', 'Add another component of reviews', {
      [FILE('reviews')]: text,
    });
    activity.say(`commit ${commit} by Dan Ek: a manifest that is not YAML, so the source is rejected`);
  },
  async (activity, state) => {
    await change(activity, state, 'reviews', 'Dan Ek', 'Correct the manifest of reviews', (variant) => variant);
  },
  async (activity, state) => {
    inject(activity, state, 'region', undefined);
    activity.say(`region ${FAILING_REGION} works again`);
  },
  async (activity, state) => {
    // Until then, the refused plan of the round before waits for an approval.
    if (state.round === 0) return;
    await change(activity, state, 'shop', 'Eve Fox', 'Restore the old domains of the shop', (variant) => ({
      ...variant,
      domains: firstVariant('shop').domains,
    }));
  },
  (activity, state) =>
    change(activity, state, 'shop', 'Eve Fox', 'Remove the old domains of the shop', ({ domains, ...variant }) => ({
      ...variant,
      domains: domains.slice(0, 1),
    })),
  async (activity, state) => {
    inject(activity, state, 'slow', { probability: 0.5, fault: { type: 'delay', ms: 1_500 } });
    activity.say('slow platform: every other answer takes 1.5 s longer');
  },
  async (activity, state) => {
    inject(activity, state, 'slow', undefined);
    activity.say('the platform is fast again');
  },
];

async function change(
  { checkout, say }: Activity,
  { variants }: State,
  name: string,
  author: string,
  subject: string,
  next: (variant: Variant) => Variant,
): Promise<void> {
  const variant = next(variants.get(name) ?? firstVariant(name));
  variants.set(name, variant);
  const commit = await checkout.commit(author, subject, { [FILE(name)]: manifestsOf(name, variant) });
  say(`commit ${commit} by ${author}: ${subject}`);
}

/** Sets or removes a fault of the platform. */
function inject({ sandbox }: Activity, { faults }: State, name: string, rule: FaultRule | undefined): void {
  if (rule === undefined) faults.delete(name);
  else faults.set(name, { name, ...rule });
  sandbox.setFaults([...faults.values()]);
}

/** Changes a port as another client of the platform would. @returns the status of the answer. */
async function put({ transport }: Activity, name: string, body: { readonly action: string }): Promise<number> {
  const { status } = await transport.send({
    operation: 'updatePort',
    method: 'PUT',
    path: `${portsPath(name)}/${WEB_PORT}`,
    query: {},
    body,
    isRead: false,
    timeoutMs: 10_000,
  });
  return status;
}
