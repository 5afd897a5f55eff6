import { Link } from '../../parts/link.tsx';

const CHARACTERS = 12;

/** A revision of the source: a commit leads to its page. `main@sha1:<id>`. */
export function Revision({ revision }: { readonly revision: string }) {
  const [, ref = '', id] = /^(.*)@sha(?:1|256):([0-9a-f]+)$/.exec(revision) ?? [];
  if (id === undefined) return <code>{revision}</code>;
  return (
    <Link to={`/commits/${id}`} title={id} class="revision">
      <code>
        {ref}@{id.slice(0, CHARACTERS)}
      </code>
    </Link>
  );
}
