import type { MonitoringMark } from '../../model/monitoring.ts';
import { Badge, type Tone } from '../parts/badge.tsx';
import type { IconName } from '../parts/icon.tsx';
import { applicationAddress, Link } from '../parts/link.tsx';
import { Revision } from '../parts/revision.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Time } from '../parts/time.tsx';

const TYPES: Readonly<Record<MonitoringMark['type'], readonly [Tone, IconName, string]>> = {
  change: ['busy', 'commit', 'Change'],
  drift: ['warn', 'differs', 'Drift'],
  corrected: ['good', 'check', 'Corrected'],
  other: ['quiet', 'user', 'Decision'],
};

interface MarkListProps {
  /** Name of the application. */
  readonly name: string;
  /** Oldest first. */
  readonly marks: readonly MonitoringMark[];
  readonly isComplete: boolean;
}

/** The marks of the charts as a list, newest first. */
export function MarkList({ name, marks, isComplete }: MarkListProps) {
  return (
    <section class="card marks" aria-labelledby="marks">
      <header>
        <h2 id="marks">Changes and drift in this time</h2>
        <Link to={`${applicationAddress(name)}/history`}>Whole history</Link>
      </header>
      {marks.length === 0 ? (
        <p class="card-text">Nothing was changed.</p>
      ) : (
        <Scroll label="List of changes and drift">
          <table>
            <thead class="hidden">
              <tr>
                <th>Time</th>
                <th>Type</th>
                <th>Message</th>
                <th>Commit</th>
              </tr>
            </thead>
            <tbody>
              {marks.toReversed().map((mark, at) => (
                <Mark key={`${mark.atMs} ${at}`} mark={mark} />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {isComplete ? null : <p class="card-text">Older changes of this time are in the history.</p>}
    </section>
  );
}

function Mark({ mark: { atMs, type, resource, revision, message } }: { readonly mark: MonitoringMark }) {
  const [tone, icon, word] = TYPES[type];
  return (
    <tr>
      <td>
        <Time at={atMs} />
      </td>
      <td>
        <Badge tone={tone} icon={icon}>
          {word}
        </Badge>
      </td>
      <td class="mark-message">
        {resource === null ? null : <strong>{resource} </strong>}
        {message}
      </td>
      <td>{revision === null ? null : <Revision revision={revision} />}</td>
    </tr>
  );
}
