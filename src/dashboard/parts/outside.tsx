import { read } from '../api.ts';
import { useData } from '../data.ts';
import { me } from '../sign-in-state.ts';
import { Icon } from './icon.tsx';

/** Shows a user who is limited to some applications how many others have faults. */
export function Outside() {
  return me.value?.isLimited === true ? <Faults /> : null;
}

function Faults() {
  const { data } = useData('outside', (signal) => read('/api/v1/status', { signal }));
  const faults = data?.outside?.faults ?? 0;
  if (faults === 0) return null;
  return (
    <p class="note">
      <Icon name="info" /> {faults} {faults === 1 ? 'fault' : 'faults'} outside your scope
    </p>
  );
}
