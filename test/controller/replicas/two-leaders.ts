import { onTestFinished } from 'vitest';
import { application, Group, type Replica } from './hand-led.ts';

export const EAST = 'Application/east' as const;
export const WEST = 'Application/west' as const;

/** Both applications, with a rule for each domain. */
export const both = (...domains: readonly string[]) => ({
  ...application('east', ...domains),
  ...application('west', ...domains),
});

/**
 * Two replicas: one leads the source and the east, the other one the west.
 * @param areSilent they send no heartbeats by themselves.
 */
export async function twoLeaders(
  settings = '{}',
  areSilent = false,
): Promise<{ group: Group; one: Replica; two: Replica }> {
  const group = new Group(settings);
  onTestFinished(() => group.close());
  const [one, two] = [group.open('one'), group.open('two')];
  if (!areSilent) for (const replica of [one, two]) void replica.keepBeating();
  await one.leadership.take('source:default');
  await one.leadership.take('platform:east');
  await two.leadership.take('platform:west');
  return { group, one, two };
}

/** The two replicas, in sync with their first commit for a minute. */
export async function inSync(): ReturnType<typeof twoLeaders> {
  const scene = await twoLeaders();
  await scene.group.commit(both('www.example.com'));
  await scene.group.until(() => scene.two.ready(EAST) === 'True InSync', 'in sync');
  await scene.group.pass(60_000);
  return scene;
}
