import type { ViewState } from '../../views/model.ts';
import { STATE_TEXTS } from '../../views/words.ts';
import { Badge, type Tone } from './badge.tsx';
import type { IconName } from './icon.tsx';

const FACES: Readonly<Record<ViewState, readonly [Tone, IconName]>> = {
  'in-sync': ['good', 'check'],
  unhealthy: ['bad', 'activity'],
  drifted: ['warn', 'differs'],
  'to-change': ['busy', 'differs'],
  failing: ['bad', 'cross'],
  held: ['warn', 'hand'],
  'not-ours': ['warn', 'hand'],
  waiting: ['busy', 'clock'],
  suspended: ['paused', 'pause'],
  reported: ['quiet', 'info'],
  unknown: ['quiet', 'question'],
  withdrawn: ['warn', 'out'],
  orphaned: ['warn', 'hand'],
  'not-in-manifests': ['quiet', 'dot'],
};

/** The state of an application or a resource, in the words of the command line. */
export function StateBadge({ state, title }: { readonly state: ViewState; readonly title?: string }) {
  const [tone, icon] = FACES[state];
  return (
    <Badge tone={tone} icon={icon} {...(title === undefined || title === '' ? {} : { title })}>
      {STATE_TEXTS[state]}
    </Badge>
  );
}

/** Returns the tone of a state. */
export function toneOf(state: ViewState): Tone {
  return FACES[state][0];
}
