import { commitOf, shortRevision } from '../../model/revision.ts';
import { Link } from './link.tsx';

/** A revision in short form, which leads to its commit. Its tooltip has all of it. */
export function Revision({ revision }: { readonly revision: string }) {
  const commit = commitOf(revision);
  const text = <code title={revision}>{shortRevision(revision)}</code>;
  return commit === undefined ? text : <Link to={`/commits/${commit}`}>{text}</Link>;
}

const REVISION = /([^\s(]+@sha(?:1|256):[0-9a-f]{40,64})/;

/** A message of the controller, in which revisions are short links. */
export function Message({ text }: { readonly text: string }) {
  // The pattern has one group, so every second part is a revision.
  const parts = text.split(REVISION);
  return (
    <span class="message">
      {parts.map((part, at) => (at % 2 === 1 ? <Revision key={at} revision={part} /> : part))}
    </span>
  );
}
