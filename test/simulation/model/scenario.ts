import type { Settings } from '../../../src/configuration/settings/spec.ts';
import { defaultSettings } from '../../../src/configuration/configuration.ts';
import type { Seed } from '../../../src/sandbox/seed.ts';
import type { Contents } from '../../../src/source/contents.ts';
import { type Content, filesOf, REGION, TEAM } from '../drivers/estate.ts';
import { type DriverSettings, settingsOf } from '../drivers/settings.ts';
import { contentsOf } from '../drivers/workbench.ts';

/** What the two controllers are: `portolan run` or `portolan apply`. The first one begins. */
export type Role = 'daemon' | 'command';

/** What the branch says, one commit after another; the platform and the ledger are as the first `done` of them left them. */
export interface Scenario {
  readonly name: string;
  readonly done: readonly Content[];
  /** The first is there when the first controller begins; each of the others comes at any moment. */
  readonly commits: readonly Content[];
  /** Removals and closings that the source has in a day. */
  readonly dailyObjects: number;
  /** Plans that a person may let through, each at any moment after it was offered. */
  readonly approvals: number;
  /** Crashes and lost answers, at most, in the full model. */
  readonly faults: number;
  /** Of the time that all of it takes, about. */
  readonly share: number;
}

const OTHER_PORT = 8080;
export const PORT = 8081;
const SERVICE_ID = '1'.repeat(32);
const RULE = { port: OTHER_PORT, path: '/r0' };

/** One application with one component: a port that is open for good, and one that is closed. */
export const estate: Seed = {
  enterprise: { id: 'e'.repeat(32) },
  regions: [{ id: '9'.repeat(32), name: REGION }],
  teams: [{ id: 'd'.repeat(32), name: TEAM }],
  applications: [
    {
      id: 51,
      team: TEAM,
      region: REGION,
      name: 'one',
      components: [
        {
          id: SERVICE_ID,
          name: 'one-web',
          ports: [OTHER_PORT, PORT].map((port) => {
            const outer = port === OTHER_PORT;
            return { port, protocol: 'http', alias: `P${port}`, inner: true, outer };
          }),
        },
      ],
    },
  ],
};

/** @param weight of the rule; undefined: there is none. @param isOpen the manifest lists the port; else it is closed. */
function content(weight: number | undefined, isOpen = true): Content {
  const rules = new Map(weight === undefined ? [] : [['r0', { ...RULE, weight }]]);
  const app = {
    ports: isOpen ? [OTHER_PORT, PORT] : [OTHER_PORT],
    unlisted: 'close',
    rules,
    isLabelled: false,
  } as const;
  return { apps: new Map([['one', app]]), isFaulty: false };
}

/** Everything that the two objects, an outer port and a rule, can go through. */
export const scenarios: readonly Scenario[] = [
  { name: 'create both', done: [], commits: [content(100)], dailyObjects: 10, approvals: 0, faults: 3, share: 1 },
  {
    name: 'update one and close the other',
    done: [content(100)],
    commits: [content(50, false)],
    dailyObjects: 1,
    approvals: 0,
    faults: 3,
    share: 2,
  },
  {
    name: 'remove both with an approval, beyond the budget',
    done: [content(100)],
    commits: [content(undefined, false)],
    dailyObjects: 1,
    approvals: 1,
    faults: 3,
    share: 4,
  },
  {
    name: 'create both, and meanwhile remove one',
    done: [],
    commits: [content(100), content(undefined)],
    dailyObjects: 10,
    approvals: 0,
    faults: 3,
    share: 12,
  },
  {
    name: 'remove one, and meanwhile close the other beyond the budget',
    done: [content(100)],
    commits: [content(undefined), content(undefined, false)],
    dailyObjects: 1,
    approvals: 0,
    faults: 3,
    share: 4,
  },
];

/** The two controllers: whichever of them takes over, the other one is dead or overtaken. Each may follow itself, too. */
export const pair: readonly [Role, Role] = ['daemon', 'command'];

export function settingsFor({ dailyObjects }: Scenario): DriverSettings {
  const choices = {
    enabled: true,
    maxObjects: 10,
    maxShare: 1,
    pruneAfterMs: 60_000,
    resyncIntervalMs: 120_000,
    concurrency: 1,
    window: undefined,
  };
  const { spec, ...others } = settingsOf(choices);
  const prune: Settings['prune'] = { ...defaultSettings().prune, ...spec.prune, dailyObjects, dailyShare: 0 };
  return { ...others, spec: { ...spec, prune } };
}

const read = new WeakMap<Content, Contents>();

/** Returns what a commit says, parsed once for all histories. */
export function contentsFor(content: Content): Contents {
  const known = read.get(content) ?? contentsOf(filesOf(content));
  read.set(content, known);
  return known;
}
