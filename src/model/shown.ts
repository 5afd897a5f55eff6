import type { ResourceId } from './ids.ts';
import {
  arrayOf,
  described,
  literal,
  number,
  objectOf,
  ref,
  type Schema,
  string,
  text,
  time,
  type TypeOf,
} from './schema-words.ts';

const yes: Schema<true> = { type: 'boolean' };

export const shownLineSchema = objectOf(
  'A line of a view: a resource, a part of one, or an object without a manifest.',
  {
    type: string('port, or the noun that views use for a kind.'),
    // A natural key, or the id of its resource.
    key: text,
    below: described(arrayOf(text), 'Keys of possible parent lines. The first one that exists is the parent.'),
    // Lines without a rank are sorted by name.
    'rank?': number('Position among the lines of its type.'),
    // `Component/shop-web`; an object without a manifest has a descriptive name.
    name: text,
    // `http WEB, inner and outer`
    facts: string('Observed facts that distinguish it from other lines.'),
    // The resource that gives the line its state. Absent: there is no manifest.
    'resource?': text as Schema<ResourceId>,
    // The path that changes use: `ports[8080]`.
    'part?': string('Path in the manifest of the resource.'),
    // The platform does not have the part.
    'isMissing?': yes,
    // Set if the state does not depend on that of the resource.
    'state?': literal('withdrawn', 'not-in-manifests', 'unknown'),
    // The reason, where the plan has none.
    'reason?': text,
    // It represents an object that may have its own line, which takes precedence.
    'isStandIn?': yes,
  },
);
/** One line that a kind shows of an application: a resource, a part of one, or an object without a manifest. */
export type ShownLine = TypeOf<typeof shownLineSchema>;

export const observedSchema = objectOf('The last observation of an application.', {
  atMs: time,
  lines: arrayOf(ref<ShownLine>('ShownLine')),
  'unnamedLeftOut?': number('Number of lines without a manifest beyond the first 100, which are not stored.'),
});
export type Observed = TypeOf<typeof observedSchema>;
